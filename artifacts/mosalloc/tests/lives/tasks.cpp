// tasks.cpp - tasks that share memory, and even thread-local storage, with the thread that starts them: what
// clone(CLONE_VM) makes without CLONE_SETTLS. They map and unmap memory through libc at the same time as the thread.
#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "events.h"

namespace lives {
namespace {

constexpr unsigned kTasks = 2, kRounds = 30;
constexpr size_t kStack = 64 * 1024;

struct Task {
    unsigned number;
    unsigned wrong;
};

/// A byte for each kind of fault, so that the output shows which one it was.
constexpr unsigned kNotGiven = 1, kNotZero = 1 << 8, kNotItsOwn = 1 << 16, kFailed = 1 << 24;

/// Counts memory that was not given, not zero, or not its own, and other calls that failed.
unsigned map_and_check(unsigned number) {
    unsigned wrong = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
        const size_t pages = 1 + (number + round) % 5;
        char* at = static_cast<char*>(mmap(nullptr, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (at == MAP_FAILED) {
            wrong += kNotGiven;
            continue;
        }
        const char mark = static_cast<char>(number * 64 + round + 1);
        for (size_t i = 0; i < pages; ++i) wrong += at[i * kPage] != 0 ? kNotZero : 0u, at[i * kPage] = mark;
        if (round % 4 == 0) wrong += mprotect(at, kPage, PROT_READ) != 0 ? kFailed : 0u;
        for (size_t i = 0; i < pages; ++i) wrong += at[i * kPage] != mark ? kNotItsOwn : 0u;
        wrong += munmap(at, pages * kPage) != 0 ? kFailed : 0u;
    }
    return wrong;
}

int run(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    task.wrong = map_and_check(task.number);
    return static_cast<int>(task.number);
}

}  // namespace

void event_tasks(Self& s) {
    if (!s.options->tasks) return;
    s.t.log.begin("tasks");
    const Maps maps(s.t, Maps::shared);
    Task tasks[kTasks];
    pid_t ids[kTasks];
    const size_t bytes = kTasks * kStack;
    char* stacks = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (s.t.log.call("stacks", stacks)) {
        for (unsigned i = 0; i < kTasks; ++i) {
            tasks[i] = {i + 1, ~0u};
            ids[i] = clone(run, stacks + (i + 1) * kStack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &tasks[i]);
            s.t.log.result("task", ids[i] > 0);
        }
        s.t.log.result("wrong", map_and_check(0));
        for (unsigned i = 0; i < kTasks; ++i) {
            int status = 0;
            s.t.log.result("ended", waitpid(ids[i], &status, 0) == ids[i]);
            s.t.log.result("status", static_cast<uint64_t>(status));
            s.t.log.result("wrong", tasks[i].wrong);
        }
        s.t.log.call("munmap", munmap(stacks, bytes));
    }
    s.t.log.end();
}

}  // namespace lives
