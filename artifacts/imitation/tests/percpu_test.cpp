// Per-CPU lists: sizes of refills and returns, self-tuning, order of frames.
#include <gtest/gtest.h>

#include "support.h"

using tests::gib;
using tests::Memory;
using Frames = std::vector<uint32_t>;

namespace {

TEST(PerCpu, BatchByHand) {
    const struct {
        uint32_t managed;
        int32_t batch;
    } rows[] = {  // quarter of managed / 1024, half more, down to 2^n, minus 1
                {0, 1}, {4095, 1}, {8191, 1}, {8192, 1}, {12 * 1024, 3}, {172 * 1024 - 1, 31}, {172 * 1024, 63}, {1u << 28, 63}};
    for (const auto &row : rows) EXPECT_EQ(percpu_batch(row.managed), row.batch) << row.managed;
}

TEST(PerCpu, LimitsAreShared) {  // 4GB: Normal has low 5280, managed 262144
    phys_config config = phys_config_default();
    Memory one = Memory::pc(4 * gib, config);
    config.cpus = 4;
    Memory four = Memory::pc(4 * gib, config);
    EXPECT_EQ(one.p.zones[PHYS_NORMAL].percpu[0].high_min, 5280);
    EXPECT_EQ(one.p.zones[PHYS_NORMAL].percpu[0].high_max, 32768);
    EXPECT_EQ(four.p.zones[PHYS_NORMAL].percpu[3].high_min, 1320);
    EXPECT_EQ(four.p.zones[PHYS_NORMAL].percpu[3].high_max, 8192);
    EXPECT_EQ(four.p.zones[PHYS_DMA].percpu[0].high_min, 20);
    config.cpus = 64;
    Memory many = Memory::pc(4 * gib, config);
    EXPECT_EQ(many.p.zones[PHYS_NORMAL].percpu[0].high_min, 4 * 63);  // 5280 / 64 = 82 is below four batches
}

TEST(PerCpu, DriftThresholdByHand) {
    EXPECT_EQ(percpu_drift_threshold(1, 1u << 18), 10);      // 1GB: 8 units, fls 4: 2 x 1 x 5
    EXPECT_EQ(percpu_drift_threshold(2, 1u << 18), 20);
    EXPECT_EQ(percpu_drift_threshold(1, 3998), 2);
    EXPECT_EQ(percpu_drift_threshold(64, 1u << 21), 112);    // 64 units: 2 x 7 x 8
    EXPECT_EQ(percpu_drift_threshold(64, 1u << 22), 125);    // 126 is above the limit
}

TEST(PerCpu, CacheDecidesWhetherABatchIsKept) {
    phys_config config = phys_config_default();
    config.cache_slice_bytes = 189 * 4096 + 4095;
    EXPECT_FALSE(Memory::pc(4 * gib, config).p.zones[PHYS_NORMAL].percpu[0].keeps_batch);  // 189 = 3 x 63
    config.cache_slice_bytes = 190 * 4096;
    EXPECT_TRUE(Memory::pc(4 * gib, config).p.zones[PHYS_NORMAL].percpu[0].keeps_batch);
}

struct Normal : testing::Test {
    Memory memory = Memory::pc(4 * gib);
    zone &normal = memory.p.zones[PHYS_NORMAL];
    percpu &lists = normal.percpu[0];
    std::vector<uint32_t> refills() const {
        std::vector<uint32_t> got;
        for (const phys_event &event : memory.of_kind(PHYS_REFILL)) got.push_back(event.other);
        return got;
    }
};

TEST_F(Normal, RefillsOfOrderZeroDoubleFiveTimes) {
    memory.record();
    for (int i = 0; i < 63 * (1 + 2 + 4 + 8 + 16 + 32 + 32) + 1; ++i) memory.alloc();
    EXPECT_EQ(refills(), (Frames{63, 126, 252, 504, 1008, 2016, 2016, 2016}));
    EXPECT_EQ(lists.high, 5280 + 63 * (1 + 2 + 4 + 8 + 16 + 32 + 32 + 32));  // each refill raises high by its batch
}

TEST_F(Normal, FramesAscend) {
    const uint32_t first = memory.alloc();
    EXPECT_EQ(first, 1u << 20);
    for (uint32_t i = 1; i < 2000; ++i) EXPECT_EQ(memory.alloc(), first + i);
}

TEST_F(Normal, EveryFreeHalvesTheNextRefill) {
    memory.record();
    Frames taken;
    for (int i = 0; i < 63 * 7; ++i) taken.push_back(memory.alloc());  // 63, 126, 252: alloc_factor is 3
    EXPECT_EQ(lists.alloc_factor, 3);
    memory.release(taken[0]);
    memory.release(taken[1]);
    EXPECT_EQ(lists.alloc_factor, 0);
    EXPECT_EQ(memory.alloc(), taken[1]);  // the block freed last comes first
    EXPECT_EQ(memory.alloc(), taken[0]);
    memory.alloc();
    EXPECT_EQ(refills().back(), 63u);
}

TEST_F(Normal, RefillOfHigherOrders) {
    memory.record();
    memory.alloc(1), memory.alloc(2), memory.alloc(3), memory.alloc(9);
    EXPECT_EQ(refills(), (Frames{31, 15, 7, 2}));  // 63 >> order, at least 2
    memory.alloc(1, PHYS_UNMOVABLE);
    EXPECT_EQ(refills().back(), 31u);
    memory.alloc(4);
    EXPECT_EQ(refills().size(), 5u);               // order 4 has no list
    EXPECT_EQ(lists.count, 2 * (30 + 30) + 4 * 14 + 8 * 6 + 512);
}

TEST_F(Normal, HugeListsAreMovableAndOthers) {
    memory.alloc(9, PHYS_UNMOVABLE);
    EXPECT_EQ(memory.percpu(normal, 0, 9, PHYS_UNMOVABLE).size(), 1u);
    const uint32_t other = memory.percpu(normal, 0, 9, PHYS_UNMOVABLE)[0];
    EXPECT_EQ(memory.alloc(9, PHYS_RECLAIMABLE), other);
    EXPECT_NE(memory.alloc(9, PHYS_MOVABLE), PHYS_NO_FRAME);
    EXPECT_EQ(memory.percpu(normal, 0, 9, PHYS_MOVABLE).size(), 1u);
}

TEST_F(Normal, AFreeAtHighReturnsTheOldest) {
    Frames taken;
    for (int i = 0; i < 20000; ++i) taken.push_back(memory.alloc());
    percpu_drain_all(&memory.p, 0);
    lists.high = 0;  // as after a long idle time: clamped to high_min
    memory.record();
    for (int i = 0; i < 5280; ++i) memory.release(taken[i]);
    const auto drains = memory.of_kind(PHYS_DRAIN);
    ASSERT_EQ(drains.size(), 1u);
    // free_count is held at 32 batches: 63 << 5 = 2016. high - batch = 5217 is larger.
    EXPECT_EQ(drains[0].other, 2016u);
    EXPECT_EQ(lists.count, 5280 - 2016);
    EXPECT_EQ(memory.of_kind(PHYS_PUT)[0].frame, taken[0]);
    EXPECT_EQ(lists.high, 5280);  // 2016 + 63 fit below high, so high stays
}

TEST_F(Normal, HighGrowsUpToWhatIsFreedAtOnce) {
    lists.high_min = 252, lists.high = 252;
    Frames taken;
    for (int i = 0; i < 5000; ++i) taken.push_back(memory.alloc());
    percpu_drain_all(&memory.p, 0);
    lists.high = 252, lists.free_count = 0;
    for (int i = 0; i < 252; ++i) memory.release(taken[i]);
    EXPECT_EQ(lists.count, 252 - 189);          // free_count 252 is limited to high - batch = 189
    EXPECT_EQ(lists.high, 252 + 63);            // free_count + batch
}

TEST_F(Normal, BelowHighShrinks) {
    Frames taken;
    for (int i = 0; i < 1000; ++i) taken.push_back(memory.alloc());
    normal.below_high = true;
    lists.high = 30000;
    normal.free_frames = 0;  // so that the zone stays below
    memory.release(taken[0]);
    EXPECT_EQ(lists.high, 30000 - 63);
    memory.release(taken[1]);
    EXPECT_EQ(lists.high, 30000 - 2 * 63);
    normal.free_frames = 200000;
    lists.count = lists.high_min;               // above high_min, each free returns some
    const int32_t before = lists.count;
    memory.record();
    memory.release(taken[2]);
    EXPECT_LT(lists.count, before);
    EXPECT_FALSE(normal.below_high);
    EXPECT_EQ(memory.of_kind(PHYS_BELOW_HIGH).size(), 1u);
}

TEST_F(Normal, ManyHighOrderFreesGoBackAtOnce) {
    Frames taken;
    for (int i = 0; i < 40; ++i) taken.push_back(memory.alloc(3));
    percpu_drain_all(&memory.p, 0);
    memory.record();
    for (int i = 0; i < 8; ++i) memory.release(taken[i], 3);  // free_count 0, 8, .. 56 before each: below the batch
    EXPECT_EQ(memory.of_kind(PHYS_DRAIN).size(), 0u);
    memory.release(taken[8], 3);                              // 64 >= 63, and the free before had order 3
    ASSERT_EQ(memory.of_kind(PHYS_DRAIN).size(), 1u);
    EXPECT_EQ(memory.of_kind(PHYS_DRAIN)[0].other, 72u);
    EXPECT_EQ(lists.count, 0);
}

TEST_F(Normal, AnOrderZeroFreeBetweenHighOrdersKeepsThem) {
    Frames taken;
    const uint32_t small = memory.alloc(0);
    for (int i = 0; i < 12; ++i) taken.push_back(memory.alloc(3));
    percpu_drain_all(&memory.p, 0);
    memory.record();
    for (int i = 0; i < 8; ++i) memory.release(taken[i], 3);
    memory.release(small, 0);
    memory.release(taken[8], 3);  // 65 >= 63, but the free before had order 0
    EXPECT_EQ(memory.of_kind(PHYS_DRAIN).size(), 0u);
    memory.release(taken[9], 3);
    EXPECT_EQ(memory.of_kind(PHYS_DRAIN).size(), 1u);
}

TEST_F(Normal, ALargeCacheKeepsABatch) {
    lists.keeps_batch = true;
    Frames taken;
    for (int i = 0; i < 40; ++i) taken.push_back(memory.alloc(3));
    percpu_drain_all(&memory.p, 0);
    lists.free_count = 63;
    memory.release(taken[0], 3);  // the free before was of no high order
    memory.record();
    for (int i = 1; i < 7; ++i) memory.release(taken[i], 3);
    EXPECT_EQ(memory.of_kind(PHYS_DRAIN).size(), 0u);  // 56 frames
    memory.release(taken[7], 3);                       // 64 >= 63
    EXPECT_EQ(memory.of_kind(PHYS_DRAIN).size(), 1u);
}

TEST_F(Normal, ReturnsRotateFromTheFreedList) {
    Frames small, large;
    const uint32_t unmovable = memory.alloc(0, PHYS_UNMOVABLE);
    for (int i = 0; i < 5; ++i) small.push_back(memory.alloc(0));
    for (int i = 0; i < 3; ++i) large.push_back(memory.alloc(2));
    percpu_drain_all(&memory.p, 0);
    for (const uint32_t frame : large) memory.release(frame, 2);
    for (int i = 0; i < 4; ++i) memory.release(small[i], 0);
    memory.release(unmovable, 0);
    ASSERT_EQ(memory.percpu(normal, 0, 0, PHYS_UNMOVABLE).size(), 1u);  // list 0: the rotation does not start there
    lists.high = lists.high_min = lists.high_max = 18, lists.batch = 2, lists.free_count = 5;
    memory.record();
    memory.release(small[4], 0);  // count 18: returns 6 frames, five of order 0, then a block of order 2
    const auto puts = memory.of_kind(PHYS_PUT);
    ASSERT_EQ(puts.size(), 6u);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(puts[i].other, 0u);
    EXPECT_EQ(puts[5].other, 2u);
    EXPECT_EQ(lists.count, 18 - 9);
    EXPECT_EQ(memory.percpu(normal, 0, 2, PHYS_MOVABLE), (Frames{large[2], large[1]}));
}

TEST(PerCpu, RefillsStayBelowHigh) {
    // high is fixed at 252; room for 252 - count - 63 blocks, at least a batch
    const struct {
        int32_t count;
        uint8_t factor;
        int32_t blocks;
        uint8_t factor_after;
    } rows[] = {{63, 1, 126, 2}, {64, 1, 125, 1}, {126, 0, 63, 1}, {127, 0, 63, 1}, {188, 2, 63, 2}, {0, 5, 189, 5}};
    for (const auto &row : rows) {
        zone zone{};
        percpu lists{};
        lists.high = lists.high_min = lists.high_max = 252, lists.batch = 63, lists.count = row.count, lists.alloc_factor = row.factor;
        EXPECT_EQ(percpu_refill_blocks(&lists, &zone, 0), row.blocks) << row.count;
        EXPECT_EQ(lists.alloc_factor, row.factor_after) << row.count;
        EXPECT_EQ(lists.high, 252);
    }
}

TEST(PerCpu, BelowHighOrUnderReclaimHighDoesNotGrow) {
    zone zone{};
    percpu lists{};
    lists.high = 1000, lists.high_min = 252, lists.high_max = 5000, lists.batch = 63, lists.free_count = 100;
    percpu_refill_blocks(&lists, &zone, 3);
    EXPECT_EQ(lists.high, 1063);
    zone.below_high = true;
    percpu_refill_blocks(&lists, &zone, 3);
    EXPECT_EQ(lists.high, 1063);
    zone.reclaim_active = true;
    EXPECT_EQ(percpu_high(&lists, &zone, false), 252);   // four batches
    EXPECT_EQ(lists.high, 963);                          // 1063 - free_count
    lists.high_min = 0, lists.high = 150;
    EXPECT_EQ(percpu_high(&lists, &zone, false), 50);    // what high has fallen to, if that is less
}

TEST(PerCpu, SizeOfAReturn) {
    percpu lists{};
    lists.batch = 63, lists.count = 3000;
    const struct {
        int32_t free_count, high;
        bool many;
        int32_t frames;
    } rows[] = {{0, 252, false, 63}, {100, 252, false, 100}, {190, 252, false, 189}, {0, 62, false, 1}, {0, 0, true, 2016}};
    for (const auto &row : rows) {
        lists.free_count = row.free_count;
        EXPECT_EQ(percpu_return_frames(&lists, row.high, row.many), row.frames) << row.free_count;
    }
    lists.count = 72;
    EXPECT_EQ(percpu_return_frames(&lists, 0, true), 72);
}

TEST_F(Normal, AnAllocationHalvesTheCountOfFrees) {
    Frames taken;
    for (int i = 0; i < 200; ++i) taken.push_back(memory.alloc());
    for (int i = 0; i < 101; ++i) memory.release(taken[i]);
    EXPECT_EQ(lists.free_count, 101);
    memory.alloc();
    EXPECT_EQ(lists.free_count, 50);
}

TEST_F(Normal, RefreshFoldsDriftAndLowersHighByAnEighth) {
    memory.alloc(4);  // 16 frames exceed the threshold of 10: nothing drifts
    EXPECT_EQ(lists.free_drift, 0);
    memory.alloc(10);
    const int64_t free = phys_zone_free(&memory.p, PHYS_NORMAL);
    normal.free_frames = free + 7, lists.free_drift = -7;
    lists.high = 8000;
    EXPECT_TRUE(percpu_refresh(&memory.p, 0));
    EXPECT_EQ(normal.free_frames, free);
    EXPECT_EQ(lists.high, 7000);
    EXPECT_TRUE(percpu_refresh(&memory.p, 0));   // 6125
    EXPECT_TRUE(percpu_refresh(&memory.p, 0));   // 6125 - 765 = 5360
    EXPECT_FALSE(percpu_refresh(&memory.p, 0));  // high_min
    EXPECT_EQ(lists.high, 5280);
}

TEST_F(Normal, RefreshReturnsWhatIsAboveHigh) {
    Frames taken;
    for (int i = 0; i < 12000; ++i) taken.push_back(memory.alloc());
    percpu_drain_all(&memory.p, 0);
    lists.high = 8000;
    for (int i = 0; i < 7500; ++i) memory.release(taken[i]);
    percpu_refresh(&memory.p, 0);
    EXPECT_EQ(lists.high, 7000);
    EXPECT_EQ(lists.count, 7000);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST_F(Normal, DriftStaysBelowItsThreshold) {
    zone &dma = memory.p.zones[PHYS_DMA];  // threshold 2
    const int64_t before = dma.free_frames;
    buddy_take(&memory.p, &dma, 0, PHYS_MOVABLE);
    buddy_take(&memory.p, &dma, 0, PHYS_MOVABLE);
    EXPECT_EQ(dma.free_frames, before);
    EXPECT_EQ(dma.percpu[0].free_drift, -2);
    buddy_take(&memory.p, &dma, 0, PHYS_MOVABLE);
    EXPECT_EQ(dma.free_frames, before - 3);
    EXPECT_EQ(dma.percpu[0].free_drift, 0);
    EXPECT_EQ(phys_zone_free(&memory.p, PHYS_DMA), before - 3);
}

TEST(PerCpu, CpusHaveListsOfTheirOwn) {
    phys_config config = phys_config_default();
    config.cpus = 2;
    Memory memory = Memory::pc(4 * gib, config);
    zone &normal = memory.p.zones[PHYS_NORMAL];
    const uint32_t first = memory.alloc(0, PHYS_MOVABLE, 0), other = memory.alloc(0, PHYS_MOVABLE, 1);
    EXPECT_EQ(other, first + 63);
    memory.release(first, 0, 1);
    EXPECT_EQ(normal.percpu[0].count, 62);
    EXPECT_EQ(normal.percpu[1].count, 63);
    percpu_drain(&memory.p, 0, 1);
    EXPECT_EQ(normal.percpu[0].count, 62);
    EXPECT_EQ(normal.percpu[1].count, 0);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST(PerCpu, OneZoneIsDrained) {
    Memory memory = Memory::pc(4 * gib);
    zone &normal = memory.p.zones[PHYS_NORMAL], &dma32 = memory.p.zones[PHYS_DMA32];
    memory.alloc(0, PHYS_MOVABLE, 0);                            // 63 frames come, 62 stay
    memory.p.cpu = 0;
    const uint32_t frame = percpu_take(&memory.p, &dma32, 0, PHYS_MOVABLE, 0);
    ASSERT_NE(frame, PHYS_NO_FRAME);
    ASSERT_EQ(normal.percpu[0].count, 62);
    const int32_t others = dma32.percpu[0].count;
    ASSERT_GT(others, 0);
    percpu_drain_zone(&memory.p, &normal, 0, 0);
    EXPECT_EQ(normal.percpu[0].count, 0);
    EXPECT_EQ(dma32.percpu[0].count, others);
}

}  // namespace
