/* forks.c - forks from a stack of the program: parent and child keep their frames and their heap. */
#include "own_stacks.h"

static char* g_heap;
enum { HEAP = 5 << 20 };

static void fork_here(void* unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; ++round) {
        memset(g_heap, 'p', HEAP);
        const pid_t child = fork_deep(DEPTH);
        REQUIRE(child >= 0);
        for (size_t i = 0; i < HEAP; ++i) REQUIRE(g_heap[i] == 'p');
        if (child == 0) {
            memset(g_heap, 'c', HEAP);
            recurse(12, 9);
            char* block = malloc(300000);
            REQUIRE(block != NULL);
            memset(block, 'm', 300000);
            free(block);
            usleep(3000);
            for (size_t i = 0; i < HEAP; ++i) REQUIRE(g_heap[i] == 'c');
            _exit(0);
        }
        recurse(12, 3);
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (status != 0) dprintf(2, "round %d: the child ended with status 0x%x\n", round, status);
        REQUIRE(status == 0);
    }
}

void forks_from_own_stack(void) {
    g_heap = malloc(HEAP);
    REQUIRE(g_heap != NULL);
    struct arena arena = make_arena();
    on_own_stack(&arena, fork_here, NULL);
}

void forks_beside_writer(void) {
    g_heap = malloc(HEAP);
    REQUIRE(g_heap != NULL);
    struct arena arena = make_arena();
    uint64_t* word = (uint64_t*)(arena.start + HUGE - PAGE);
    *word = 0;
    g_word = word;
    const pthread_t writer = start_writer();
    on_own_stack(&arena, fork_here, NULL);
    stop_writer(writer);
    REQUIRE(*word == g_written && g_written > 0);
}
