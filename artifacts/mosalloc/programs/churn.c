/* Churn: threads that allocate, grow, align, hand over and free memory, and check every byte of it.
 *
 *     churn THREADS STEPS [ALLOCATOR]
 *
 * Each block is filled with a pattern that depends on its owner and slot, and is checked when it is freed or
 * grown, so that two blocks that share memory, a lost byte or a page that lost its contents are seen. Threads
 * free each other's blocks through a shared table.
 * ALLOCATOR (jemalloc, tcmalloc, mimalloc) must be the one that serves malloc, or the program fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 512, SHARED = 64, MAX_THREADS = 16 };

typedef struct {
    unsigned char* bytes;
    size_t size;
    unsigned char pattern;
} Block;

typedef struct {
    int number;
    long steps;
    uint64_t random;
    Block slots[SLOTS];
} Worker;

static Block shared_blocks[SHARED];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char* what) {
    fprintf(stderr, "churn: %s\n", what);
    exit(1);
}

static uint64_t next(Worker* w) {  /* xorshift64 (Marsaglia 2003) */
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

/* Mostly small, some pages, a few megabytes: every size class and the mmap path. */
static size_t random_size(Worker* w) {
    const uint64_t r = next(w);
    switch (r % 64) {
        case 0: return 1 + (r >> 8) % (3u << 20);
        case 1:
        case 2:
        case 3: return 1 + (r >> 8) % (128u << 10);
        default: return 1 + (r >> 8) % 1024;
    }
}

static void check(const Block* b, size_t size) {
    for (size_t i = 0; i < size; ++i)
        if (b->bytes[i] != b->pattern) fail("a block has lost its contents");
}

static void fill(Block* b, unsigned char pattern) {
    b->pattern = pattern;
    memset(b->bytes, pattern, b->size);
}

static void allocate(Worker* w, Block* b, size_t size, uint64_t how) {
    const unsigned char pattern = (unsigned char)(1 + (w->number * 37 + size) % 250);
    if (how % 8 == 0) size |= 1;  /* Debian 12's mimalloc 2.0.9 misaligns sizes that equal the alignment */
    b->size = size;
    if (how % 8 == 0) {
        const size_t alignment = (size_t)16 << (how >> 8) % 13;  /* up to 64KB */
        void* memory = NULL;
        if (posix_memalign(&memory, alignment, size) != 0) fail("posix_memalign failed");
        if ((uintptr_t)memory % alignment != 0) fail("posix_memalign is not aligned");
        b->bytes = memory;
    } else if (how % 8 == 1) {
        b->bytes = calloc(1, size);
        if (b->bytes == NULL) fail("calloc failed");
        b->pattern = 0;
        check(b, size);
    } else {
        b->bytes = malloc(size);
        if (b->bytes == NULL) fail("malloc failed");
    }
    if (malloc_usable_size(b->bytes) < size) fail("malloc_usable_size is too small");
    fill(b, pattern);
}

static void release(Block* b) {
    check(b, b->size);
    free(b->bytes);
    b->bytes = NULL;
}

static void grow(Worker* w, Block* b) {
    const size_t size = random_size(w), kept = size < b->size ? size : b->size;
    unsigned char* moved = realloc(b->bytes, size);
    if (moved == NULL) fail("realloc failed");
    b->bytes = moved;
    check(b, kept);
    b->size = size;
    fill(b, b->pattern);
}

static void hand_over(Worker* w, Block* b) {
    pthread_mutex_lock(&shared_lock);
    Block* place = &shared_blocks[next(w) % SHARED];
    const Block old = *place;
    *place = *b;
    pthread_mutex_unlock(&shared_lock);
    *b = old;
    if (b->bytes != NULL) release(b);
}

static void* work(void* argument) {
    Worker* w = argument;
    for (long i = 0; i < w->steps; ++i) {
        const uint64_t r = next(w);
        Block* b = &w->slots[r % SLOTS];
        if (b->bytes == NULL) allocate(w, b, random_size(w), r >> 16);
        else if (r >> 60 < 4) grow(w, b);
        else if (r >> 60 < 6) hand_over(w, b);
        else release(b);
    }
    for (int i = 0; i < SLOTS; ++i)
        if (w->slots[i].bytes != NULL) release(&w->slots[i]);
    return NULL;
}

static void require_allocator(const char* name) {
    const char* symbol = !strcmp(name, "jemalloc") ? "mallctl" : !strcmp(name, "mimalloc") ? "mi_version" : "tc_malloc_size";
    Dl_info ours, mallocs;
    void *known = dlsym(RTLD_DEFAULT, symbol), *serving = dlsym(RTLD_DEFAULT, "malloc");
    if (known == NULL || !dladdr(known, &ours) || !dladdr(serving, &mallocs)) fail("the allocator is not loaded");
    if (strcmp(ours.dli_fname, mallocs.dli_fname) != 0) fail("malloc is not the allocator's");
}

int main(int count, char** arguments) {
    if (count < 3) fail("usage: churn THREADS STEPS [ALLOCATOR]");
    const int threads = atoi(arguments[1]);
    if (threads < 1 || threads > MAX_THREADS) fail("THREADS must be 1 to 16");
    if (count > 3) require_allocator(arguments[3]);
    pthread_t ids[MAX_THREADS];
    Worker* workers = calloc((size_t)threads, sizeof *workers);
    for (int i = 0; i < threads; ++i) {
        workers[i].number = i;
        workers[i].steps = atol(arguments[2]);
        workers[i].random = 0x9e3779b97f4a7c15ull * (uint64_t)(i + 1);
        if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0) fail("pthread_create failed");
    }
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    for (int i = 0; i < SHARED; ++i)
        if (shared_blocks[i].bytes != NULL) release(&shared_blocks[i]);
    puts("churn: ok");
    return 0;
}
