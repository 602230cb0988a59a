/* threads.c - threads and signal handlers on stacks of the program, or on stacks of libc in a window. */
#include "own_stacks.h"

/* ---- pthread_attr_setstack ---- */

static void* guard_own_stack(void* stack) {
    catch_traps();
    recurse(5, 1);
    REQUIRE(mprotect(stack, PAGE, PROT_NONE) == 0);
    REQUIRE(traps((char*)stack + 8));
    recurse(20, 2);
    char* block = malloc(5000);
    REQUIRE(block != NULL);
    free(block);
    return stack;
}

void setstack(void) {
    for (int round = 0; round < ROUNDS; ++round) {
        pthread_t ids[THREADS];
        char* stacks[THREADS];
        struct arena arena = make_arena();
        for (int i = 0; i < THREADS; ++i) {
            const size_t bytes = 256 * KB;
            stacks[i] = stack_memory(round == 0 ? NULL : &arena, bytes);
            pthread_attr_t attributes;
            REQUIRE(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stacks[i], bytes) == 0);
            REQUIRE(pthread_create(&ids[i], &attributes, guard_own_stack, stacks[i]) == 0);
        }
        for (int i = 0; i < THREADS; ++i) {
            void* result = NULL;
            REQUIRE(pthread_join(ids[i], &result) == 0 && result == stacks[i]);
            REQUIRE(mprotect(stacks[i], PAGE, PROT_READ | PROT_WRITE) == 0);
            if (round == 0) free(stacks[i]);
        }
    }
}

/* ---- stacks that libc mapped (in a window with --stacks pool) ---- */

static __thread uint64_t t_value;

static void* thread_with_guard(void* number) {
    t_value = (uint64_t)number;
    catch_traps();
    pthread_attr_t attributes;
    void* stack = NULL;
    size_t bytes = 0;
    REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
    REQUIRE(pthread_attr_getstack(&attributes, &stack, &bytes) == 0 && pthread_attr_destroy(&attributes) == 0);
    /* In the huge page of this very stack, below what it uses. */
    char* guard = (char*)(((uintptr_t)__builtin_frame_address(0) - 256 * KB) & ~(uintptr_t)(PAGE - 1));
    REQUIRE(guard > (char*)stack);
    *guard = 'z';
    REQUIRE(mprotect(guard, PAGE, PROT_NONE) == 0);
    recurse(30, 4);
    const pid_t child = fork_deep(DEPTH);
    REQUIRE(child >= 0);
    recurse(10, 6);
    REQUIRE(t_value == (uint64_t)number);
    if (child == 0) _exit(0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    REQUIRE(mprotect(guard, PAGE, PROT_READ | PROT_WRITE) == 0 && *guard == 'z');
    return number;
}

void pool_threads(void) {
    for (int round = 0; round < ROUNDS; ++round) {
        pthread_t ids[2 * THREADS];
        for (long i = 0; i < 2 * THREADS; ++i) REQUIRE(pthread_create(&ids[i], NULL, thread_with_guard, (void*)(i + 1)) == 0);
        for (long i = 0; i < 2 * THREADS; ++i) {
            void* result = NULL;
            REQUIRE(pthread_join(ids[i], &result) == 0 && result == (void*)(i + 1));
        }
    }
}

/* ---- signals on a stack of the program ---- */

static volatile int g_handled;
static volatile char* volatile g_guard;

static void handle(int number) {
    unsigned char local[16000];
    memset(local, number, sizeof local);
    char* guard = (char*)g_guard;
    if (guard != NULL) { /* a system call like any other: the page that holds this stack is split from here */
        REQUIRE(mprotect(guard, PAGE, PROT_NONE) == 0);
        g_guard = NULL;
    }
    for (size_t i = 0; i < sizeof local; ++i) REQUIRE(local[i] == number);
    ++g_handled;
}

static char* g_signal_stack;
enum { SIGNAL_STACK = 64 * KB };

static void* raise_signals(void* unused) {
    const stack_t stack = {.ss_sp = g_signal_stack, .ss_size = SIGNAL_STACK};
    REQUIRE(sigaltstack(&stack, NULL) == 0);
    while (!g_stop) REQUIRE(raise(SIGUSR1) == 0);
    const stack_t none = {.ss_flags = SS_DISABLE};
    REQUIRE(sigaltstack(&none, NULL) == 0);
    return unused;
}

void altstack(void) {
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int round = 0; round < 2 * ROUNDS; ++round) {
        struct arena arena = make_arena();
        g_signal_stack = stack_memory(&arena, SIGNAL_STACK);
        pthread_t id;
        g_stop = 0;
        g_handled = 0;
        REQUIRE(pthread_create(&id, NULL, raise_signals, NULL) == 0);
        while (g_handled < 100) usleep(100);
        char* guard = arena.start + HUGE / 2;
        if (round % 2 == 0) {
            REQUIRE(mprotect(guard, PAGE, PROT_NONE) == 0);
        } else {
            g_guard = guard;
            while (g_guard != NULL) usleep(100);
        }
        const int before = g_handled;
        while (g_handled < before + 100) usleep(100);
        g_stop = 1;
        REQUIRE(pthread_join(id, NULL) == 0);
    }
}
