/* malloc on top of the pools, processes and threads. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

static void churn(unsigned seed) {
    enum { SLOTS = 300 };
    char* held[SLOTS] = {0};
    size_t sizes[SLOTS];
    for (int step = 0; step < 6000; ++step) {
        const unsigned slot = (seed = seed * 1103515245u + 12345u) >> 8, i = slot % SLOTS;
        if (held[i] != NULL) {
            REQUIRE(all_bytes(held[i], sizes[i] < 64 ? sizes[i] : 64, (char)i));
            REQUIRE(held[i][sizes[i] - 1] == (char)i);
        }
        const unsigned shape = (seed >> 20) % 8;
        sizes[i] = shape == 0 ? 1 + seed % 400000 : 1 + seed % 3000;
        if (shape < 3) {
            held[i] = realloc(held[i], sizes[i]);
        } else {
            free(held[i]);
            held[i] = shape == 3 ? calloc(1, sizes[i]) : malloc(sizes[i]);
            if (shape == 3) REQUIRE(all_bytes(held[i], sizes[i], 0));
        }
        REQUIRE(held[i] != NULL);
        memset(held[i], (char)i, sizes[i]);
    }
    for (int i = 0; i < SLOTS; ++i) free(held[i]);
}

void case_malloc_sizes(void) {
    churn(1);
    REQUIRE(malloc_trim(0) >= 0);
    churn(2);
    char* big = malloc(48 << 20);
    memset(big, 'x', 48 << 20);
    big = realloc(big, 60 << 20);
    REQUIRE(all_bytes(big, 48 << 20, 'x'));
    free(big);
    char* zero = calloc(1, 48 << 20);
    REQUIRE(all_bytes(zero, 48 << 20, 0));
    free(zero);
}

void case_memalign(void) {
    for (size_t align = 16; align <= 4u << 20; align *= 4) {
        void *a = NULL, *b = aligned_alloc(align, 3 * align);
        REQUIRE(posix_memalign(&a, align, align + 1) == 0);
        REQUIRE((uintptr_t)a % align == 0 && b != NULL && (uintptr_t)b % align == 0);
        memset(a, 1, align + 1);
        memset(b, 2, 3 * align);
        free(a);
        free(b);
    }
}

void case_brk(void) {
    char* start = sbrk(0);
    REQUIRE(sbrk(3 * PAGE + 7) == start && sbrk(0) == start + 3 * PAGE + 7);
    memset(start, 'x', 3 * PAGE + 7);
    REQUIRE(brk(start + PAGE) == 0 && sbrk(0) == start + PAGE);
    REQUIRE(sbrk(2 * PAGE) == start + PAGE);
    REQUIRE(all_bytes(start, PAGE, 'x'));
    REQUIRE(sbrk((intptr_t)1 << 46) == (void*)-1 && errno == ENOMEM);
    REQUIRE(brk((void*)PAGE) == 0 && sbrk(0) == start + 3 * PAGE); /* no error, no effect */
    REQUIRE(sbrk(-(2 * PAGE)) == start + 3 * PAGE);
}

static void* churn_thread(void* seed) {
    churn((unsigned)(uintptr_t)seed);
    for (int i = 0; i < 200; ++i) {
        const size_t bytes = (size_t)(1 + i % 40) * PAGE;
        char* at = anonymous(bytes, PROT_READ | PROT_WRITE);
        REQUIRE(all_bytes(at, bytes, 0));
        memset(at, 'x', bytes);
        if (i % 3 == 0) at = mremap(at, bytes, 2 * bytes, MREMAP_MAYMOVE);
        REQUIRE(all_bytes(at, bytes, 'x'));
        REQUIRE(munmap(at, i % 3 == 0 ? 2 * bytes : bytes) == 0);
    }
    return NULL;
}

void case_threads(void) {
    pthread_t threads[8];
    for (uintptr_t i = 0; i < 8; ++i) REQUIRE(pthread_create(&threads[i], NULL, churn_thread, (void*)(i + 10)) == 0);
    for (int i = 0; i < 8; ++i) REQUIRE(pthread_join(threads[i], NULL) == 0);
}

void case_fork(void) {
    char* before = malloc(3 << 20);
    memset(before, 'p', 3 << 20);
    pthread_t busy; /* fork while another thread is inside the allocator */
    REQUIRE(pthread_create(&busy, NULL, churn_thread, (void*)99) == 0);
    for (int i = 0; i < 10; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            REQUIRE(all_bytes(before, 3 << 20, 'p'));
            memset(before, 'c', 3 << 20);
            churn(5);
            _exit(17);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    }
    REQUIRE(pthread_join(busy, NULL) == 0);
    REQUIRE(all_bytes(before, 3 << 20, 'p'));
    free(before);
}

void case_exec(void) {
    REQUIRE(system("test $((1 + 1)) = 2") == 0);
    FILE* pipe = popen("echo from a child", "r");
    char line[64] = "";
    REQUIRE(pipe != NULL && fgets(line, sizeof line, pipe) != NULL && strcmp(line, "from a child\n") == 0);
    REQUIRE(pclose(pipe) == 0);
}

static volatile int g_handled;
static void map_in_handler(int number) {
    (void)number;
    char* at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED && at[PAGE] == 0 && munmap(at, 2 * PAGE) == 0) ++g_handled;
}

static void* pester(void* main_thread) {
    for (int i = 0; i < 300; ++i) {
        pthread_kill(*(pthread_t*)main_thread, SIGUSR1);
        usleep(100);
    }
    return NULL;
}

void case_signal(void) {
    struct sigaction action = {.sa_handler = map_in_handler, .sa_flags = SA_RESTART};
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_t self = pthread_self(), other;
    REQUIRE(pthread_create(&other, NULL, pester, &self) == 0);
    while (pthread_tryjoin_np(other, NULL) == EBUSY) {
        char* at = anonymous(4 * PAGE, PROT_READ | PROT_WRITE);
        REQUIRE(munmap(at, 4 * PAGE) == 0);
    }
    REQUIRE(g_handled > 0);
}
