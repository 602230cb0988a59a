/* offsets SEED: makes a fixed sequence of calls and prints the result of each, as an offset in its 1GB-aligned pool (pools
 * must be smaller than 1GB). The output must be the same under every layout, on the CPU and under QEMU. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 50, PAGE = 4096 };

static unsigned long long offset(const void* at) { return (unsigned long long)((uintptr_t)at & ((1u << 30) - 1)); }

int main(int count, char** arguments) {
    unsigned seed = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
    char *mapped[SLOTS] = {0}, *held[SLOTS] = {0};
    size_t sizes[SLOTS] = {0};
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (int step = 0; step < 3000; ++step) {
        seed = seed * 1103515245u + 12345u;
        const unsigned i = (seed >> 16) % SLOTS;
        if (step % 3 == 0) {
            free(held[i]);
            held[i] = malloc(1 + (seed >> 8) % ((seed >> 28) == 0 ? 500000 : 5000));
            printf("malloc %llx\n", offset(held[i]));
        } else if (mapped[i] == NULL) {
            sizes[i] = (size_t)(1 + (seed >> 8) % 300) * PAGE;
            mapped[i] = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            printf("mmap %llx\n", offset(mapped[i]));
        } else if (step % 3 == 1) {
            const size_t bytes = (size_t)(1 + (seed >> 8) % 300) * PAGE;
            mapped[i] = mremap(mapped[i], sizes[i], bytes, MREMAP_MAYMOVE);
            sizes[i] = bytes;
            printf("mremap %llx\n", offset(mapped[i]));
        } else {
            munmap(mapped[i], sizes[i]);
            mapped[i] = NULL;
        }
        if (mapped[i] == MAP_FAILED) return 1;
        if (mapped[i] != NULL) mapped[i][0] = (char)step;
    }
    printf("sbrk %llx\n", offset(sbrk(0)));
    return 0;
}
