// SPDX-License-Identifier: GPL-2.0-only
// file_event.h - a system call on a named file begins the region of interest: the program closes it, or first writes to it.
//
// A program that reads its whole input before it works on it closes the input exactly there, and a program's first
// output marks the end of its preparation. Such an event is part of the program's structure: no count of accesses has
// to be found for it, and it stays in its place when the input grows. Descriptors that `dup` copies are not followed.
#pragma once

#include <set>
#include <string>

#include "syscalls.h"

namespace tessera::tracer {

class FileEvent {
public:
    enum class Kind { closed, written };

    /// `name`: the last part of the file's path.
    FileEvent(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

    /// Whether `call`, which returned `result`, is the event. It must see each call of the program.
    bool is(const SystemCall& call, int64_t result, const ReadMemory& read_memory);

private:
    Kind kind_;
    std::string name_;
    std::set<uint64_t> descriptors_;  // of the file
};

/// The zero-terminated text at `address`, without its last byte; empty if it can't be read or has more than 4095 bytes.
std::string text_at(uint64_t address, const ReadMemory& read_memory);

}  // namespace tessera::tracer
