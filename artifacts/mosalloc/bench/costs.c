/* costs: nanoseconds of what an allocator does, one line `name ns` each. The same binary runs with and without the
 * library; bench/compare.py takes the ratios. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* CPU time of this process, so that neighbours disturb less. */
static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void* volatile g_sink; /* keeps the compiler from dropping a malloc that is only freed */

static double malloc_free(size_t bytes, int rounds) {
    const double start = now_ns();
    for (int i = 0; i < rounds; ++i) {
        g_sink = malloc(bytes);
        free(g_sink);
    }
    return (now_ns() - start) / rounds;
}

/* 2000 live blocks of mixed sizes, replaced at random: what programs do. */
static double churn(int rounds) {
    enum { LIVE = 2000 };
    static char* held[LIVE];
    uint64_t seed = 42;
    const double start = now_ns();
    for (int i = 0; i < rounds; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned slot = (unsigned)(seed >> 33) % LIVE;
        free(held[slot]);
        held[slot] = malloc(16 + (seed >> 48) % 4000);
        held[slot][0] = 1;
    }
    const double took = (now_ns() - start) / rounds;
    for (int i = 0; i < LIVE; ++i) free(held[i]);
    return took;
}

static double map_touch_unmap(size_t pages, int rounds) {
    const double start = now_ns();
    for (int i = 0; i < rounds; ++i) {
        char* at = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t p = 0; p < pages; ++p) at[p * 4096] = 1;
        munmap(at, pages * 4096);
    }
    return (now_ns() - start) / rounds;
}

static double first_touch(size_t bytes) {
    char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const double start = now_ns();
    for (size_t p = 0; p < bytes; p += 4096) at[p] = 1;
    const double took = (now_ns() - start) / (double)(bytes / 4096);
    munmap(at, bytes);
    return took;
}

static double second_touch(size_t bytes) {
    char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(at, 1, bytes);
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
        const double start = now_ns();
        for (size_t p = 0; p < bytes; p += 4096) ++((volatile char*)at)[p + (p >> 6) % 4096 / 64 * 64];
        const double took = (now_ns() - start) / (double)(bytes / 4096);
        if (took < best) best = took;
    }
    munmap(at, bytes);
    return best;
}

int main(void) {
    printf("malloc_free_64B %.2f\n", malloc_free(64, 20000000));
    printf("malloc_free_churn %.2f\n", churn(5000000));
    printf("malloc_free_1MB %.2f\n", malloc_free(1 << 20, 200000));
    printf("mmap_touch_munmap_1_page %.2f\n", map_touch_unmap(1, 100000));
    printf("mmap_touch_munmap_256_pages %.2f\n", map_touch_unmap(256, 2000));
    printf("first_touch_of_a_page %.2f\n", first_touch(256u << 20));
    printf("later_touch_of_a_page %.2f\n", second_touch(256u << 20));
    return 0;
}
