// SPDX-License-Identifier: GPL-2.0-only
// syscalls.h - models the kernel's reads and writes of the program's memory in system calls.
//
// QEMU does not instrument them, so this file derives them from the arguments and the returned length (x86-64's calls):
// buffers of read, write, send, receive and their vector forms, getrandom, getdents64, getcwd, readlink, the results of
// stat, epoll_wait, poll. The kernel copies with `rep movsb`, which moves whole cache lines on processors of the
// last decade, so a buffer is one access for each 64-byte line that it overlaps. Not modelled: the kernel's own memory (page
// cache, sockets), paths and other short arguments, calls that a real machine's vDSO answers without the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::tracer {

struct SystemCall {
    int64_t number = -1;
    uint64_t arguments[6] = {};
};

struct KernelCopy {
    uint64_t begin;     ///< virtual address
    uint64_t bytes;
    bool stores;        ///< into the program's memory
};

/// Copies `size` bytes of the program's memory at `address`; false when they can't be read.
using ReadMemory = std::function<bool(uint64_t address, void* to, size_t size)>;

/// Copies of a call that returned `result`; none for a failed or unknown call.
std::vector<KernelCopy> copies_of(const SystemCall& call, int64_t result, const ReadMemory& read_memory);

constexpr int kernel_line_shift = 6;
constexpr uint64_t kernel_line_bytes = uint64_t{1} << kernel_line_shift;

}  // namespace tessera::tracer
