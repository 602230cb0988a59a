// outside.h - measures the program's memory outside the pools, and how much of it bypassed the library.
//
// The library cannot see calls of the dynamic linker, raw system calls (Go's runtime), calls of a second libc (dlmopen)
// or memory from before its start. It records what it passed to the kernel; all other anonymous memory bypassed it.
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
    uint64_t unseen_bytes = 0;       ///< of that, memory that bypassed the library
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
