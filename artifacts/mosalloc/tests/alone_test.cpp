// Who else can write to this memory: threads, and processes of clone(CLONE_VM).
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/alone.h"

namespace mosalloc {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kHasThreads = true;  // the sanitizer's own
#else
constexpr bool kHasThreads = false;
#endif

constexpr size_t kChildStackBytes = 256 << 10;
char g_child_stack[kChildStackBytes];
std::atomic<int> g_step{0};
std::atomic<bool> g_task_alone{true};

int look_and_wait(void*) {
    g_task_alone = is_alone();
    g_step = 1;
    while (g_step != 2) sched_yield();
    return 0;
}

TEST(AloneTest, OneThreadIsAlone) {
    if (kHasThreads) GTEST_SKIP() << "the sanitizer has threads";
    EXPECT_TRUE(is_alone());
}

TEST(AloneTest, BesideAThreadItIsNot) {
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) std::this_thread::yield();
    });
    EXPECT_FALSE(is_alone());
    done = true;
    other.join();
}

TEST(AloneTest, NeitherIsATaskWithTheSameMemoryNorItsParent) {
    if (kHasThreads) GTEST_SKIP() << "the sanitizer has threads, and does not know such tasks";
    g_step = 0;
    const int task = clone(look_and_wait, g_child_stack + kChildStackBytes, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, nullptr);
    ASSERT_GT(task, 0);
    while (g_step != 1) sched_yield();
    EXPECT_FALSE(is_alone());
    EXPECT_FALSE(g_task_alone);
    g_step = 2;
    int status = -1;
    ASSERT_EQ(waitpid(task, &status, 0), task);
    EXPECT_TRUE(is_alone());
}

TEST(AloneTest, AForkedChildIsAnotherMemory) {
    if (kHasThreads) GTEST_SKIP() << "the sanitizer has threads";
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        char go;
        const bool alone = is_alone();
        _exit(read(pipes[0], &go, 1) == 1 && alone ? 0 : 1);
    }
    EXPECT_TRUE(is_alone());
    ASSERT_EQ(write(pipes[1], "g", 1), 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mosalloc
