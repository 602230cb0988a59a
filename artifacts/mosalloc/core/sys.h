// sys.h - system calls without libc. libc's wrappers are patched to call this library, so it must not use them;
// and errno is left alone until a hook returns. Every function returns the kernel's value: >= 0, or -errno.
#pragma once

#include <fcntl.h>
#include <linux/mman.h>

#include "core/base.h"
#include "tessera/common/system_calls.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace mosalloc::sys {

using namespace tessera::sys;  // call, failed, mmap, munmap, mprotect

inline long madvise(uint64_t addr, uint64_t bytes, int advice) {
    return call(SYS_madvise, static_cast<long>(addr), static_cast<long>(bytes), advice);
}
inline long mremap(uint64_t addr, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to) {
    return call(SYS_mremap, static_cast<long>(addr), static_cast<long>(old_bytes), static_cast<long>(bytes), flags, static_cast<long>(to));
}
inline long brk(uint64_t addr) { return call(SYS_brk, static_cast<long>(addr)); }
inline long getpid() { return call(SYS_getpid); }
inline long open(const char* path, int flags, int mode = 0) {
    return call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), flags | O_CLOEXEC, mode);
}
inline long close(long fd) { return call(SYS_close, fd); }
inline long pread(long fd, void* to, size_t bytes, uint64_t offset) {
    return call(SYS_pread64, fd, reinterpret_cast<long>(to), static_cast<long>(bytes), static_cast<long>(offset));
}

inline long read(long fd, void* to, size_t bytes) { return call(SYS_read, fd, reinterpret_cast<long>(to), static_cast<long>(bytes)); }
inline long write(long fd, const void* from, size_t bytes) {
    return call(SYS_write, fd, reinterpret_cast<long>(from), static_cast<long>(bytes));
}
inline long ftruncate(long fd, uint64_t bytes) { return call(SYS_ftruncate, fd, static_cast<long>(bytes)); }
inline long readlink(const char* path, char* to, size_t bytes) {
    return call(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>(path), reinterpret_cast<long>(to), static_cast<long>(bytes));
}
[[noreturn]] inline void exit_group(int status) {
    for (;;) call(SYS_exit_group, status);
}

}  // namespace mosalloc::sys
