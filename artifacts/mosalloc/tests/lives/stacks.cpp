// stacks.cpp - stacks that the program allocates itself, with a guard page: coroutines (as boost.context makes them) and
// threads (pthread_attr_setstack). On them a life goes on as before: it protects memory, forks, gets signals.
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "access.h"
#include "events.h"

namespace lives {
namespace {

struct OwnStack {
    char* at;  ///< the guard page; the stack is above it
    size_t bytes;
    bool from_malloc;
    char* usable() const { return at + kPage; }
    size_t usable_bytes() const { return bytes - kPage; }
};

/// From malloc or mmap, small or as large as a default of coroutine libraries.
OwnStack make_stack(Self& s) {
    OwnStack made = {nullptr, (32u + 32u * s.t.random.below(4)) * kPage, s.t.random.one_in(2)};
    s.t.log.begin("own_stack", static_cast<long>(made.bytes), made.from_malloc);
    const Maps maps(s.t, Maps::shared);
    void* got = nullptr;
    if (made.from_malloc) s.t.log.result("memalign", static_cast<uint64_t>(posix_memalign(&got, kPage, made.bytes)));
    else got = mmap(nullptr, made.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!s.t.log.call("stack", got == nullptr ? MAP_FAILED : got)) _exit(3);
    made.at = static_cast<char*>(got);
    s.t.log.call("guard", mprotect(made.at, kPage, PROT_NONE));
    s.t.log.end();
    return made;
}

void probe_guard(Self& s, const OwnStack& stack) {
    if (!s.options->guards) return;
    s.t.log.begin("own_stack_guard");
    s.t.log.result("write", static_cast<uint64_t>(differential::try_write(stack.at + kPage - 8)));
    s.t.log.result("read", static_cast<uint64_t>(differential::try_read(stack.at)));
    s.t.log.end();
}

void free_stack(Self& s, const OwnStack& stack) {
    s.t.log.begin("own_stack_ended");
    const Maps maps(s.t, Maps::shared);
    s.t.log.call("open", mprotect(stack.at, kPage, PROT_READ | PROT_WRITE));
    if (stack.from_malloc) free(stack.at);
    else s.t.log.call("munmap", munmap(stack.at, stack.bytes));
    s.t.log.end();
}

/// What runs on the stack. Its local array must survive all of it.
void work(Self& s, const OwnStack& stack) {
    volatile char local[2000];
    for (size_t i = 0; i < sizeof local; ++i) local[i] = static_cast<char>(i);
    differential::run_operations(s.t, 8);
    if (s.t.random.one_in(3)) event_fork(s);
    probe_guard(s, stack);
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof local; ++i) wrong += local[i] != static_cast<char>(i);
    s.t.log.begin("own_stack_local");
    s.t.log.result("wrong", wrong);
    s.t.log.end();
}

struct Coroutine {
    Self* self;
    const OwnStack* stack;
    ucontext_t here, caller;
    unsigned yields;
};

/// makecontext passes ints.
void enter(unsigned high, unsigned low) {
    Coroutine& c = *reinterpret_cast<Coroutine*>(static_cast<uint64_t>(high) << 32 | low);
    while (c.yields-- > 0) {
        work(*c.self, *c.stack);
        swapcontext(&c.here, &c.caller);
    }
}

struct ThreadWork {
    Self* self;
    const OwnStack* stack;
};

void* run_thread(void* argument) {
    const ThreadWork& w = *static_cast<ThreadWork*>(argument);
    work(*w.self, *w.stack);
    return nullptr;
}

}  // namespace

void event_coroutine(Self& s) {
    const OwnStack stack = make_stack(s);
    Coroutine c;
    c.self = &s;
    c.stack = &stack;
    c.yields = 1 + s.t.random.below(3);
    const unsigned yields = c.yields;
    getcontext(&c.here);
    c.here.uc_stack.ss_sp = stack.usable();
    c.here.uc_stack.ss_size = stack.usable_bytes();
    c.here.uc_link = &c.caller;
    const uint64_t at = reinterpret_cast<uint64_t>(&c);
    makecontext(&c.here, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(at >> 32), static_cast<unsigned>(at));
    for (unsigned i = 0; i < yields; ++i) {
        swapcontext(&c.caller, &c.here);
        differential::run_operations(s.t, 2);
    }
    free_stack(s, stack);
}

void event_own_stack(Self& s) {
    const OwnStack stack = make_stack(s);
    ThreadWork w = {&s, &stack};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const int set = pthread_attr_setstack(&attributes, stack.usable(), stack.usable_bytes());
    pthread_t thread;
    // The new thread does this one's work: there are never two at a time, but another one exists.
    const int made = pthread_create(&thread, &attributes, run_thread, &w);
    if (made == 0) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    s.t.log.begin("own_stack_thread");
    s.t.log.result("set", static_cast<uint64_t>(set));
    s.t.log.result("made", static_cast<uint64_t>(made));
    s.t.log.end();
    free_stack(s, stack);
}

}  // namespace lives
