// Threads that end a region at the same instant: one of them ends it, the others are outside of it.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "hook/control.h"

using namespace tessera::counters;

namespace {

constexpr int kNoDescriptor = 1 << 20, kEvents = 1000;  // every ioctl fails; together they take long enough for both threads
constexpr uint32_t kRounds = 2000;

/// Waits until all threads are here.
class Meeting {
public:
    explicit Meeting(int threads) : threads_(threads) {}
    void wait() {
        const uint32_t round = round_.load();
        if (here_.fetch_add(1) + 1 < threads_) {
            while (round_.load() == round) std::this_thread::yield();
            return;
        }
        here_ = 0;
        ++round_;
    }

private:
    const int threads_;
    std::atomic<int> here_{0};
    std::atomic<uint32_t> round_{0};
};

TEST(Region, TwoThreadsEndItOnce) {
    RegionPage page = {};
    control() = {&page, kNoDescriptor, kEvents};
    Meeting meeting(2);
    const auto run = [&meeting](bool begins) {
        for (uint32_t i = 0; i < kRounds; ++i) {
            if (begins) begin_region();
            meeting.wait();
            end_region();
            meeting.wait();
        }
    };
    std::thread other(run, false);
    run(true);
    other.join();
    EXPECT_EQ(page.begun, kRounds);
    EXPECT_EQ(page.ended, kRounds);
    EXPECT_EQ(page.stray, kRounds);
    EXPECT_EQ(page.nested, 0u);
    EXPECT_EQ(page.open, kClosed);
}

TEST(Region, OneThatBeginsTwiceIsNested) {
    RegionPage page = {};
    control() = {&page, kNoDescriptor, kEvents};
    begin_region();
    begin_region();
    EXPECT_EQ(page.open, kOpen);
    end_region();
    EXPECT_EQ(page.begun, 1u);
    EXPECT_EQ(page.nested, 1u);
    EXPECT_EQ(page.ended, 1u);
    EXPECT_EQ(page.stray, 0u);
}

}  // namespace
