// The lock among tasks that are no threads: they share memory and even the thread-local storage of one thread.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "core/aside.h"
#include "core/lock.h"
#include "core/sys.h"

namespace mosalloc {
namespace {

constexpr size_t kTaskStackBytes = 256 << 10;
constexpr int kRounds = 20000;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // sanitizers keep their own state in thread-local storage
#else
constexpr bool kSanitized = false;
#endif

struct Shared {
    Lock lock;
    volatile uint64_t count = 0;
    volatile bool inside = false;
};

int add(void* at) {
    auto* shared = static_cast<Shared*>(at);
    for (int i = 0; i < kRounds; ++i) {
        shared->lock.acquire();
        shared->lock.acquire();  // recursive
        const uint64_t before = shared->count;
        if (i % 64 == 0) sys::call(SYS_sched_yield);
        shared->count = before + 1;
        shared->lock.release();
        shared->lock.release();
    }
    return 0;
}

int hold_forever(void* at) {
    auto* shared = static_cast<Shared*>(at);
    shared->lock.acquire();
    shared->inside = true;
    for (;;) sys::call(SYS_sched_yield);
}

/// A process of its own in the same memory, without thread-local storage of its own.
int start(int (*function)(void*), void* argument, char* stack) {
    return clone(function, stack + kTaskStackBytes, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, argument);
}

TEST(LockTest, TasksThatShareThreadLocalStorageExcludeEachOther) {
    if (kSanitized) GTEST_SKIP() << "sanitizers do not know such tasks";
    constexpr int kTasks = 3;
    static char stacks[kTasks][kTaskStackBytes];
    Shared shared;
    std::vector<int> tasks;
    for (auto& stack : stacks) tasks.push_back(start(add, &shared, stack));
    add(&shared);
    for (int task : tasks) {
        int status = -1;
        ASSERT_EQ(waitpid(task, &status, 0), task);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(shared.count, static_cast<uint64_t>(kTasks + 1) * kRounds);
    EXPECT_EQ(shared.lock.stolen(), 0u);
}

TEST(LockTest, AnOwnerThatWasKilledLosesIt) {
    if (kSanitized) GTEST_SKIP() << "sanitizers do not know such tasks";
    static char stack[kTaskStackBytes];
    Shared shared;
    const int task = start(hold_forever, &shared, stack);
    while (!shared.inside) sched_yield();
    ASSERT_EQ(kill(task, SIGTERM), 0);  // the owner blocks it
    ASSERT_EQ(kill(task, SIGKILL), 0);
    const auto before = std::chrono::steady_clock::now();
    shared.lock.acquire();  // nobody has waited for the task yet: it is a zombie
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
    EXPECT_TRUE(shared.lock.is_mine());
    EXPECT_EQ(shared.lock.stolen(), 1u);
    shared.lock.release();
    EXPECT_FALSE(shared.lock.is_mine());
    int status = 0;
    EXPECT_EQ(waitpid(task, &status, 0), task);
}

TEST(LockTest, AForkedChildAdoptsOrResets) {
    Shared shared;
    shared.lock.acquire();
    const pid_t child = fork();
    if (child == 0) {
        const bool copied = !shared.lock.is_mine();
        shared.lock.adopt();
        const bool adopted = shared.lock.is_mine();
        shared.lock.release();
        shared.lock.acquire();
        shared.lock.reset();
        shared.lock.acquire();
        _exit(copied && adopted && shared.lock.is_mine() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    shared.lock.release();
}

TEST(AsideTest, RunsOnAnotherStackInAnotherTaskAndReturnsTheResult) {
    static uint64_t frame, task;
    const uint64_t mine = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    const long me = sys::call(SYS_gettid), process = sys::getpid();
    for (long i = 0; i < 200; ++i) {
        const long result = run_aside([=]() -> long {
            frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
            task = static_cast<uint64_t>(sys::call(SYS_gettid));
            return sys::getpid() == process ? i - 100 : -1000;
        });
        ASSERT_EQ(result, i - 100);
        ASSERT_NE(task, static_cast<uint64_t>(me));
        ASSERT_GT(frame > mine ? frame - mine : mine - frame, uint64_t{64} << 10);
    }
}

}  // namespace
}  // namespace mosalloc
