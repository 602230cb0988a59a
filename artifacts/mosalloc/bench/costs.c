/* costs: times the operations of an allocator. The same binary runs with and without the library.
 * `tessera lab allocator bench` compares the two (pairs, intervals, bounds); compare.py prints only ratios.
 *
 *   costs ROW [ROUNDS]                          nanoseconds of CPU per operation: the lowest of ROUNDS
 *   costs resident                              lines `Rss bytes`, `Pss bytes`, `Private_Dirty bytes` of this process
 *   costs start ROUNDS [NAME=VALUE...] -- ARGV  median nanoseconds from spawn to end of another program */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIVE = 2000, PAGE = 4096, MAX_ROUNDS = 1000 };

static double now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void die(const char* what) {
    fprintf(stderr, "costs: %s\n", what);
    exit(2);
}

/* Replaces LIVE blocks of 16..4015 bytes at random, like a typical program. */
static void* churn(void* argument) {
    char** held = calloc(LIVE, sizeof *held);
    uint64_t seed = 42 + (uint64_t)(uintptr_t)argument;
    if (held == NULL) die("out of memory");
    for (int i = 0; i < 400000; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned slot = (unsigned)(seed >> 33) % LIVE;
        free(held[slot]);
        held[slot] = malloc(16 + (seed >> 48) % 4000);
        if (held[slot] == NULL) die("out of memory");
        held[slot][0] = 1;
    }
    for (int i = 0; i < LIVE; ++i) free(held[i]);
    free(held);
    return NULL;
}

static double small_blocks(int threads) {
    pthread_t ids[16];
    for (int i = 1; i < threads; ++i)
        if (pthread_create(&ids[i], NULL, churn, (void*)(uintptr_t)i) != 0) die("no thread");
    churn(NULL);
    for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
    return 400000.0 * threads;
}

static double large_blocks(int kilobytes) {
    const size_t bytes = (size_t)kilobytes << 10;
    const int count = 400000 / kilobytes + 100;
    for (int i = 0; i < count; ++i) {
        volatile char* at = malloc(bytes);
        if (at == NULL) die("out of memory");
        for (size_t p = 0; p < bytes; p += PAGE) at[p] = 1;
        free((void*)at);
    }
    return count;
}

static double mappings(int kilobytes) {
    const size_t bytes = (size_t)kilobytes << 10;
    const int count = 64000 / kilobytes + 100;
    for (int i = 0; i < count; ++i) {
        volatile char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) die("mmap failed");
        for (size_t p = 0; p < bytes; p += PAGE) at[p] = 1;
        munmap((void*)at, bytes);
    }
    return count;
}

/* 20,000 holes of one page: requests of two pages or more must pass all of them. */
static void make_holes(void) {
    enum { HOLES = 20000 };
    static int made;
    if (made++) return;
    char* at = mmap(NULL, 2L * HOLES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) die("mmap failed");
    for (long i = 0; i < HOLES; ++i)
        if (munmap(at + 2 * i * PAGE, PAGE) != 0) die("munmap failed");
}

static double mappings_among_holes(int kilobytes) {
    make_holes();
    return mappings(kilobytes);
}

static double small_blocks_among_holes(int threads) {
    make_holes();
    return small_blocks(threads);
}

static const struct row {
    const char* name;
    double (*run)(int); /* returns the number of operations */
    int argument;
} kRows[] = {
    {"malloc_small_1_thread", small_blocks, 1},
    {"malloc_small_4_threads", small_blocks, 4},
    {"malloc_256KB", large_blocks, 256},
    {"malloc_512KB", large_blocks, 512},
    {"malloc_1MB", large_blocks, 1024},
    {"malloc_2MB", large_blocks, 2048},
    {"mmap_4KB", mappings, 4},
    {"mmap_64KB", mappings, 64},
    {"mmap_1MB", mappings, 1024},
    {"mmap_4KB_20000_holes", mappings_among_holes, 4},
    {"mmap_64KB_20000_holes", mappings_among_holes, 64},
    {"malloc_small_20000_holes", small_blocks_among_holes, 1},
};
enum { ROWS = sizeof kRows / sizeof kRows[0] };

static void time_row(const struct row* row, int rounds) {
    double best = 0;
    row->run(row->argument); /* the first round builds arenas and page tables */
    for (int i = 0; i < rounds; ++i) {
        const double start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        const double operations = row->run(row->argument);
        const double took = (now_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / operations;
        if (i == 0 || took < best) best = took;
    }
    printf("%s %.3f\n", row->name, best);
}

static void resident(void) {
    char text[4096], *block[200];
    for (int i = 0; i < 200; ++i) memset(block[i] = malloc(3000), 1, 3000);
    mappings(64);
    for (int i = 0; i < 200; i += 2) free(block[i]);
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (got <= 0) die("/proc/self/smaps_rollup cannot be read");
    text[got] = 0;
    const char* names[] = {"Rss", "Pss", "Private_Dirty"};
    for (int i = 0; i < 3; ++i) {
        char field[32];
        snprintf(field, sizeof field, "\n%s:", names[i]);
        const char* at = strstr(text, field);
        if (at == NULL) die("a field is missing in /proc/self/smaps_rollup");
        printf("%s %ld\n", names[i], atol(at + strlen(field)) * 1024);
    }
}

static int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* The environment is the child's only: this process stays without the library. */
static void start_program(int rounds, char** words) {
    extern char** environ;
    static double took[MAX_ROUNDS];
    for (; *words != NULL && strcmp(*words, "--") != 0; ++words)
        if (putenv(*words) != 0) die("putenv");
    if (*words == NULL || words[1] == NULL) die("start: `-- PROGRAM` is missing");
    for (int i = 0; i < rounds; ++i) {
        pid_t pid;
        int status;
        const double start = now_ns(CLOCK_MONOTONIC);
        if (posix_spawn(&pid, words[1], NULL, NULL, words + 1, environ) != 0) die("start: PROGRAM cannot be started");
        if (waitpid(pid, &status, 0) != pid || status != 0) die("start: the program failed");
        took[i] = now_ns(CLOCK_MONOTONIC) - start;
    }
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    printf("start %.0f\n", took[rounds / 2]);
}

int main(int count, char** words) {
    const int rounds = count > 2 ? atoi(words[2]) : 10;
    if (rounds < 1 || rounds > MAX_ROUNDS) die("ROUNDS must be a number from 1 to 1000");
    if (count > 1 && strcmp(words[1], "resident") == 0) return resident(), 0;
    if (count > 1 && strcmp(words[1], "start") == 0) return start_program(rounds, words + 3), 0;
    for (int i = 0; i < ROWS; ++i)
        if (count > 1 && strcmp(words[1], kRows[i].name) == 0) return time_row(&kRows[i], rounds), 0;
    fputs("usage: costs ROW [ROUNDS] | resident | start ROUNDS [NAME=VALUE...] -- PROGRAM\nrows:", stderr);
    for (int i = 0; i < ROWS; ++i) fprintf(stderr, " %s", kRows[i].name);
    fputs("\n", stderr);
    return 2;
}
