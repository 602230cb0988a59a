// Counters that lag: sizes of the LRU lists and free frames, with the thresholds of mm/vmstat.c. Numbers by hand.
#include <gtest/gtest.h>

#include "pressure_support.h"

extern "C" {
#include "reclaim/reclaim.h"
}

using namespace tests;

namespace {

struct Counters : testing::Test {
    Counters() { lru_create(&lru, &memory.p); }
    ~Counters() override { lru_destroy(&lru); }
    void add(int pages) {
        for (int i = 0; i < pages; ++i) {
            const uint32_t frame = memory.alloc();
            lru_own(&lru, frame, LRU_OWNER_FILE, 0);
            lru_add(&lru, frame, 0);
        }
    }
    Memory memory = Memory::pc(64 * mib);     // less than 128MB: thresholds of 2
    struct lru lru{};
};

TEST_F(Counters, AThirdPageTakesTheOthersAlong) {
    add(31);                                  // the batch goes to the list page by page: 10 times three
    EXPECT_EQ(lru.size[LRU_INACTIVE_FILE], 31u);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 30u);
    EXPECT_EQ(lru_node_counted(&lru, LRU_INACTIVE_FILE), 30u);
    EXPECT_EQ(lru_zone_counted(&lru, PHYS_DMA32, LRU_INACTIVE_FILE), 30u);
    lru_fold(&lru, 0);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 31u);
    EXPECT_EQ(lru_zone_counted(&lru, PHYS_DMA32, LRU_INACTIVE_FILE), 31u);
}

TEST_F(Counters, ABatchOfReclaimIsOneChange) {
    add(31);
    lru_count(&lru, LRU_INACTIVE_FILE, PHYS_DMA32, -20);      // 1 - 20 exceeds 2
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 11u);
    lru_count(&lru, LRU_INACTIVE_FILE, PHYS_DMA32, 2);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 11u);
    lru_count(&lru, LRU_INACTIVE_FILE, PHYS_DMA32, 18);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 31u);
    EXPECT_EQ(lru_check(&lru), nullptr);
}

TEST_F(Counters, ANegativeCounterReadsZero) {
    lru.size[LRU_ACTIVE_FILE] = 1, lru.drift[0].node[LRU_ACTIVE_FILE] = 2;
    EXPECT_EQ(lru_counted(&lru, LRU_ACTIVE_FILE), 0u);
    lru.size[LRU_ACTIVE_FILE] = 0;
}

TEST_F(Counters, RefaultsAreSeenByThrees) {
    lru_count_activate(&lru, true, 2);
    EXPECT_EQ(lru.counts.workingset_activate[1], 2u);
    EXPECT_EQ(lru_activate_counted(&lru, true), 0u);
    lru_count_activate(&lru, true, 1);
    EXPECT_EQ(lru_activate_counted(&lru, true), 3u);
    EXPECT_EQ(lru_activate_counted(&lru, false), 0u);
}

TEST_F(Counters, WithMemoryCgroupsTheLastFlushCounts) {
    add(31);
    lru_flush(&lru);
    add(31);
    lru_count_activate(&lru, true, 5);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 31u);
    EXPECT_EQ(lru_activate_counted(&lru, true), 0u);
    EXPECT_EQ(lru_zone_counted(&lru, PHYS_DMA32, LRU_INACTIVE_FILE), 62u);      // exact
    EXPECT_EQ(lru_node_counted(&lru, LRU_INACTIVE_FILE), 60u);                  // 30 + 1 drifting, then 10 times three
    lru_flush(&lru);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_FILE), 62u);
    EXPECT_EQ(lru_activate_counted(&lru, true), 5u);
}

Memory gigabyte(uint32_t cpus) {       // managed: DMA 3998, DMA32 258048 frames; 1023 frames of min_free before huge pages ask for more
    phys_config config = phys_config_default();
    config.cpus = cpus;
    return Memory::pc(gib, config);
}

TEST(DriftMark, ByHand) {
    const struct {
        uint32_t cpus, dma, dma32;
    } rows[] = {
        {1, 0, 0},             // 2 and 8 frames: not above low - min = 3 and 258
        {2, 29, 32},           // DMA: 2 x 4 > 3, so high 15 + 6, and 8; DMA32: 2 x 16, from the start of the second CPU
        {64, 917, 5107},       // 15 + 6 + 64 x 14; 1007 + 516 + 64 x 56
    };
    for (const auto &row : rows) {
        const Memory memory = gigabyte(row.cpus);
        EXPECT_EQ(memory.p.zones[PHYS_DMA].drift_mark, row.dma) << row.cpus;
        EXPECT_EQ(memory.p.zones[PHYS_DMA32].drift_mark, row.dma32) << row.cpus;
        EXPECT_EQ(memory.p.zones[PHYS_NORMAL].drift_mark, 0u);
    }
}

TEST(DriftMark, ThresholdsWhileKswapdIsAwake) {
    const struct {
        uint32_t cpus;
        int32_t asleep[2], awake[2];
    } rows[] = {
        {1, {2, 8}, {2, 8}},
        {2, {4, 16}, {21, 125}},       // (213 - 171) / 2; (13865 - 11092) / 2 is above 125
        {64, {14, 56}, {1, 43}},       // 42 / 64 is below 1; 2773 / 64
    };
    for (const auto &row : rows) {
        Memory memory = gigabyte(row.cpus);
        for (int round = 0; round < 2; ++round) {
            watermark_set_pressure(&memory.p, round == 0);
            for (int zone = 0; zone < 2; ++zone)
                for (uint32_t cpu = 0; cpu < row.cpus; ++cpu)
                    EXPECT_EQ(memory.p.zones[zone].percpu[cpu].drift_threshold, (round == 0 ? row.awake : row.asleep)[zone]) << row.cpus;
        }
    }
}

TEST(DriftMark, BelowItKswapdCountsExactly) {
    Memory memory = gigabyte(2);
    zone &zone = memory.p.zones[PHYS_DMA32];
    const int64_t free = zone.free_frames;
    zone.percpu[0].free_drift = 5, zone.percpu[1].free_drift = -2;
    zone.free_frames = 32;
    EXPECT_EQ(watermark_free_for_kswapd(&memory.p, &zone), 32);
    zone.free_frames = 31;
    EXPECT_EQ(watermark_free_for_kswapd(&memory.p, &zone), 34);
    zone.percpu[0].free_drift = zone.percpu[1].free_drift = 0, zone.free_frames = free;
}

TEST(DriftMark, WithoutItKswapdOverlooksTheDrift) {
    Pressure p;
    int64_t free[PHYS_ZONES];
    const auto set = [&](int64_t above, int32_t drift) {
        for (auto &zone : p.memory.p.zones) {
            zone.free_frames = zone_mark(&zone, PHYS_MARK_HIGH) + zone.lowmem_reserve[PHYS_NORMAL] + above;
            zone.percpu[0].free_drift = drift;
        }
    };
    for (int i = 0; i < PHYS_ZONES; ++i) free[i] = p.memory.p.zones[i].free_frames;
    kswapd_wake(&p.system.reclaim, 0, PHYS_NORMAL);
    set(0, 2);
    EXPECT_TRUE(kswapd_needed(&p.system.reclaim));
    set(1, -2);
    EXPECT_FALSE(kswapd_needed(&p.system.reclaim));
    for (int i = 0; i < PHYS_ZONES; ++i) p.memory.p.zones[i].free_frames = free[i], p.memory.p.zones[i].percpu[0].free_drift = 0;
}

TEST(Fold, AnIdleCpuKeepsNoDriftAndItsLists) {
    Memory memory = gigabyte(2);
    zone &zone = memory.p.zones[PHYS_DMA32];
    const int64_t free = zone.free_frames;
    memory.alloc();
    const int32_t high = zone.percpu[0].high = zone.percpu[0].high_max, count = zone.percpu[0].count;
    zone.percpu[0].free_drift += 7, zone.percpu[1].free_drift += 3, zone.free_frames -= 10;
    percpu_fold(&memory.p, 0);
    EXPECT_EQ(zone.percpu[0].free_drift, 0);
    EXPECT_EQ(zone.percpu[1].free_drift, 3);
    EXPECT_EQ(phys_zone_free(&memory.p, PHYS_DMA32), free - count - 1);
    EXPECT_EQ(zone.percpu[0].high, high);
    EXPECT_EQ(zone.percpu[0].count, count);
    percpu_refresh(&memory.p, 0);              // the same once a second, and `high` falls
    EXPECT_LT(zone.percpu[0].high, high);
}

}  // namespace
