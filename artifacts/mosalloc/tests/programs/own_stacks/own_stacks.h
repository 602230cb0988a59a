/* own_stacks.h - what the cases of own_stacks share. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, KB = 1024, COROUTINES = 6, ROUNDS = 4, THREADS = 2, DEPTH = 8, BLOCKS = 12, SECONDS = 20 };

#define REQUIRE(condition)                                                                              \
    do {                                                                                                \
        if (!(condition)) {                                                                             \
            dprintf(2, "%s:%d: does not hold: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
            _exit(1);                                                                                   \
        }                                                                                               \
    } while (0)

/* Checks whether an access traps, in threads that called catch_traps() and whose signal stack is libc's. */
void catch_traps(void);
int traps(volatile char* at);

/* Another thread that counts in *g_word, next to the stacks, while g_word is set; g_written is its own count. */
extern volatile uint64_t* volatile g_word;
extern volatile int g_stop;
extern uint64_t g_written;
pthread_t start_writer(void);
void stop_writer(pthread_t id);

/* Memory that begins on a border of 2MB and was never split; its stacks are carved out of it from below. */
struct arena {
    char *start, *next;
};

void map_blocks(void);
struct arena make_arena(void);
char* stack_memory(struct arena* arena, size_t bytes); /* without an arena from malloc */

void on_own_stack(struct arena* arena, void (*function)(void*), void* argument);
void recurse(int depth, unsigned char value);
pid_t fork_deep(int depth);

/* The cases. */
void coroutines(void);
void coroutines_threads(void);
void setstack(void);
void forks_from_own_stack(void);
void forks_beside_writer(void);
void pool_threads(void);
void altstack(void);
