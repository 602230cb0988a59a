/* mmap, munmap, mremap, mprotect, madvise. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

enum { RW = PROT_READ | PROT_WRITE };
static const size_t kLarge = 700 * PAGE; /* more than a 2MB page */

void case_zeroed_again(void) {
    for (int round = 0; round < 3; ++round) {
        char* at = anonymous(kLarge, RW);
        REQUIRE(all_bytes(at, kLarge, 0));
        memset(at, 'x', kLarge);
        REQUIRE(munmap(at, kLarge) == 0);
    }
}

void case_partial_munmap(void) {
    char* at = anonymous(kLarge, RW);
    memset(at, 'x', kLarge);
    REQUIRE(munmap(at + 10 * PAGE, 600 * PAGE) == 0);
    REQUIRE(all_bytes(at, 10 * PAGE, 'x') && all_bytes(at + 610 * PAGE, 90 * PAGE, 'x'));
    char* hole = anonymous(600 * PAGE, RW);
    REQUIRE(all_bytes(hole, 600 * PAGE, 0));
    REQUIRE(munmap(at, kLarge) == 0); /* holes inside are no error */
    REQUIRE(munmap(at + 1, PAGE) == -1 && errno == EINVAL);
    REQUIRE(munmap(at, 0) == -1 && errno == EINVAL);
}

void case_mremap(void) {
    char* at = anonymous(3 * PAGE, RW);
    memset(at, 'a', 3 * PAGE);
    char* wall = anonymous(PAGE, RW);
    char* bigger = mremap(at, 3 * PAGE, kLarge, MREMAP_MAYMOVE);
    REQUIRE(bigger != MAP_FAILED);
    REQUIRE(all_bytes(bigger, 3 * PAGE, 'a') && all_bytes(bigger + 3 * PAGE, kLarge - 3 * PAGE, 0));
    memset(bigger, 'b', kLarge);
    REQUIRE(mremap(bigger, kLarge, 5 * PAGE, 0) == bigger);
    REQUIRE(all_bytes(bigger, 5 * PAGE, 'b'));
    char* again = mremap(bigger, 5 * PAGE, kLarge, MREMAP_MAYMOVE);
    REQUIRE(all_bytes(again, 5 * PAGE, 'b') && all_bytes(again + 5 * PAGE, kLarge - 5 * PAGE, 0));
    REQUIRE(mremap(wall, PAGE, 0, MREMAP_MAYMOVE) == MAP_FAILED && errno == EINVAL);
}

void case_mremap_fixed(void) {
    char *from = anonymous(4 * PAGE, RW), *to = anonymous(4 * PAGE, RW);
    memset(from, 'f', 4 * PAGE);
    memset(to, 't', 4 * PAGE);
    REQUIRE(mremap(from, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to + PAGE) == to + PAGE);
    REQUIRE(all_bytes(to, PAGE, 't') && all_bytes(to + PAGE, 2 * PAGE, 'f') && all_bytes(to + 3 * PAGE, PAGE, 't'));
    REQUIRE(all_bytes(from + 2 * PAGE, 2 * PAGE, 'f'));
    REQUIRE(mremap(to, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED && errno == EINVAL);
}

void case_map_fixed(void) {
    char* at = anonymous(kLarge, RW);
    memset(at, 'x', kLarge);
    char* middle = mmap(at + 100 * PAGE, 500 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    REQUIRE(middle == at + 100 * PAGE);
    REQUIRE(all_bytes(middle, 500 * PAGE, 0) && all_bytes(at, 100 * PAGE, 'x') && all_bytes(at + 600 * PAGE, 100 * PAGE, 'x'));
    REQUIRE(mmap(at, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno == EEXIST);
    REQUIRE(munmap(at, kLarge) == 0);
}

/* A file mapped over memory of the pool, and memory again after it. Needs 4KB pages at that place. */
void case_file_over_memory(void) {
    FILE* file = tmpfile();
    REQUIRE(file != NULL && ftruncate(fileno(file), 2 * PAGE) == 0);
    char* at = anonymous(8 * PAGE, RW);
    memset(at, 'x', 8 * PAGE);
    REQUIRE(mmap(at + 2 * PAGE, 2 * PAGE, RW, MAP_SHARED | MAP_FIXED, fileno(file), 0) == at + 2 * PAGE);
    strcpy(at + 2 * PAGE, "in the file");
    char text[16] = "";
    REQUIRE(pread(fileno(file), text, 12, 0) == 12 && strcmp(text, "in the file") == 0);
    REQUIRE(munmap(at, 8 * PAGE) == 0);
    char* again = anonymous(8 * PAGE, RW);
    REQUIRE(all_bytes(again, 8 * PAGE, 0));
    memset(again, 'y', 8 * PAGE);
    REQUIRE(pread(fileno(file), text, 12, 0) == 12 && strcmp(text, "in the file") == 0);
}

void case_map_shared(void) {
    int* shared = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    const pid_t child = fork();
    if (child == 0) {
        *shared = 42;
        _exit(0);
    }
    REQUIRE(waitpid(child, NULL, 0) == child && *shared == 42);
    REQUIRE(munmap(shared, PAGE) == 0);
}

void case_prot_none(void) { /* how malloc's arenas and many runtimes reserve, then grow */
    char* at = anonymous(64 << 20, PROT_NONE);
    for (size_t end = 132 << 10; end < 8 << 20; end *= 2) {
        REQUIRE(mprotect(at, end, RW) == 0);
        memset(at, 'x', end);
    }
    REQUIRE(munmap(at + (16 << 20), 48 << 20) == 0);
    REQUIRE(all_bytes(at, 4 << 20, 'x'));
}

void case_reservation(void) { /* more than any pool of the tests has: as .NET and snmalloc start */
    const size_t bytes = (size_t)3 << 30, part = 64 * PAGE;
    char* at = anonymous(bytes, PROT_NONE);
    REQUIRE(faults(at, 0) && faults(at + bytes - 1, 1));
    char* middle = at + bytes / 2;
    REQUIRE(mprotect(middle, part, RW) == 0 && all_bytes(middle, part, 0));
    memset(middle, 'x', part);
    REQUIRE(faults(middle - 1, 0) && faults(middle + part, 0));
    REQUIRE(mmap(middle + PAGE, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == middle + PAGE);
    REQUIRE(mmap(middle + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == middle + PAGE);
    REQUIRE(all_bytes(middle + PAGE, PAGE, 0) && all_bytes(middle + 2 * PAGE, part - 2 * PAGE, 'x'));
    char* other = anonymous(bytes, PROT_NONE);
    REQUIRE(other + bytes <= at || at + bytes <= other);
    REQUIRE(munmap(at, bytes) == 0 && munmap(other, bytes) == 0 && faults(middle, 0));
}

void case_mprotect(void) {
    char* at = anonymous(8 * PAGE, RW);
    memset(at, 'x', 8 * PAGE);
    REQUIRE(mprotect(at + 2 * PAGE, 2 * PAGE, PROT_READ) == 0);
    REQUIRE(mprotect(at + 4 * PAGE, PAGE, PROT_NONE) == 0);
    memset(at, 'y', 2 * PAGE);
    REQUIRE(all_bytes(at + 2 * PAGE, 2 * PAGE, 'x'));
    REQUIRE(mprotect(at, 8 * PAGE, RW) == 0);
    memset(at, 'z', 8 * PAGE);
    REQUIRE(mprotect(at + 1, PAGE, RW) == -1 && errno == EINVAL);
    REQUIRE(munmap(at + 3 * PAGE, PAGE) == 0);
    REQUIRE(mprotect(at, 8 * PAGE, RW) == -1 && errno == ENOMEM);
}

void case_guard(void) {
    char* at = anonymous(4 * PAGE, RW);
    REQUIRE(!faults(at + PAGE, 1));
    REQUIRE(mprotect(at + PAGE, PAGE, PROT_NONE) == 0 && faults(at + PAGE, 0));
    REQUIRE(mprotect(at + PAGE, PAGE, PROT_READ) == 0 && !faults(at + PAGE, 0) && faults(at + PAGE, 1));
    REQUIRE(!faults(at, 1) && !faults(at + 2 * PAGE, 1));
    REQUIRE(munmap(at, 4 * PAGE) == 0 && faults(at, 0));
}

void case_madvise(void) {
    char* at = anonymous(kLarge, RW);
    memset(at, 'x', kLarge);
    REQUIRE(madvise(at + PAGE, kLarge - 2 * PAGE, MADV_DONTNEED) == 0);
    REQUIRE(all_bytes(at + PAGE, kLarge - 2 * PAGE, 0) && at[0] == 'x' && at[kLarge - 1] == 'x');
    REQUIRE(madvise(at, kLarge, MADV_WILLNEED) == 0);
    REQUIRE(madvise(at, kLarge, MADV_FREE) == 0);
    memset(at, 'y', kLarge);
    REQUIRE(all_bytes(at, kLarge, 'y'));
}

void case_hints_and_flags(void) {
    const int flags[] = {MAP_NORESERVE, MAP_POPULATE, MAP_STACK, MAP_GROWSDOWN};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
        char* at = mmap(NULL, 16 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | flags[i], -1, 0);
        REQUIRE(at != MAP_FAILED && all_bytes(at, 16 * PAGE, 0));
        memset(at, 'x', 16 * PAGE);
        REQUIRE(munmap(at, 16 * PAGE) == 0);
    }
    char* free_place = (char*)0x600000000000;
    char* at = mmap(free_place, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at == free_place && munmap(at, PAGE) == 0);
    REQUIRE(mmap(NULL, 0, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    REQUIRE(mmap(NULL, (size_t)-1, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM);
}
