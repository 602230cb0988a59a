// Both indices by hand.
#include <gtest/gtest.h>

#include "support.h"

namespace {

zone with_blocks(std::vector<uint32_t> counts) {
    zone zone{};
    for (size_t order = 0; order < counts.size(); ++order) zone.blocks[order] = counts[order];
    return zone;
}

TEST(Indices, ExtfragByHand) {
    const zone hundred = with_blocks({100});          // 100 frames in 100 blocks
    EXPECT_EQ(extfrag_index(&hundred, 0), -1000);
    EXPECT_EQ(extfrag_index(&hundred, 1), 490);       // 1000 - (1000 + 50000) / 100
    EXPECT_EQ(extfrag_index(&hundred, 9), 989);       // 1000 - (1000 + 195) / 100 = 1000 - 11
    const zone mixed = with_blocks({3, 0, 5});        // 23 frames in 8 blocks
    EXPECT_EQ(extfrag_index(&mixed, 2), -1000);
    EXPECT_EQ(extfrag_index(&mixed, 3), 516);         // 1000 - (1000 + 2875) / 8 = 1000 - 484
    const zone one = with_blocks({0, 0, 1});
    EXPECT_EQ(extfrag_index(&one, 3), -500);          // 1000 - (1000 + 500): memory is short
}

TEST(Indices, UnusableByHand) {
    const zone mixed = with_blocks({3, 0, 5, 0, 1});  // 39 frames: 16 of them in order 4
    EXPECT_EQ(unusable_index(&mixed, 0), 0);
    EXPECT_EQ(unusable_index(&mixed, 1), 76);         // 3 / 39
    EXPECT_EQ(unusable_index(&mixed, 2), 76);
    EXPECT_EQ(unusable_index(&mixed, 3), 589);        // 23 / 39
    EXPECT_EQ(unusable_index(&mixed, 4), 589);
    EXPECT_EQ(unusable_index(&mixed, 5), 1000);
}

TEST(Indices, NothingFree) {
    const zone none = with_blocks({});
    EXPECT_EQ(extfrag_index(&none, 9), 0);
    EXPECT_EQ(unusable_index(&none, 9), 1000);
}

TEST(Indices, FramesOnPerCpuListsDoNotCount) {
    tests::Memory memory = tests::Memory::of({{8192, 8192 + 1024}});
    memory.release(memory.alloc());
    const zone &zone = memory.p.zones[PHYS_DMA32];
    ASSERT_GT(zone.percpu[0].count, 0);
    EXPECT_EQ(unusable_index(&zone, 10), 1000);
}

}  // namespace
