/* Calls that the kernel may refuse because the process has as many mappings as it may have (vm.max_map_count), or as much
 * memory as RLIMIT_DATA or RLIMIT_AS allows: a call that fails must lose nothing. Prints `call errno bytes-lost` for each. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, RW = PROT_READ | PROT_WRITE, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS };

/* Pages with alternating access are one mapping each. The last ones are given back, so that `spare` are left. */
static void fill_mappings(int spare) {
    const size_t span = (size_t)600 << 20;
    char* at = (char*)syscall(SYS_mmap, NULL, span, PROT_NONE, PRIVATE | MAP_NORESERVE, -1, 0);
    long made = 0;
    for (size_t i = 1; i < span / PAGE; i += 2, made = (long)i)
        if (syscall(SYS_mprotect, at + i * PAGE, (size_t)PAGE, PROT_READ) != 0) break;
    for (; spare > 0; spare -= 2, made -= 2) syscall(SYS_mprotect, at + made * PAGE, (size_t)PAGE, PROT_NONE);
}

static unsigned char* block(unsigned char value, int odd) {
    unsigned char* at = mmap(NULL, PAGES * PAGE, RW, PRIVATE, -1, 0);
    if (at == MAP_FAILED) exit(2);
    memset(at, value, PAGES * PAGE);
    if (odd && mlock(at, PAGES * PAGE) != 0) exit(3);
    return at;
}

static long wrong(const unsigned char* at, unsigned char value, long from, long to) {
    long count = 0;
    for (long i = from * PAGE; i < to * PAGE; ++i) count += at[i] != value;
    return count;
}

/* What is left where the call failed, or beside the range where it did not. */
static void show(const char* call, int error, const unsigned char* at, unsigned char value, long from, long to) {
    const long lost = error != 0 ? wrong(at, value, 0, PAGES) : wrong(at, value, 0, from) + wrong(at, value, to, PAGES);
    printf("%s %d %ld\n", call, error, lost);
}

int main(int argc, char** argv) {
    unsigned char* b[8];
    const int data = argc > 1 && strcmp(argv[1], "data") == 0, space = argc > 1 && strcmp(argv[1], "space") == 0;
    for (int i = 0; i < 8; ++i) {
        b[i] = block((unsigned char)(i + 1), i == 1 || i == 4);
        if (mmap(NULL, PAGE, PROT_NONE, PRIVATE, -1, 0) == MAP_FAILED) return 2; /* no block is behind another */
    }
    static char room[1 << 16];
    setvbuf(stdout, room, _IOFBF, sizeof room);
    unsigned char* reserved = mmap(NULL, PAGES * PAGE, PROT_NONE, PRIVATE, -1, 0);
    if (data) {
        if (mprotect(b[2] + 8 * PAGE, 40 * PAGE, PROT_READ) != 0) return 2; /* MAP_FIXED needs more memory, then */
        setrlimit(RLIMIT_DATA, &(struct rlimit){PAGE, RLIM_INFINITY});
    } else if (space) {
        setrlimit(RLIMIT_AS, &(struct rlimit){PAGE, RLIM_INFINITY});
    } else {
        fill_mappings(argc > 1 ? atoi(argv[1]) : 0);
    }
    errno = 0;
    int r = munmap(b[0] + 8 * PAGE, PAGE);
    show("munmap", r == 0 ? 0 : errno, b[0], 1, 8, 9);
    r = munmap(b[1] + 8 * PAGE, PAGE);
    show("munmap_locked", r == 0 ? 0 : errno, b[1], 2, 8, 9);
    void* p = mmap(b[2] + 8 * PAGE, 40 * PAGE, data ? RW : PROT_READ, PRIVATE | MAP_FIXED, -1, 0);
    show("mmap_fixed", p != MAP_FAILED ? 0 : errno, b[2], 3, 8, 48);
    unsigned char* to = mremap(b[3] + 8 * PAGE, PAGE, 40 * PAGE, MREMAP_MAYMOVE);
    if (to != MAP_FAILED && wrong(to, 4, 0, 1) != 0) printf("moved 0 1\n");
    show("mremap", to != MAP_FAILED ? 0 : errno, b[3], 4, 8, 9);
    to = mremap(b[4] + 8 * PAGE, PAGE, 40 * PAGE, MREMAP_MAYMOVE);
    if (to != MAP_FAILED && wrong(to, 5, 0, 1) != 0) printf("moved 0 1\n");
    show("mremap_locked", to != MAP_FAILED ? 0 : errno, b[4], 5, 8, 9);
    to = mremap(b[5] + 8 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, reserved + 3 * PAGE);
    if (to != MAP_FAILED && wrong(to, 6, 0, 1) != 0) printf("moved 0 1\n");
    show("mremap_fixed", to != MAP_FAILED ? 0 : errno, b[5], 6, 8, 9);
    r = munmap(b[6], PAGES * PAGE);
    show("munmap_all", r == 0 ? 0 : errno, b[6], 7, r == 0 ? 0 : 0, PAGES);
    /* A request that fails must not leave its place accessible: the next PROT_NONE mapping is without access. */
    p = mmap(NULL, 4 * PAGE, RW, PRIVATE, -1, 0);
    if (p != MAP_FAILED) printf("mmap 0 %ld\n", wrong(p, 0, 0, 4));
    else printf("mmap %d 0\n", errno);
    return 0;
}
