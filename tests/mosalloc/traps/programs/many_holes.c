/* 2 * HOLES pages with a pattern, every second one unmapped: prints what failed and what was lost, as `name value`. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static unsigned long count_wrong(const unsigned char* at, unsigned char value) {
    unsigned long wrong = 0;
    for (int i = 0; i < PAGE; ++i) wrong += at[i] != value;
    return wrong != 0;
}

int main(int argc, char** argv) {
    const unsigned long holes = argc > 1 ? strtoul(argv[1], NULL, 0) : 50000, bytes = 2 * holes * PAGE;
    unsigned long failed = 0, lost = 0, dirty = 0, refused = 0;
    unsigned char* block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return 2;
    for (unsigned long i = 0; i < 2 * holes; ++i) memset(block + i * PAGE, (int)(i % 251) + 1, PAGE);
    char* unmapped = calloc(holes, 1);
    for (unsigned long i = 0; i < holes; ++i) unmapped[i] = munmap(block + 2 * i * PAGE, PAGE) == 0;
    for (unsigned long i = 0; i < holes; ++i) {
        failed += !unmapped[i];
        if (!unmapped[i]) lost += count_wrong(block + 2 * i * PAGE, (unsigned char)(2 * i % 251 + 1));
        lost += count_wrong(block + (2 * i + 1) * PAGE, (unsigned char)((2 * i + 1) % 251 + 1));
    }
    /* New mappings, also without access, which then read zero. */
    for (unsigned long i = 0; i < holes; ++i) {
        const int prot = i % 16 == 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
        unsigned char* again = mmap(NULL, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (again == MAP_FAILED || (prot == PROT_NONE && mprotect(again, PAGE, PROT_READ) != 0)) refused += 1;
        else dirty += count_wrong(again, 0);
    }
    printf("failed %lu\nlost %lu\nrefused %lu\ndirty %lu\n", failed, lost, refused, dirty);
    return 0;
}
