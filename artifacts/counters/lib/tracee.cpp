#include "counters/tracee.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counters/signals.h"

namespace tessera::counters {
namespace {

volatile sig_atomic_t g_ticked = 0;

/// The timer's signal only interrupts waitpid.
void start_timer(unsigned interval_ms) {
    if (interval_ms == 0) return;
    struct sigaction action = {};
    action.sa_handler = [](int) { g_ticked = 1; };
    sigaction(SIGALRM, &action, nullptr);
    const timeval each = {interval_ms / 1000, interval_ms % 1000 * 1000};
    const itimerval timer = {each, each};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

bool is_stop_signal(int signal) { return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

/// Lets a stopped task go on in the way its stop asks for.
void resume(int pid, int status, const std::function<void(int)>& at_exit, bool let_go) {
    const int signal = WSTOPSIG(status), event = status >> 16;
    if (let_go && event == PTRACE_EVENT_STOP && signal == SIGTRAP) {  // the first stop of a new process
        ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
        return;
    }
    if (event == PTRACE_EVENT_EXIT) at_exit(pid);
    if (event == PTRACE_EVENT_STOP && is_stop_signal(signal)) {
        ptrace(PTRACE_LISTEN, pid, nullptr, nullptr);  // job control: stay stopped until SIGCONT
        return;
    }
    const long deliver = event == 0 ? signal : 0;
    ptrace(PTRACE_CONT, pid, nullptr, reinterpret_cast<void*>(deliver));
}

/// The child of a task that stops at a fork, else 0.
int new_child(int pid, int status) {
    unsigned long child = 0;
    const int event = status >> 16;
    if (event != PTRACE_EVENT_FORK && event != PTRACE_EVENT_VFORK) return 0;
    return ptrace(PTRACE_GETEVENTMSG, pid, nullptr, &child) == 0 ? static_cast<int>(child) : 0;
}

}  // namespace

Ending run_traced(const std::string& path, const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                  Follow follow, const std::function<void(int)>& at_exit, const std::function<int()>& target, const Ticks& ticks,
                  Counting* counting) {
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
    int start[2], failure[2];
    if (pipe2(start, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) return {0, strerror(errno), {}};
    const pid_t program = fork();
    if (program < 0) return {0, strerror(errno), {}};
    if (program == 0) {
        release_in_child();
        close(start[1]);
        if (counting != nullptr && !counting->open()) _exit(127);
        char go;
        if (read(start[0], &go, 1) != 1) _exit(127);
        if (counting != nullptr) counting->about_to_start();
        execve(path.c_str(), argv.data(), envp.data());
        const int error = errno;
        const ssize_t written = write(failure[1], &error, sizeof error);
        _exit(written == sizeof error ? 127 : 126);
    }
    close(start[0]);
    close(failure[1]);
    if (counting != nullptr) {
        if (const Problem problem = counting->connect()) {
            close(start[1]);
            waitpid(program, nullptr, 0);
            return {0, "", problem};
        }
    }
    long options = PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    if (follow != Follow::none) options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    if (follow == Follow::all) options |= PTRACE_O_TRACECLONE;
    if (ptrace(PTRACE_SEIZE, program, nullptr, reinterpret_cast<void*>(options)) != 0) {
        const std::string error = std::string("the system rejects ptrace: ") + strerror(errno);
        kill(program, SIGKILL);
        waitpid(program, nullptr, 0);
        return {0, error, {}};
    }
    start_forwarding(program);
    if (write(start[1], "g", 1) != 1) return {0, strerror(errno), {}};
    close(start[1]);
    start_timer(ticks.interval_ms);
    std::set<int> traced = {program}, ended;
    int program_status = 0;
    std::string failed;
    for (;;) {
        if (ticks.interval_ms != 0 && g_ticked) {
            g_ticked = 0;
            ticks.tick();
        }
        int status = 0;
        const pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) return {0, strerror(errno), {}};
        if (WIFSTOPPED(status)) {
            traced.insert(pid);
            // The parent stops at its fork, so its child is known before the parent can end.
            const int child = follow == Follow::starters && target() == 0 ? new_child(pid, status) : 0;
            if (child != 0 && ended.count(child) == 0) traced.insert(child);
            const bool let_go = follow == Follow::starters && target() != 0 && target() != pid;
            resume(pid, status, at_exit, let_go);
            if (let_go && pid != program) traced.erase(pid);
            continue;
        }
        traced.erase(pid);
        ended.insert(pid);
        if (pid == program) {
            program_status = status;
            int error = 0;
            if (read(failure[0], &error, sizeof error) == sizeof error) failed = strerror(error);
        }
        // A starter such as setsid may end before the program that it started.
        const bool waiting = follow == Follow::starters && (target() == 0 ? !traced.empty() : traced.count(target()) != 0);
        if (traced.count(program) != 0 || waiting) {
            if (traced.count(program) == 0) forward_to(target() != 0 ? target() : *traced.begin());
            continue;
        }
        stop_forwarding();
        return {program_status, failed, {}};
    }
}

}  // namespace tessera::counters
