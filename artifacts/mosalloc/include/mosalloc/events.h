/* events.h - how libmosalloc-events.so tells the tracer of the program's calls.
 *
 * That library is libmosalloc.so built once more with MOSALLOC_EVENTS. After each call that had an effect it makes a system
 * call with a number that no kernel has, and the address of a `mosalloc_event`. Under QEMU the tracer's plugin sees this
 * call in program order; QEMU itself answers ENOSYS, and the library ignores the answer. libmosalloc.so has no such code.
 */
#ifndef MOSALLOC_EVENTS_H
#define MOSALLOC_EVENTS_H

#include <stdint.h>

#define MOSALLOC_EVENT_CALL 0x0e7e9700 /* a system call number, positive in 32 bits */

/* Ranges are whole 4KB pages, except bytes of MOSALLOC_CALL_BRK and _SBRK. Fields that a call does not have are 0. */
struct mosalloc_event {
    uint64_t call;        /* enum mosalloc_call (pool_map.h) */
    uint64_t address;     /* brk, sbrk: the base of the heap pool */
    uint64_t bytes;       /* brk, sbrk: from there to the new break */
    uint64_t new_address; /* mremap */
    uint64_t new_bytes;   /* mremap */
    uint64_t protection;  /* mmap, mprotect, pkey_mprotect */
    uint64_t flags;       /* mmap, mremap, mlock2; madvise, posix_madvise: the advice */
    int64_t fd;           /* mmap: the file, which is still open; -1: none */
    uint64_t file_offset; /* mmap */
    uint64_t at_hole;     /* 1: the call failed with ENOMEM, because a part of the range is not mapped. Up to there it had its
                             effect (madvise: on all parts that are mapped) */
    uint64_t name;        /* areas that existed when the library started: address of the file's path; 0: no file */
};

#endif
