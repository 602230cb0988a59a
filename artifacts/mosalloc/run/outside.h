// outside.h - the program's memory that lies in no pool, and how much of it came past the library.
//
// The library cannot see the dynamic linker's own calls, raw system calls (Go's runtime), a second libc (dlmopen) or
// memory of before its start. It records what it passed to the kernel, so the rest of the anonymous memory is theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "run/smaps.h"

namespace mosalloc::run {

/// Resident bytes at the end of the program.
struct Outside {
    uint64_t kernel_heap_bytes = 0;  ///< below the kernel's break: before the library's start, or by raw brk
    uint64_t stack_bytes = 0;        ///< of the main thread
    uint64_t anonymous_bytes = 0;    ///< other private anonymous memory, unseen_bytes included
    uint64_t unseen_bytes = 0;       ///< of that, what never came through the library
    bool second_libc = false;
};

struct Span {
    uint64_t start = 0, end = 0;
};

/// `passed`: sorted spans that the library recorded (outside_address of the pool map).
Outside classify(const mosalloc_pool_map& map, const std::vector<Area>& areas, const std::vector<Span>& passed);
/// Reads the library's record from the stopped process; empty if it can't be read.
std::vector<Span> read_passed(int pid, const mosalloc_pool_map& map);

}  // namespace mosalloc::run
