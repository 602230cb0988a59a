/* broken: a library with one fault, named by BROKEN; the differential test must find each fault. It is preloaded instead
 * of libmosalloc. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is(const char* name) {
    const char* asked = getenv("BROKEN");
    return asked != NULL && strcmp(asked, name) == 0;
}

/* "dirty": now and then new memory is not zero. */
void* mmap(void* at, size_t bytes, int prot, int flags, int fd, off_t offset) {
    static int calls = 0;
    char* got = (char*)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
    const int anonymous = (flags & MAP_ANONYMOUS) != 0 && (prot & PROT_WRITE) != 0;
    if (got != MAP_FAILED && anonymous && is("dirty") && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 50 == 0)
        got[bytes - 1 - (bytes - 1) % 4096] = 1;
    return got;
}

/* "errno": a call fails correctly, but with the wrong errno. */
int munmap(void* at, size_t bytes) {
    const int result = (int)syscall(SYS_munmap, at, bytes);
    if (result != 0 && is("errno")) errno = ENOMEM;
    return result;
}

/* "fault": memory stays readable that should not be. */
int mprotect(void* at, size_t bytes, int prot) {
    return (int)syscall(SYS_mprotect, at, bytes, prot == PROT_NONE && is("fault") ? PROT_READ : prot);
}

/* "lost": a mapping that grows loses its last page. */
void* mremap(void* old, size_t old_bytes, size_t bytes, int flags, ...) {
    __builtin_va_list rest;
    __builtin_va_start(rest, flags);
    void* to = __builtin_va_arg(rest, void*);
    __builtin_va_end(rest);
    char* got = (char*)syscall(SYS_mremap, old, old_bytes, bytes, flags, to);
    if (got != MAP_FAILED && bytes > old_bytes && old_bytes != 0 && is("lost")) madvise(got + old_bytes - 4096, 4096, MADV_DONTNEED);
    return got;
}
