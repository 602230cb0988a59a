/* pool_map.h - where libmosalloc's pools are, readable from outside the process.
 *
 * libmosalloc keeps one `mosalloc_pool_map` in a MAP_SHARED mapping of the file named by the environment
 * variable MOSALLOC_POOL_MAP (no file, no map). It outlives the process, however that ends. The tracer
 * turns virtual addresses into pool offsets with it; `tessera mosalloc run` checks page sizes with it.
 * All fields are in the byte order of the machine; a reader accepts only MOSALLOC_POOL_MAP_MAGIC.
 */
#ifndef MOSALLOC_POOL_MAP_H
#define MOSALLOC_POOL_MAP_H

#include <stdint.h>

#define MOSALLOC_POOL_MAP_MAGIC UINT64_C(0x3150414d4c4f4f50) /* "POOLMAP1", little endian */
#define MOSALLOC_POOL_COUNT 2
#define MOSALLOC_MAX_WINDOWS 4096

enum mosalloc_pool_kind {
    MOSALLOC_POOL_HEAP = 0, /* brk in layout files */
    MOSALLOC_POOL_ANON = 1, /* mmap in layout files */
};

struct mosalloc_pool {
    uint64_t kind;            /* enum mosalloc_pool_kind */
    uint64_t base;            /* virtual address of offset 0; aligned to the largest window's page size */
    uint64_t size_bytes;      /* reserved span */
    uint64_t used_bytes;      /* high-water mark: end of the highest byte ever handed out */
    uint64_t live_bytes;      /* handed out now */
    uint64_t calls;           /* intercepted calls that this pool served */
};

struct mosalloc_window {
    uint64_t pool_kind;
    uint64_t page_bytes;      /* 2097152 or 1073741824 (4096 is the default outside windows) */
    uint64_t start_offset;    /* bytes from the pool's base, inclusive */
    uint64_t end_offset;      /* exclusive */
    uint64_t mapped;          /* 1: backed as asked (mmap succeeded) */
};

struct mosalloc_pool_map {
    uint64_t magic;
    uint64_t pid;
    uint64_t state;           /* 0 not initialised, 1 active, 2 refused (see error) */
    uint64_t passed_through;  /* intercepted calls that were given to the kernel unchanged */
    uint64_t window_count;
    struct mosalloc_pool pools[MOSALLOC_POOL_COUNT];
    struct mosalloc_window windows[MOSALLOC_MAX_WINDOWS];
    char error[512];          /* NUL-terminated reason when state is 2 */
    uint64_t softened_protections; /* a huge page grants more than one of its 4KB pages asked for */
    uint64_t ignored_advice;  /* madvise that would change the mosaic, or that huge pages refuse */
    uint64_t zeroed_bytes;    /* cleared by hand when memory of a window was reused */
    uint64_t refused_calls;   /* calls over pool memory that a window makes impossible; they got an error */
    uint64_t fork_risks;      /* forks with fewer free huge pages than the child could need to copy */
    uint64_t fallback_windows; /* windows left with 4KB pages because MOSALLOC_ALLOW_FALLBACK was set */
};

#endif
