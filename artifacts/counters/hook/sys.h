// sys.h - system calls without libc. A marker may stand anywhere, so errno stays the program's; and libmosalloc counts and
// places what goes through libc's mmap, so the hook must not. Every call returns the kernel's value: >= 0, or -errno.
#pragma once

#include <cstdint>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace tessera::counters::sys {

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    return result;
}

inline bool failed(long result) { return result < 0 && result >= -4095; }

inline long map(uint64_t at, uint64_t bytes, int protection, int flags, int file = -1) {
    return call(SYS_mmap, static_cast<long>(at), static_cast<long>(bytes), protection, flags, file, 0);
}
inline long unmap(long at, uint64_t bytes) { return call(SYS_munmap, at, static_cast<long>(bytes)); }
inline long protect(uint64_t at, uint64_t bytes, int protection) {
    return call(SYS_mprotect, static_cast<long>(at), static_cast<long>(bytes), protection);
}

}  // namespace tessera::counters::sys
