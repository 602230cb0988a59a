// The fragmenter reaches what its plan computes, keeps its share, frees everything, and names what it cannot reach.
#include <gtest/gtest.h>

#include <algorithm>

#include "support.h"

using tests::gib;
using tests::Memory;
using tests::mib;

namespace {

fragmenter_goal goal(fragmenter_index index, int target, unsigned order = 9, phys_zone zone = PHYS_DMA32) {
    return {.zone = zone, .index = index, .order = order, .target = target, .tolerance = 2, .movable_share = 250, .seed = 7};
}

struct Row {
    fragmenter_index index;
    unsigned order;
    int target;
};
struct Reaches : testing::TestWithParam<Row> {};

TEST_P(Reaches, TheTargetOnFreshMemory) {
    Memory memory = Memory::pc(gib);
    const fragmenter_goal wanted = goal(GetParam().index, GetParam().target, GetParam().order);
    fragmenter_pins pins;
    ASSERT_TRUE(fragmenter_run(&memory.p, &wanted, &pins, &memory.failure)) << memory.failure.asked << ": " << memory.failure.found;
    const zone &zone = memory.p.zones[PHYS_DMA32];
    const int index = wanted.index == FRAGMENTER_EXTFRAG ? extfrag_index(&zone, wanted.order) : unusable_index(&zone, wanted.order);
    EXPECT_EQ(index, pins.reached);
    EXPECT_NEAR(index, wanted.target, 2);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
    EXPECT_EQ(phys_zone_free(&memory.p, PHYS_DMA32) + pins.count, 258048);
    const double movable = static_cast<double>(bitmap_count(memory.p.frames.lru, 0, memory.p.frames.count));
    if (pins.count > 400) {
        EXPECT_NEAR(movable / pins.count, 0.25, 0.1);
    }
    fragmenter_release(&memory.p, &pins);
    EXPECT_EQ(zone.blocks[10], 252u);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Rows, Reaches,
                         testing::Values(Row{FRAGMENTER_UNUSABLE, 9, 0}, Row{FRAGMENTER_UNUSABLE, 9, 100}, Row{FRAGMENTER_UNUSABLE, 9, 500},
                                         Row{FRAGMENTER_UNUSABLE, 9, 999}, Row{FRAGMENTER_UNUSABLE, 9, 1000},
                                         Row{FRAGMENTER_UNUSABLE, 10, 700}, Row{FRAGMENTER_UNUSABLE, 4, 300},
                                         Row{FRAGMENTER_UNUSABLE, 1, 50}, Row{FRAGMENTER_EXTFRAG, 9, 500}, Row{FRAGMENTER_EXTFRAG, 9, 700},
                                         Row{FRAGMENTER_EXTFRAG, 9, 889}, Row{FRAGMENTER_EXTFRAG, 9, 950}, Row{FRAGMENTER_EXTFRAG, 9, 997},
                                         Row{FRAGMENTER_EXTFRAG, 10, 800}, Row{FRAGMENTER_EXTFRAG, 3, 600}, Row{FRAGMENTER_EXTFRAG, 1, 500},
                                         Row{FRAGMENTER_EXTFRAG, 9, 250}));

TEST(Fragmenter, LevelsByHand) {  // order 3: 8 frames. One pinned block of 4, 2, 1 frames; then one frame in each 2 or 4 parts
    const struct {
        unsigned level;
        uint32_t frames, blocks;
    } rows[] = {{0, 4, 1}, {1, 6, 2}, {2, 7, 3}, {3, 6, 4}, {4, 4, 4}};
    for (const auto &row : rows) {
        EXPECT_EQ(fragmenter_level_frames(3, row.level), row.frames) << row.level;
        EXPECT_EQ(fragmenter_level_blocks(3, row.level), row.blocks) << row.level;
    }
}

TEST(Fragmenter, ThePlanIsWhatHappens) {
    for (const int target : {450, 520, 640, 777, 888, 930, 990}) {
        Memory memory = Memory::pc(64 * mib);
        fragmenter_goal wanted = goal(FRAGMENTER_EXTFRAG, target, 6);
        wanted.tolerance = 1000;
        const fragmenter_plan plan = fragmenter_plan_for(&wanted, 12288 / 64, 0, 0);
        fragmenter_pins pins;
        ASSERT_TRUE(fragmenter_run(&memory.p, &wanted, &pins, &memory.failure));
        EXPECT_EQ(pins.reached, plan.expected) << target;
        fragmenter_release(&memory.p, &pins);
    }
}

TEST(Fragmenter, TheSeedDecides) {
    std::vector<uint32_t> frames[3];
    for (int run = 0; run < 3; ++run) {
        Memory memory = Memory::pc(64 * mib);
        fragmenter_goal wanted = goal(FRAGMENTER_UNUSABLE, 500);
        wanted.seed = run == 2 ? 8 : 7, wanted.tolerance = 30;
        fragmenter_pins pins;
        ASSERT_TRUE(fragmenter_run(&memory.p, &wanted, &pins, &memory.failure));
        frames[run].assign(pins.frames, pins.frames + pins.count);
        EXPECT_TRUE(std::is_sorted(frames[run].begin(), frames[run].end()));
        fragmenter_release(&memory.p, &pins);
    }
    EXPECT_EQ(frames[0], frames[1]);
    EXPECT_NE(frames[0], frames[2]);
}

TEST(Fragmenter, BrokenBlocksAreSpreadOverTheZone) {
    Memory memory = Memory::pc(gib);
    const fragmenter_goal wanted = goal(FRAGMENTER_UNUSABLE, 500);
    fragmenter_pins pins;
    ASSERT_TRUE(fragmenter_run(&memory.p, &wanted, &pins, &memory.failure));
    ASSERT_GT(pins.count, 200u);  // of 504 blocks of 2MB
    const auto low = std::count_if(pins.frames, pins.frames + pins.count, [](uint32_t frame) { return frame < 4096 + 258048 / 2; });
    EXPECT_NEAR(static_cast<double>(low) / pins.count, 0.5, 0.15);
    fragmenter_release(&memory.p, &pins);
}

TEST(Fragmenter, OnMemoryInUse) {
    Memory memory = Memory::pc(64 * mib);
    std::vector<uint32_t> held;
    for (int i = 0; i < 3000; ++i) held.push_back(memory.alloc());
    for (int i = 0; i < 3000; i += 3) memory.release(held[i]);
    fragmenter_goal wanted = goal(FRAGMENTER_UNUSABLE, 800);
    wanted.tolerance = 40;
    fragmenter_pins pins;
    ASSERT_TRUE(fragmenter_run(&memory.p, &wanted, &pins, &memory.failure)) << memory.failure.found;
    EXPECT_EQ(phys_check(&memory.p), nullptr);
    fragmenter_release(&memory.p, &pins);
    for (int i = 0; i < 3000; ++i) {
        if (i % 3 == 0) continue;
        ASSERT_TRUE(memory.release(held[i]));
    }
}

TEST(Fragmenter, FailureNamesTargetAndNearestAndFreesAll) {
    Memory memory = Memory::pc(gib);
    // 999 is the most for order 9: 129024 blocks of one frame give 1000 - 253000 / 129024.
    const fragmenter_goal wanted = goal(FRAGMENTER_EXTFRAG, 1000);
    fragmenter_goal exact = wanted;
    exact.tolerance = 0;
    fragmenter_pins pins;
    EXPECT_FALSE(fragmenter_run(&memory.p, &exact, &pins, &memory.failure));
    EXPECT_NE(std::string(memory.failure.asked).find("1000"), std::string::npos);
    EXPECT_NE(std::string(memory.failure.found).find("999"), std::string::npos) << memory.failure.found;
    EXPECT_EQ(memory.p.zones[PHYS_DMA32].blocks[10], 252u);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
    EXPECT_EQ(pins.count, 0u);
}

TEST(Fragmenter, ImpossibleGoals) {
    Memory memory = Memory::pc(64 * mib);
    const std::string before = memory.snapshot();
    fragmenter_goal rows[6];
    for (fragmenter_goal &row : rows) row = goal(FRAGMENTER_UNUSABLE, 500);
    rows[0].zone = PHYS_NORMAL, rows[1].order = 0, rows[2].order = 11, rows[3].target = 1001;
    rows[4].tolerance = -1, rows[5].movable_share = 1001;
    for (const fragmenter_goal &row : rows) {
        fragmenter_pins pins;
        EXPECT_FALSE(fragmenter_run(&memory.p, &row, &pins, &memory.failure));
        EXPECT_EQ(memory.snapshot(), before);
        EXPECT_NE(std::string(memory.failure.remedy).find("1 to 10"), std::string::npos) << memory.failure.remedy;
    }
}

}  // namespace
