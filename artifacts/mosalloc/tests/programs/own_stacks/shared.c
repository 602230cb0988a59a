/* shared.c - traps, a writer beside the stacks, and stacks in memory of the program. */
#include "own_stacks.h"

/* ---- a guard page must trap ---- */

static __thread sigjmp_buf t_after_trap;
static __thread char t_signal_stack[32 * KB];

static void trapped(int number) {
    (void)number;
    siglongjmp(t_after_trap, 1);
}

void catch_traps(void) {
    const stack_t stack = {.ss_sp = t_signal_stack, .ss_size = sizeof t_signal_stack};
    const struct sigaction action = {.sa_handler = trapped, .sa_flags = SA_ONSTACK};
    REQUIRE(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
}

int traps(volatile char* at) {
    if (sigsetjmp(t_after_trap, 1) != 0) return 1;
    *at = 'y';
    return 0;
}

/* ---- another thread writes next to the stacks ---- */

volatile uint64_t* volatile g_word;
volatile int g_stop;
uint64_t g_written;

static void* write_beside(void* unused) {
    while (!g_stop) {
        volatile uint64_t* word = g_word;
        if (word == NULL) continue;
        const uint64_t before = *word;
        *word = before + 1;
        REQUIRE(*word == before + 1);
        ++g_written;
    }
    return unused;
}

pthread_t start_writer(void) {
    pthread_t id;
    g_stop = 0;
    REQUIRE(pthread_create(&id, NULL, write_beside, NULL) == 0);
    return id;
}

void stop_writer(pthread_t id) {
    g_stop = 1;
    REQUIRE(pthread_join(id, NULL) == 0);
    g_word = NULL;
}

/* Taken at the start, so that it lies at the low end of the pool, where a layout has its windows. */
static char* g_blocks;
static int g_next_block;

void map_blocks(void) {
    char* at = mmap(NULL, (BLOCKS + 1) * (size_t)HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    g_blocks = (char*)(((uintptr_t)at + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
}

struct arena make_arena(void) {
    const int number = __atomic_fetch_add(&g_next_block, 1, __ATOMIC_RELAXED);
    REQUIRE(number < BLOCKS);
    char* at = g_blocks + (size_t)number * HUGE;
    memset(at, 'x', HUGE);
    return (struct arena){at, at};
}

char* stack_memory(struct arena* arena, size_t bytes) {
    void* at = NULL;
    if (arena == NULL) {
        REQUIRE(posix_memalign(&at, PAGE, bytes) == 0);
    } else {
        at = arena->next;
        arena->next += bytes;
        REQUIRE(arena->next <= arena->start + HUGE);
    }
    memset(at, 's', bytes);
    return at;
}

/* Runs `function(argument)` on a stack of the program; the first of the arena, or one of malloc. */
struct call {
    void (*function)(void*);
    void* argument;
    struct arena* arena;
    ucontext_t context, back;
};

static void call_main(unsigned high, unsigned low) {
    struct call* call = (struct call*)((uintptr_t)high << 32 | low);
    call->function(call->argument);
}

void on_own_stack(struct arena* arena, void (*function)(void*), void* argument) {
    const size_t bytes = 192 * KB;
    struct call* call = calloc(1, sizeof *call);
    REQUIRE(call != NULL);
    *call = (struct call){.function = function, .argument = argument, .arena = arena};
    char* stack = stack_memory(arena, bytes);
    REQUIRE(getcontext(&call->context) == 0);
    call->context.uc_stack.ss_sp = stack;
    call->context.uc_stack.ss_size = bytes;
    call->context.uc_link = &call->back;
    const uintptr_t at = (uintptr_t)call;
    makecontext(&call->context, (void (*)(void))call_main, 2, (unsigned)(at >> 32), (unsigned)at);
    REQUIRE(swapcontext(&call->back, &call->context) == 0);
    if (arena == NULL) free(stack);
    free(call);
}

/* Frames with known contents, which the caller's stack must still have afterwards. */
void recurse(int depth, unsigned char value) {
    unsigned char local[4000];
    memset(local, value, sizeof local);
    if (depth > 0) recurse(depth - 1, (unsigned char)(value + 1));
    for (size_t i = 0; i < sizeof local; ++i) REQUIRE(local[i] == value);
}

/* Returns in the child through all of its parent's frames. */
pid_t fork_deep(int depth) {
    unsigned char local[2000];
    memset(local, depth + 1, sizeof local);
    const pid_t child = depth > 0 ? fork_deep(depth - 1) : fork();
    for (size_t i = 0; i < sizeof local; ++i) REQUIRE(local[i] == (unsigned char)(depth + 1));
    return child;
}
