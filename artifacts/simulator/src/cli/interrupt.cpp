#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

namespace tessera::sim {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);  // else a handler must not touch it

void remember(int signal) { received = signal; }

}  // namespace

void catch_signals() {
    struct sigaction action{};
    action.sa_handler = remember;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

int signal_received() { return received; }

}  // namespace tessera::sim
