/* foreign_tasks MODE NUMBER: tasks of clone(CLONE_VM) without thread-local storage of their own, so that they share that
 * of the thread that made them, and the main thread, all map, write, check and unmap memory through libc.
 *   work N: N calls of mmap each, as processes   threads N: the same, as threads without thread-local storage
 *   forever 0: until a signal ends them   kill N: N times one of them is killed at some moment, the others go on
 * errno is shared and not looked at, as the program's own race. */
#include "hostile.h"

#include <linux/futex.h>
#include <sched.h>
#include <time.h>

enum { TASKS = 4, SLOTS = 16, STACK = 64 * 1024, WORDS = 512 };

struct slot {
    char* at;
    size_t bytes;
    unsigned char value;
};
struct task {
    volatile uint64_t calls;
    volatile int ended; /* 1: right, 2: wrong */
    int clear;          /* the kernel writes 0 and wakes at the end of a thread */
    pid_t pid;
    unsigned random;
    struct slot slots[SLOTS];
    char* stack;
};
static struct task g_tasks[TASKS];
static uint64_t g_calls; /* 0: no end */
static int g_kills;
static volatile uint64_t g_refused;

static int same(const struct slot* slot) {
    for (size_t i = 0; i < slot->bytes; i += 64)
        if ((unsigned char)slot->at[i] != slot->value) return 0;
    return (unsigned char)slot->at[slot->bytes - 1] == slot->value;
}

static int work(void* argument) {
    struct task* self = argument;
    const char* what = "";
    while (g_calls == 0 || self->calls < g_calls) {
        const unsigned number = next_random(&self->random);
        struct slot* slot = &self->slots[number % SLOTS];
        if (slot->at != NULL) {
            const struct slot old = *slot;
            what = "its contents are wrong";
            if (!same(&old)) goto wrong;
            slot->at = NULL;
            what = "munmap fails";
            if (munmap(old.at, old.bytes) != 0) goto wrong;
            continue;
        }
        const size_t bytes = (1 + number / SLOTS % 3) * PAGE;
        char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        what = "mmap fails";
        if (at == MAP_FAILED) {
            if (!g_kills) goto wrong;
            ++g_refused; /* who is killed in the middle of a change may leave less memory, never wrong memory */
            ++self->calls;
            continue;
        }
        what = "new memory is not zero";
        for (size_t i = 0; i < bytes; i += WORDS)
            if (at[i] != 0) goto wrong;
        const unsigned char value = (unsigned char)(1 + number % 250);
        memset(at, value, bytes);
        *slot = (struct slot){at, bytes, value};
        ++self->calls;
    }
    self->ended = 1;
    return 0;
wrong:
    dprintf(2, "task %ld: %s after %lu calls (errno %d)\n", (long)(self - g_tasks), what, (unsigned long)self->calls,
            errno);
    self->ended = 2;
    return 1;
}

static void start(struct task* task, int as_thread) {
    const int process = CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD;
    const int thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID;
    if (task->stack == NULL) task->stack = fresh(STACK);
    task->ended = 0;
    task->clear = 1;
    task->calls = 0;
    memset(task->slots, 0, sizeof task->slots); /* what a killed task had stays mapped */
    task->pid = clone(work, task->stack + STACK, as_thread ? thread : process, task, NULL, NULL, &task->clear);
    REQUIRE(task->pid > 0);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void wait_for(struct task* task, int as_thread) {
    if (!as_thread) {
        int status = 0;
        REQUIRE(waitpid(task->pid, &status, 0) == task->pid && status == 0);
    }
    while (as_thread && __atomic_load_n(&task->clear, __ATOMIC_ACQUIRE) != 0) usleep(1000);
    REQUIRE(task->ended == 1);
}

static void run_to_the_end(int as_thread) {
    for (int i = 1; i < TASKS; ++i) start(&g_tasks[i], as_thread);
    REQUIRE(work(&g_tasks[0]) == 0); /* the main thread is one of them */
    for (int i = 1; i < TASKS; ++i) wait_for(&g_tasks[i], as_thread);
}

/* Kills one task at a time; the longest time that another one stood still counts. */
static void kill_some(long rounds) {
    double longest = 0;
    unsigned random = (unsigned)getpid();
    g_kills = 1;
    for (int i = 1; i < TASKS; ++i) start(&g_tasks[i], 0);
    for (long round = 0; round < rounds; ++round) {
        struct task* victim = &g_tasks[1 + round % (TASKS - 1)];
        usleep(500 + next_random(&random) % 3000);
        REQUIRE(kill(victim->pid, SIGKILL) == 0);
        int status = 0;
        REQUIRE(waitpid(victim->pid, &status, 0) == victim->pid && WIFSIGNALED(status));
        const double killed = now();
        for (int i = 1; i < TASKS; ++i) {
            const uint64_t before = g_tasks[i].calls;
            while (&g_tasks[i] != victim && g_tasks[i].calls < before + 100) {
                REQUIRE(g_tasks[i].ended == 0);
                if (now() - killed > 5) {
                    dprintf(2, "round %ld: task %d stands still for 5 s after another was killed\n", round, i);
                    _exit(1);
                }
                usleep(200);
            }
        }
        if (now() - killed > longest) longest = now() - killed;
        start(victim, 0);
    }
    g_calls = 1;
    for (int i = 1; i < TASKS; ++i) wait_for(&g_tasks[i], 0);
    dprintf(2, "longest %.2f s, %lu refused\n", longest, (unsigned long)g_refused);
}

int main(int count, char** words) {
    REQUIRE(count == 3);
    const long number = atol(words[2]);
    watch(60);
    for (unsigned i = 0; i < TASKS; ++i) g_tasks[i].random = i * 7919 + 1;
    if (strcmp(words[1], "kill") == 0) {
        kill_some(number);
    } else {
        g_calls = (uint64_t)number;
        if (write(1, "started\n", 8) < 0) return 1;
        run_to_the_end(strcmp(words[1], "threads") == 0);
    }
    if (write(1, "right\n", 6) < 0) return 1;
    return 0;
}
