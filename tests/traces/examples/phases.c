/* phases.c - a program with the phases of a program's memory: small blocks, a large array with huge pages, an array that
 * grows, a file, memory given back. Its recording, phases.tst, is an input of tests; remake.py makes it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCKS = 3000, ARRAY = 16 << 20, GROWN = 4 << 20, FILE_BYTES = 256 << 10 };

static long sum_pages(const char* at, long bytes) {
    long sum = 0;
    for (long i = 0; i < bytes; i += PAGE) sum += at[i];
    return sum;
}

int main(int argc, char** argv) {
    long sum = 0;
    /* Small blocks: the heap grows by brk. */
    static char* blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; ++i) {
        blocks[i] = malloc(100 + i % 7 * 100);
        blocks[i][0] = 1;
    }
    /* A large array, aligned to 2MB by hand, its first half with huge pages, its last quarter read-only. */
    char* array = mmap(0, ARRAY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (array == MAP_FAILED) return 1;
    madvise(array, ARRAY / 2, MADV_HUGEPAGE);
    madvise(array + ARRAY / 2, ARRAY / 2, MADV_NOHUGEPAGE);
    for (long i = 0; i < ARRAY; i += PAGE) array[i] = 1;
    mprotect(array + ARRAY / 4 * 3, ARRAY / 4, PROT_READ);
    sum += sum_pages(array, ARRAY);
    /* An array that doubles: mremap grows it in place, but the last time a page lies behind it. */
    char* grown = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long bytes = PAGE; bytes < GROWN; bytes *= 2) {
        if (2 * bytes == GROWN) mmap(0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        grown = mremap(grown, bytes, 2 * bytes, MREMAP_MAYMOVE);
        if (grown == MAP_FAILED) return 1;
        for (long i = bytes; i < 2 * bytes; i += PAGE) grown[i] = 1;
    }
    sum += sum_pages(grown, GROWN);
    /* A file, read through its mapping. */
    int fd = open(argv[argc - 1], O_RDONLY);
    char* file = mmap(0, FILE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED) return 1;
    close(fd);
    madvise(file, FILE_BYTES, MADV_SEQUENTIAL);
    sum += sum_pages(file, FILE_BYTES);
    /* Memory given back: contents, a hole, then all. */
    madvise(grown, GROWN / 2, MADV_DONTNEED);
    sum += sum_pages(grown, GROWN);
    munmap(array + ARRAY / 4, ARRAY / 4);
    sum += sum_pages(array, ARRAY / 4) + sum_pages(array + ARRAY / 2, ARRAY / 2);
    for (int i = BLOCKS - 1; i >= 0; --i) free(blocks[i]);
    munmap(grown, GROWN);
    munmap(file, FILE_BYTES);
    munmap(array, ARRAY);
    printf("{\"verified\":%s,\"sum\":%ld}\n", sum == 4096 + 1023 + 64 * 'x' + 512 + 3072 ? "true" : "false", sum);
    return 0;
}
