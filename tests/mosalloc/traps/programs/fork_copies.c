/* fork_copies BYTES THREADS FORKS: fills memory and forks; the child writes all of it, parent and child check their own
 * contents. Threads of the parent go on writing meanwhile: each counts in a page of that memory and in a variable
 * outside it, and a write that a fork lost shows as a difference. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8, PAGE = 4096 };
#define REQUIRE(condition)                                                  \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "line %d: does not hold: %s\n", __LINE__, #condition); \
            _exit(1);                                                       \
        }                                                                   \
    } while (0)

static char* g_memory;
static uint64_t g_counts[MOST];
static volatile int g_stop;

/* A thread's page is the last of a 2MB page, so that the threads write to different ones. */
static volatile uint64_t* counter(long id) { return (volatile uint64_t*)(g_memory + (id + 1) * (2 << 20) - PAGE); }

static void* count_up(void* id) {
    while (!g_stop) {
        ++g_counts[(long)id];
        ++*counter((long)id);
    }
    return NULL;
}

static int is_counter(size_t at, long threads) {
    const size_t page = at / (2 << 20);
    return (long)page < threads && at % (2 << 20) >= (2 << 20) - PAGE;
}

static int whole(char value, size_t bytes, long threads) {
    for (size_t at = 0; at < bytes; at += 512)
        if (g_memory[at] != value && !is_counter(at, threads)) return 0;
    return 1;
}

static void in_child(size_t bytes, long threads) {
    REQUIRE(whole('p', bytes, threads));
    for (long id = 0; id < threads; ++id) {
        const uint64_t seen = *counter(id);
        usleep(1000);
        REQUIRE(*counter(id) == seen); /* the parent's writes are its own */
    }
    memset(g_memory, 'c', bytes);
    REQUIRE(whole('c', bytes, 0));
    char* more = malloc(300000);
    REQUIRE(more != NULL);
    memset(more, 'm', 300000);
    free(more);
    _exit(17);
}

int main(int count, char** words) {
    REQUIRE(count == 4);
    const size_t bytes = strtoull(words[1], NULL, 10);
    const long threads = atol(words[2]), forks = atol(words[3]);
    REQUIRE(threads <= MOST && bytes >= ((size_t)threads << 21));
    g_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(g_memory != MAP_FAILED);
    memset(g_memory, 'p', bytes);
    pthread_t ids[MOST];
    for (long id = 0; id < threads; ++id) {
        *counter(id) = 0;
        REQUIRE(pthread_create(&ids[id], NULL, count_up, (void*)id) == 0);
    }
    for (long i = 0; i < forks; ++i) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) in_child(bytes, threads);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
        REQUIRE(whole('p', bytes, threads));
    }
    g_stop = 1;
    for (long id = 0; id < threads; ++id) {
        REQUIRE(pthread_join(ids[id], NULL) == 0);
        REQUIRE(*counter(id) == g_counts[id] && g_counts[id] > 0);
    }
    puts("whole");
    return 0;
}
