// system_calls.h - system calls without libc, on x86-64, for libraries that are loaded into other programs: errno stays the
// program's, and nothing passes through libc's functions, which may be replaced. Every call returns the kernel's value:
// >= 0, or -errno.
#pragma once

#include <cstdint>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace tessera::sys {

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
}

inline bool failed(long result) { return result < 0 && result >= -4095; }

inline long mmap(uint64_t addr, uint64_t bytes, int prot, int flags, int fd = -1, uint64_t offset = 0) {
    return call(SYS_mmap, static_cast<long>(addr), static_cast<long>(bytes), prot, flags, fd, static_cast<long>(offset));
}
inline long munmap(uint64_t addr, uint64_t bytes) { return call(SYS_munmap, static_cast<long>(addr), static_cast<long>(bytes)); }
inline long mprotect(uint64_t addr, uint64_t bytes, int prot) {
    return call(SYS_mprotect, static_cast<long>(addr), static_cast<long>(bytes), prot);
}

}  // namespace tessera::sys
