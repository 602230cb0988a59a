/* coroutines.c - coroutines with guard pages, each made while another one runs in the same huge page. */
#include "own_stacks.h"

struct coroutine {
    ucontext_t context, *back;
    char* stack;
    size_t bytes;
    unsigned number;
    int traps, ended;
};

static void yield(struct coroutine* self) { REQUIRE(swapcontext(&self->context, self->back) == 0); }

static void work(struct coroutine* self, int depth) {
    unsigned char local[1500];
    memset(local, (int)(self->number + (unsigned)depth), sizeof local);
    unsigned char* block = malloc(3000 + 100 * self->number);
    REQUIRE(block != NULL);
    memset(block, (int)self->number, 3000);
    if (depth > 0) work(self, depth - 1);
    yield(self);
    for (size_t i = 0; i < sizeof local; ++i) REQUIRE(local[i] == (unsigned char)(self->number + (unsigned)depth));
    for (size_t i = 0; i < 3000; ++i) REQUIRE(block[i] == (unsigned char)self->number);
    free(block);
}

static void coroutine_main(unsigned high, unsigned low) {
    struct coroutine* self = (struct coroutine*)((uintptr_t)high << 32 | low);
    work(self, DEPTH);
    self->ended = 1;
    yield(self);
}

static void start(struct coroutine* one, ucontext_t* back) {
    one->back = back;
    REQUIRE(getcontext(&one->context) == 0);
    one->context.uc_stack.ss_sp = one->stack;
    one->context.uc_stack.ss_size = one->bytes;
    const uintptr_t at = (uintptr_t)one;
    makecontext(&one->context, (void (*)(void))coroutine_main, 2, (unsigned)(at >> 32), (unsigned)at);
}

/* Makes and switches COROUTINES coroutines, from the stack that it runs on. Each new stack gets its guard page here. */
static void schedule(struct arena* arena, int with_writer) {
    struct coroutine* all[COROUTINES];
    ucontext_t here;
    for (unsigned i = 0; i < COROUTINES; ++i) {
        struct coroutine* one = all[i] = calloc(1, sizeof *one);
        REQUIRE(one != NULL);
        one->number = i + 1;
        one->bytes = (64 + 32 * (i % 7)) * KB; /* 64KB to 256KB */
        one->stack = stack_memory(arena, one->bytes);
        if (with_writer && g_word == NULL) {
            *(uint64_t*)(one->stack + PAGE) = 0; /* the deep end of the stack, which nothing uses */
            g_word = (uint64_t*)(one->stack + PAGE);
            while (*g_word == 0) usleep(10);
        }
        REQUIRE(mprotect(one->stack, PAGE, PROT_NONE) == 0);
        start(one, &here);
        REQUIRE(swapcontext(&here, &one->context) == 0);
        REQUIRE(traps(one->stack + 100) && !traps(one->stack + PAGE + 100));
    }
    for (int running = COROUTINES; running > 0;) {
        running = 0;
        for (unsigned i = 0; i < COROUTINES; ++i) {
            if (all[i]->ended) continue;
            REQUIRE(swapcontext(&here, &all[i]->context) == 0);
            ++running;
        }
    }
    if (with_writer) g_word = NULL;
    usleep(100);
    for (unsigned i = 0; i < COROUTINES; ++i) {
        REQUIRE(mprotect(all[i]->stack, PAGE, PROT_READ | PROT_WRITE) == 0);
        if (arena == NULL) free(all[i]->stack);
        free(all[i]);
    }
}

static void schedule_in(void* arena) { schedule(arena, 0); }
static void schedule_beside_writer(void* arena) { schedule(arena, 1); }

void coroutines(void) {
    catch_traps();
    on_own_stack(NULL, schedule_in, NULL);
    for (int round = 0; round < ROUNDS; ++round) {
        struct arena arena = make_arena();
        on_own_stack(&arena, schedule_in, &arena);
    }
}

static void* coroutines_of_thread(void* unused) {
    coroutines();
    return unused;
}

void coroutines_threads(void) {
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; ++i) REQUIRE(pthread_create(&ids[i], NULL, coroutines_of_thread, NULL) == 0);
    for (int i = 0; i < THREADS; ++i) REQUIRE(pthread_join(ids[i], NULL) == 0);
    const pthread_t writer = start_writer();
    catch_traps();
    for (int round = 0; round < ROUNDS; ++round) {
        struct arena arena = make_arena();
        on_own_stack(&arena, schedule_beside_writer, &arena);
    }
    stop_writer(writer);
    REQUIRE(g_written > 0);
}
