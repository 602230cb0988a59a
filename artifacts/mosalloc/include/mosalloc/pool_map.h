/* pool_map.h - where libmosalloc's pools are, readable from outside the process.
 *
 * libmosalloc keeps one `mosalloc_pool_map` in a MAP_SHARED mapping of the file named by the environment
 * variable MOSALLOC_POOL_MAP (no file, no map). The file outlives the process, even after SIGKILL. The tracer
 * uses it to convert virtual addresses to pool offsets; `tessera mosalloc run` uses it to check page sizes.
 * All fields are in the byte order of the machine; a reader accepts only MOSALLOC_POOL_MAP_MAGIC.
 * Readers may read it while the program runs: each field is written atomically, but the fields are not one snapshot.
 */
#ifndef MOSALLOC_POOL_MAP_H
#define MOSALLOC_POOL_MAP_H

#include <stdint.h>

#define MOSALLOC_POOL_MAP_MAGIC UINT64_C(0x3450414d4c4f4f50) /* "POOLMAP4", little endian */
#define MOSALLOC_POOL_COUNT 2    /* pools that have mosaics; the file pool is kept apart */
#define MOSALLOC_MAX_WINDOWS 16384 /* each is a mapping of the kernel's, which allows 65530 (vm.max_map_count) */

enum mosalloc_pool_kind {
    MOSALLOC_POOL_HEAP = 0, /* brk in layout files */
    MOSALLOC_POOL_ANON = 1, /* mmap in layout files */
    MOSALLOC_POOL_FILE = 2, /* file in layout files; 4KB pages only */
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
    uint64_t mapped;          /* 1: backed as asked (mmap succeeded, or will be on demand) */
};

enum mosalloc_call {
    MOSALLOC_CALL_MMAP,
    MOSALLOC_CALL_MUNMAP,
    MOSALLOC_CALL_MPROTECT,
    MOSALLOC_CALL_MADVISE,
    MOSALLOC_CALL_MREMAP,
    MOSALLOC_CALL_BRK,
    MOSALLOC_CALL_SBRK,
    MOSALLOC_CALL_MLOCK,
    MOSALLOC_CALL_MLOCK2,
    MOSALLOC_CALL_MUNLOCK,
    MOSALLOC_CALL_MINCORE,
    MOSALLOC_CALL_MSYNC,
    MOSALLOC_CALL_POSIX_MADVISE,
    MOSALLOC_CALL_PKEY_MPROTECT,
    MOSALLOC_CALL_COUNT
};

struct mosalloc_call_count {
    uint64_t pool;            /* answered from a pool */
    uint64_t kernel;          /* concerned no pool: given to the kernel unchanged */
    uint64_t failed;          /* of these, how many returned an error to the program */
};

/* Why a huge page could not be split into 4KB pages. */
enum mosalloc_unsplit {
    MOSALLOC_UNSPLIT_NO_GATE, /* the writes of other tasks cannot be blocked: userfaultfd is denied, or in use there */
    MOSALLOC_UNSPLIT_PINNED,  /* the kernel or a device may write to the page's frame: see pin_kinds */
    MOSALLOC_UNSPLIT_KERNEL,  /* the kernel returned an error: no memory, or too many mappings */
    MOSALLOC_UNSPLIT_COUNT
};

/* What may pin frames; bits of pin_kinds. */
enum mosalloc_pin {
    MOSALLOC_PIN_MEMORY = 1,   /* VmPin in /proc/self/status: RDMA, VFIO, registered buffers */
    MOSALLOC_PIN_IO_URING = 2, /* an io_uring, as a descriptor or as a mapping */
    MOSALLOC_PIN_AIO = 4,      /* a context of Linux AIO, /[aio] in /proc/self/maps */
    MOSALLOC_PIN_DIRECT = 8,   /* a descriptor with O_DIRECT, while other tasks run */
};

/* Sums over all forked children, whatever way they ended; each is added when it happens. */
struct mosalloc_children {
    uint64_t processes;
    uint64_t calls;           /* intercepted calls, from pools and kernel */
    uint64_t failed_calls;
    uint64_t softened_protections;
    uint64_t split_pages;
    uint64_t unsplit_pages;
    uint64_t ignored_advice;
    uint64_t zeroed_bytes;
    uint64_t refused_calls;
    uint64_t forks;
    uint64_t fork_copied_bytes;
    uint64_t opened_bytes;
    uint64_t own_huge_bytes;
    uint64_t reservation_calls;
    uint64_t reserved_bytes;
};

struct mosalloc_pool_map {
    uint64_t magic;
    uint64_t pid;
    uint64_t state;           /* 0 not initialised, 1 active, 2 refused (see error) */
    uint64_t passed_through;  /* intercepted calls that were given to the kernel unchanged */
    uint64_t window_count;
    struct mosalloc_pool pools[MOSALLOC_POOL_COUNT];
    struct mosalloc_pool file_pool;
    struct mosalloc_call_count calls[MOSALLOC_CALL_COUNT];
    uint64_t softened_protections; /* a huge page grants more than one of its 4KB pages asked for */
    uint64_t split_pages;     /* huge pages that became 4KB pages because the program protected or mapped parts of them */
    uint64_t unsplit_pages;   /* splits that were impossible while other threads ran: the page was softened instead */
    uint64_t split_offset;    /* where the first of them is, and in which pool */
    uint64_t split_pool_kind;
    uint64_t ignored_advice;  /* madvise that would change the mosaic, or that huge pages refuse */
    uint64_t zeroed_bytes;    /* zeroed by software when memory of a window was reused */
    uint64_t refused_calls;   /* calls over pool memory that are impossible in a window; they returned an error */
    uint64_t forks;
    uint64_t fork_risks;      /* forks with fewer free huge pages than the child could need to copy */
    uint64_t fork_late_lock;  /* 1: the library could not patch libc's fork; a fork can hang in malloc */
    uint64_t fork_copied_bytes; /* of windows, given to such children in 4KB pages */
    uint64_t fallback_windows; /* windows left with 4KB pages because MOSALLOC_ALLOW_FALLBACK was set */
    uint64_t on_demand;       /* 1: windows grow with the program's use, and parts that it gave back are unmapped */
    uint64_t missing_pages;   /* on demand: huge pages that were missing when the program asked for memory */
    uint64_t hinted_bytes;    /* anonymous memory that went to the kernel because of an address hint */
    uint64_t full_calls[MOSALLOC_POOL_COUNT + 1]; /* requests that failed because the pool was full (file pool: passed on to the kernel) */
    uint64_t full_largest_bytes[MOSALLOC_POOL_COUNT + 1];
    uint64_t outside_address; /* in the process: `outside_count` pairs (start, end) of anonymous memory that went */
    uint64_t outside_count; /* through the library to the kernel. All other anonymous memory bypassed the library. */
    uint64_t unsplit_by[MOSALLOC_UNSPLIT_COUNT]; /* unsplit_pages by reason */
    uint64_t pin_kinds; /* bits of enum mosalloc_pin that were seen; from then on no huge page is exchanged */
    uint64_t exchanged_pages; /* huge pages whose contents moved to 4KB pages */
    uint64_t copied_forks; /* forks whose child got copies in 4KB pages */
    uint64_t open_holes; /* 4KB ranges that stay accessible after munmap, because of the limit on mappings */
    uint64_t ended_marks; /* releases that made a new mapping, because the old one had marks */
    uint64_t refused_marks; /* policies, registrations and advice that huge pages cannot keep; they returned an error */
    uint64_t stolen_locks; /* times the lock's owner was killed inside the library */
    uint64_t reservation_calls; /* reservations without access that no pool has room for: the kernel gave the addresses */
    uint64_t reserved_bytes; /* the most bytes of them at a time */
    uint64_t opened_bytes; /* of these, what became accessible: memory that the layout does not reach */
    uint64_t own_huge_bytes; /* huge pages that the program mapped itself: MAP_HUGETLB, files of hugetlbfs */
    uint64_t other_programs; /* dynamic programs that inherited the library and are not the target */
    char other_program[256]; /* path of the first of them, cut */
    struct mosalloc_children children;
    char error[512]; /* NUL-terminated reason when state is 2 */
    struct mosalloc_window windows[MOSALLOC_MAX_WINDOWS];
};

#endif
