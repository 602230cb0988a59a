#include "counters/signals.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::counters {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
constexpr uint64_t kSameSignalMs = 1000, kNever = 0;

sigset_t g_before;
volatile pid_t g_program = 0, g_witness = 0;
int g_seen = -1;              // the witness writes the number of each signal that it received
uint64_t g_group_ms[65];      // when the group received each signal last

uint64_t now_ms() {
    timespec t = {};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1000000;
}

sigset_t forwarded(bool with_question) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kForwarded) sigaddset(&set, signal);
    if (with_question) sigaddset(&set, SIGRTMIN);
    return set;
}

/// SIGRTMIN is the launcher's question. The kernel delivers all pending standard signals before it, so its echo says
/// that the pipe has everything that the group received.
[[noreturn]] void be_witness(int out, pid_t launcher) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "mosalloc-wait");
    if (getppid() != launcher) _exit(0);
    const int moved = dup2(out, 0);  // keeps no file of the launcher open: somebody may wait for its end
    if (moved != 0 || close_range(1, ~0u, 0) != 0 || chdir("/") != 0) _exit(1);
    const sigset_t wanted = forwarded(true);
    for (;;) {
        const int signal = sigwaitinfo(&wanted, nullptr);
        const unsigned char number = static_cast<unsigned char>(signal);
        if (signal > 0 && write(0, &number, 1) != 1) _exit(1);
    }
}

/// Reads what the group received up to now.
void ask_witness() {
    // The sender's loop over the group is not finished when the first member runs.
    const timespec moment = {0, 5000000};
    nanosleep(&moment, nullptr);
    if (g_witness <= 0 || kill(g_witness, SIGRTMIN) != 0) return;
    pollfd ready = {g_seen, POLLIN, 0};
    unsigned char number = 0;
    while (number != SIGRTMIN) {
        if (poll(&ready, 1, 2000) <= 0 || read(g_seen, &number, 1) != 1) return;
        g_group_ms[number] = now_ms();
    }
}

void forward(int signal, siginfo_t* from, void*) {
    const int before = errno;
    const uint64_t last = g_group_ms[signal];
    ask_witness();
    const bool of_group = g_group_ms[signal] != last;
    const bool repeated = from->si_code <= 0 && from->si_pid == getppid() && last != kNever && now_ms() - last < kSameSignalMs;
    if (!of_group && !repeated && g_program > 0) kill(g_program, signal);
    errno = before;
}

void start_witness() {
    int ends[2];
    if (pipe(ends) != 0) return;
    const pid_t launcher = getpid(), witness = fork();
    if (witness == 0) be_witness(ends[1], launcher);
    close(ends[1]);
    g_seen = ends[0];
    g_witness = witness;
}

}  // namespace

void hold_signals() {
    const sigset_t all = forwarded(true);
    sigprocmask(SIG_BLOCK, &all, &g_before);
}

void release_in_child() { sigprocmask(SIG_SETMASK, &g_before, nullptr); }

void start_forwarding(pid_t program) {
    g_program = program;
    start_witness();
    struct sigaction action = {};
    action.sa_sigaction = forward;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    action.sa_mask = forwarded(false);
    for (const int signal : kForwarded) sigaction(signal, &action, nullptr);
    const sigset_t all = forwarded(false);
    sigprocmask(SIG_UNBLOCK, &all, nullptr);
}

void forward_to(pid_t program) { g_program = program; }

void stop_forwarding() {
    const sigset_t all = forwarded(true);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    g_program = 0;
    if (g_witness > 0) {
        kill(g_witness, SIGKILL);
        waitpid(g_witness, nullptr, 0);
    }
    g_witness = 0;
    if (g_seen >= 0) close(g_seen);
    g_seen = -1;
}

}  // namespace tessera::counters
