// prefetcher_test.cpp - the requests of stride and stream, on sequences computed by hand from the comments in their files.
#include <gtest/gtest.h>

#include <random>

#include "cache/prefetch_slots.h"

namespace tessera::sim::testing {
namespace {

using Lines = std::vector<int64_t>;  ///< line numbers, relative to page 16

constexpr uint64_t base = 16 * 4096;

/// Observes byte offsets from page 16 of one pc and gives the lines asked for after each.
std::vector<Lines> asked(Prefetcher& prefetcher, uint64_t pc, const std::vector<int64_t>& offsets) {
    std::vector<Lines> all;
    for (const int64_t offset : offsets) {
        std::vector<VirtAddr> wanted;
        prefetcher.observe({pc, VirtAddr(base + uint64_t(offset)), false}, wanted);
        Lines lines;
        for (VirtAddr target : wanted) lines.push_back(int64_t(target.value - base) >> 6);
        all.push_back(lines);
    }
    return all;
}

std::vector<int64_t> lines_to_offsets(Lines lines) {
    for (int64_t& line : lines) line *= 64;
    return lines;
}

TEST(Stride, AsksAfterThreeEqualStrides) {
    const auto p = prefetchers().make("stride", PrefetchSlot{"stride", 4, 2, 1}, Platform());
    EXPECT_EQ(asked(*p, 0x10, {0, 100, 200, 300, 400}), (std::vector<Lines>{{}, {}, {}, {6, 7}, {7, 9}}));
}

TEST(Stride, DistanceCountsStridesAndBackwardsWorks) {
    const auto p = prefetchers().make("stride", PrefetchSlot{"stride", 4, 2, 3}, Platform());
    EXPECT_EQ(asked(*p, 0x10, {3200, 3072, 2944, 2816}), (std::vector<Lines>{{}, {}, {}, {38, 36}}));  // 2816 - 3 x 128 = 2432, 2304
}

TEST(Stride, AnotherStrideStartsOverAndARepetitionChangesNothing) {
    const auto p = prefetchers().make("stride", PrefetchSlot{"stride", 4, 1, 1}, Platform());
    EXPECT_EQ(asked(*p, 0x10, {0, 64, 128, 128, 192, 448, 512, 576, 640}), (std::vector<Lines>{{}, {}, {}, {}, {4}, {}, {}, {}, {11}}));
}

TEST(Stride, SmallStridesAskOnlyForOtherLines) {
    const auto p = prefetchers().make("stride", PrefetchSlot{"stride", 4, 3, 2}, Platform());
    // 24 + 2..4 x 8 ends at 56, in the access's own line; 32 + 2..4 x 8 ends at 64.
    EXPECT_EQ(asked(*p, 0x10, {0, 8, 16, 24, 32, 40}), (std::vector<Lines>{{}, {}, {}, {}, {1}, {1}}));
}

TEST(Stride, StaysInThePage) {
    const auto p = prefetchers().make("stride", PrefetchSlot{"stride", 4, 4, 1}, Platform());
    EXPECT_EQ(asked(*p, 0x10, {3712, 3776, 3840, 3904}), (std::vector<Lines>{{}, {}, {}, {62, 63}}));
}

TEST(Stride, CountersOfOneRowPushEachOtherOut) {
    const auto p = prefetchers().make("stride", PrefetchSlot{"stride", 2, 1, 1}, Platform());
    asked(*p, 4, {0, 64, 128});
    asked(*p, 5, {0});  // the other row
    EXPECT_EQ(asked(*p, 4, {192}), (std::vector<Lines>{{4}}));
    asked(*p, 6, {0});  // 6 mod 2 is the row of 4
    EXPECT_EQ(asked(*p, 4, {256, 320, 384, 448}), (std::vector<Lines>{{}, {}, {}, {8}}));
}

TEST(Stream, RunsAheadUpToDistanceAndDegree) {
    const auto p = prefetchers().make("stream", PrefetchSlot{"stream", 2, 2, 4}, Platform());
    EXPECT_EQ(asked(*p, 0, lines_to_offsets({10, 11, 12, 13, 14, 15, 16})),
              (std::vector<Lines>{{}, {}, {13, 14}, {15, 16}, {17, 18}, {19}, {20}}));
}

TEST(Stream, TurnsRoundAndStartsOver) {
    const auto p = prefetchers().make("stream", PrefetchSlot{"stream", 2, 2, 4}, Platform());
    asked(*p, 0, lines_to_offsets({10, 11, 12}));
    EXPECT_EQ(asked(*p, 0, lines_to_offsets({12, 9, 7, 7, 6})), (std::vector<Lines>{{}, {}, {6, 5}, {}, {4, 3}}));
}

TEST(Stream, StaysInThePageAtBothEnds) {
    const auto p = prefetchers().make("stream", PrefetchSlot{"stream", 2, 8, 8}, Platform());
    EXPECT_EQ(asked(*p, 0, lines_to_offsets({59, 60, 61, 62, 63})), (std::vector<Lines>{{}, {}, {62, 63}, {}, {}}));
    EXPECT_EQ(asked(*p, 0, lines_to_offsets({-1 - 59, -1 - 60, -1 - 61})), (std::vector<Lines>{{}, {}, {-63, -64}}));  // page 15, downwards
}

TEST(Stream, ForgetsThePageThatWasUsedLongestAgo) {
    const auto p = prefetchers().make("stream", PrefetchSlot{"stream", 2, 1, 4}, Platform());
    asked(*p, 0, lines_to_offsets({1, 2}));
    asked(*p, 0, lines_to_offsets({64 + 1, 64 + 2}));
    EXPECT_EQ(asked(*p, 0, lines_to_offsets({3})), (std::vector<Lines>{{4}}));
    asked(*p, 0, lines_to_offsets({128 + 1}));  // takes the place of page 17
    EXPECT_EQ(asked(*p, 0, lines_to_offsets({4, 64 + 3, 64 + 4})), (std::vector<Lines>{{5}, {}, {}}));
}

TEST(Prefetchers, AskOnlyInsideThePageAndNeverForTheLineItself) {
    std::mt19937_64 random(11);
    const auto stride = prefetchers().make("stride", PrefetchSlot{"stride", 16, 8, 5}, Platform());
    const auto stream = prefetchers().make("stream", PrefetchSlot{"stream", 16, 8, 20}, Platform());
    uint64_t address = 1 << 30, step = 64, asked = 0;
    for (int i = 0; i < 200000; ++i) {
        if (random() % 20 == 0) address = random() % (uint64_t{1} << 47), step = random() % 700 - 350;
        address += step;
        for (Prefetcher* p : {stride.get(), stream.get()}) {
            std::vector<VirtAddr> wanted;
            p->observe({random() % 3, VirtAddr(address), false}, wanted);
            asked += wanted.size();
            for (VirtAddr target : wanted) {
                ASSERT_EQ(target.value >> 12, address >> 12);
                ASSERT_NE(target.value >> 6, address >> 6);
            }
        }
    }
    EXPECT_GT(asked, 10000u);
}

TEST(Prefetchers, RefuseASlotThatCannotWork) {
    for (const char* kind : {"stride", "stream"})
        for (const PrefetchSlot& slot : {PrefetchSlot{kind, 0, 1, 1}, PrefetchSlot{kind, 1, 0, 1}, PrefetchSlot{kind, 1, 1, 0}})
            EXPECT_THROW(prefetchers().make(kind, slot, Platform()), Refusal);
}

}  // namespace
}  // namespace tessera::sim::testing
