// signals.cpp - signals at any time. How many come is not part of the output, only that each handler found what it should.
#include "signals.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace lives {
namespace {

constexpr int kTick = SIGALRM, kAsked = SIGUSR1;
constexpr long kPeriodNs = 1000000;

uint64_t g_faults = 0;

void fault_if(bool wrong) {
    if (wrong) __atomic_add_fetch(&g_faults, 1, __ATOMIC_RELAXED);
}

void map_a_little(unsigned pages) {
    char* at = static_cast<char*>(mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (at == MAP_FAILED) return fault_if(true);
    for (unsigned i = 0; i < pages; ++i) {
        fault_if(at[i * kPage] != 0 || at[i * kPage + kPage - 1] != 0);
        at[i * kPage] = at[i * kPage + kPage - 1] = static_cast<char>(0xa5);
    }
    fault_if(munmap(at, pages * kPage) != 0);
}

void on_tick(int) {
    const int before = errno;
    if (differential::handler_may_map()) map_a_little(1 + static_cast<unsigned>(before) % 3);
    errno = before;
}

/// Only from raise(), so never inside malloc.
void on_asked(int) {
    const int before = errno;
    map_a_little(2);
    void* block = malloc(3000);
    fault_if(block == nullptr);
    if (block != nullptr) memset(block, 0x5a, 3000);
    void* large = calloc(1, 300000);
    fault_if(large == nullptr || static_cast<char*>(large)[299999] != 0);
    free(block);
    free(large);
    errno = before;
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
}

}  // namespace

void set_handlers() {
    handle(kTick, on_tick);
    handle(kAsked, on_asked);
}

void start_timer() {
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kTick;
    event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
    int timer = 0;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return;
    const itimerspec often = {{0, kPeriodNs}, {0, kPeriodNs}};
    syscall(SYS_timer_settime, timer, 0, &often, nullptr);
}

uint64_t handler_faults() { return __atomic_load_n(&g_faults, __ATOMIC_RELAXED); }

void event_signal(Self& s) {
    s.t.log.begin("signal");
    {
        const Maps maps(s.t, Maps::shared);
        s.t.log.call("raise", raise(kAsked));
    }
    s.t.log.end();
    check_all(s);
}

}  // namespace lives
