// crew_test.cpp - order of output, passes on threads, progress lines, reading ahead.
#include <gtest/gtest.h>

#include <atomic>

#include "cli/crew.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "engine/read_ahead.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

TEST(InOrderTest, GivesTextsOutByPlaceAsSoonAsItCan) {
    std::string got;
    InOrder order(4, [&](const std::string& text) { got += text; });
    order.put(2, "c");
    EXPECT_EQ(got, "");
    order.put(0, "a");
    EXPECT_EQ(got, "a");
    order.put(1, "b");
    EXPECT_EQ(got, "abc");
}

TEST(InOrderTest, FlushGivesWhatWaits) {
    std::string got;
    InOrder order(4, [&](const std::string& text) { got += text; });
    order.put(3, "d");
    order.put(1, "b");
    order.flush();
    EXPECT_EQ(got, "bd");
}

TEST(CrewTest, EveryGroupIsDoneOnce) {
    for (size_t workers : {1, 3}) {
        std::vector<std::atomic<int>> done(50);
        Crew().run(50, workers, [&](size_t worker, size_t group) {
            EXPECT_LT(worker, workers);
            ++done[group];
        });
        for (const auto& count : done) EXPECT_EQ(count, 1);
    }
}

TEST(CrewTest, AFailureStopsTheOthersAndIsTheOneReported) {
    Crew crew;
    std::atomic<int> begun{0};
    const auto work = [&](size_t, size_t group) {
        ++begun;
        if (group == 0) throw std::runtime_error("broken");
        while (!crew.failed()) std::this_thread::yield();
        throw Stopped();
    };
    EXPECT_THROW(crew.run(100, 2, work), std::runtime_error);
    EXPECT_LE(begun, 3);
}

TEST(ProgressLine, HasRateAndTimeLeft) {
    EXPECT_EQ(Progress::line(0, 100, 0.5), "progress 0 100 - -");
    EXPECT_EQ(Progress::line(50, 100, 0.5), "progress 50 100 - -") << "too early to tell";
    EXPECT_EQ(Progress::line(4'000'000, 10'000'000, 2), "progress 4000000 10000000 2000000 3");
    EXPECT_EQ(Progress::line(10, 10, 4), "progress 10 10 3 0");
    EXPECT_EQ(Progress::sentence(4'000'000, 10'000'000, 2), " 40%  2.0 M accesses x layouts/s, 3 s left");
}

MemoryStream numbered(size_t loads) {
    StreamBuilder builder(uint64_t{4} << 30, uint64_t{4} << 30, 100);
    const uint32_t block = builder.independent_load();
    for (size_t i = 0; i < loads; ++i) builder.load(block, heap_base + i * 64);
    return builder.finish();
}

TEST(ReadAheadTest, GivesTheSameFramesAgainAndAgain) {
    MemoryStream source = numbered(1234);
    ReadAhead ahead(source);
    trace::Frame frame;
    for (int round = 0; round < 3; ++round) {
        ahead.rewind();
        uint64_t next = heap_base;
        while (ahead.next(frame))
            for (uint64_t address : frame.addresses) {
                ASSERT_EQ(address, next);
                next += 64;
            }
        EXPECT_EQ(next, heap_base + 1234 * 64);
        EXPECT_FALSE(ahead.next(frame)) << "the end is the end";
    }
    ahead.rewind();
    ASSERT_TRUE(ahead.next(frame));  // and it can be left in the middle
}

TEST(ReadAheadTest, PassesOnWhatTheSourceThrowsInItsPlace) {
    struct Breaks final : Stream {
        MemoryStream good = numbered(250);
        int left = 2;
        const trace::Header& header() const override { return good.header(); }
        const std::vector<trace::StaticBlock>& blocks() const override { return good.blocks(); }
        void rewind() override { good.rewind(); }
        bool next(trace::Frame& out) override {
            if (left-- == 0) throw trace::TraceError("frame 2 at byte 7", "damaged", "record it again");
            return good.next(out);
        }
    } source;
    ReadAhead ahead(source);
    trace::Frame frame;
    ahead.rewind();
    EXPECT_TRUE(ahead.next(frame));
    EXPECT_TRUE(ahead.next(frame));
    EXPECT_EQ(frame.addresses[0], heap_base + 100 * 64);
    EXPECT_THROW(ahead.next(frame), trace::TraceError);
}

}  // namespace
}  // namespace tessera::sim::testing
