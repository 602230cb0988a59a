// Watermarks by hand, and the check of a request at N - 1 and N.
#include <gtest/gtest.h>

#include "support.h"

using tests::gib;
using tests::Memory;

namespace {

struct Marks {
    uint32_t min, low, high;
    bool operator==(const Marks &o) const { return min == o.min && low == o.low && high == o.high; }
};
std::ostream &operator<<(std::ostream &out, const Marks &m) { return out << m.min << " " << m.low << " " << m.high; }
Marks marks_of(const zone &zone) { return {zone.marks[PHYS_MARK_MIN], zone.marks[PHYS_MARK_LOW], zone.marks[PHYS_MARK_HIGH]}; }

phys_config with_thp(phys_thp thp) {
    phys_config config = phys_config_default();
    config.thp = thp;
    return config;
}

TEST(Watermarks, MinFreeIsFourTimesTheRootOfKilobytes) {
    const struct {
        uint64_t mb;
        uint32_t kbytes;
    } rows[] = {
        // 4 sqrt(1024 MB), for squares exact: 16MB is 4 x 128 = 512
        {1, 128}, {16, 512}, {64, 1024}, {256, 2048}, {1024, 4096}, {4096, 8192}, {16384, 16384}, {4194304, 262144}, {67108864, 262144}};
    for (const auto &row : rows) EXPECT_EQ(watermark_min_free_kbytes(row.mb * 256), row.kbytes) << row.mb;
    EXPECT_EQ(watermark_min_free_kbytes(8 * 256), 362u);     // sqrt(131072) = 362.04
    EXPECT_EQ(watermark_min_free_kbytes(4194206), 16383u);   // sqrt(268429184) = 16383.8
}

TEST(Watermarks, HugePagesWantElevenPageblocksAZone) {
    EXPECT_EQ(watermark_thp_min_free_kbytes(3, UINT64_MAX / 8), 67584u);   // 11 x 512 x 3 x 4kB
    EXPECT_EQ(watermark_thp_min_free_kbytes(2, UINT64_MAX / 8), 45056u);
    EXPECT_EQ(watermark_thp_min_free_kbytes(1, 11 * 512 * 20), 22528u);    // 5% is just enough
    EXPECT_EQ(watermark_thp_min_free_kbytes(1, 11 * 512 * 20 - 1), 22524u);
}

TEST(Watermarks, OneGigabyte) {  // managed: DMA 3998 (4KB to 636KB, 1MB to 16MB), DMA32 258048; min_free 11264 frames
    Memory memory = Memory::pc(gib);
    EXPECT_EQ(memory.p.min_free_kbytes, 45056u);
    EXPECT_EQ(marks_of(memory.p.zones[PHYS_DMA]), (Marks{171, 213, 255}));            // 11264 x 3998 / 262046 = 171.9, step 42
    EXPECT_EQ(marks_of(memory.p.zones[PHYS_DMA32]), (Marks{11092, 13865, 16638}));    // 11092.1, step 2773
    EXPECT_FALSE(memory.p.zones[PHYS_NORMAL].populated);
    EXPECT_EQ(memory.p.zones[PHYS_DMA].lowmem_reserve[PHYS_DMA32], 1008u);            // 258048 / 256
    EXPECT_EQ(memory.p.zones[PHYS_DMA].lowmem_reserve[PHYS_NORMAL], 1008u);
    EXPECT_EQ(memory.p.zones[PHYS_DMA].lowmem_reserve[PHYS_DMA], 0u);
}

TEST(Watermarks, FourGigabytes) {  // the hole from 3GB to 4GB moves 1GB into Normal
    Memory memory = Memory::pc(4 * gib);
    EXPECT_EQ(memory.p.min_free_kbytes, 67584u);
    EXPECT_EQ(marks_of(memory.p.zones[PHYS_DMA]), (Marks{64, 80, 96}));               // 16896 x 3998 / 1048478 = 64.4
    EXPECT_EQ(marks_of(memory.p.zones[PHYS_DMA32]), (Marks{12607, 15758, 18909}));    // 12607.2, step 3151
    EXPECT_EQ(marks_of(memory.p.zones[PHYS_NORMAL]), (Marks{4224, 5280, 6336}));      // 4224.4, step 1056
    EXPECT_EQ(memory.p.zones[PHYS_DMA].lowmem_reserve[PHYS_NORMAL], 4080u);           // (782336 + 262144) / 256
    EXPECT_EQ(memory.p.zones[PHYS_DMA32].lowmem_reserve[PHYS_NORMAL], 1024u);
}

TEST(Watermarks, SixteenGigabytesWithAndWithoutHugePages) {
    Memory thp = Memory::pc(16 * gib), plain = Memory::pc(16 * gib, with_thp(PHYS_THP_OFF));
    EXPECT_EQ(marks_of(thp.p.zones[PHYS_NORMAL]), (Marks{13728, 17160, 20592}));      // step 3432 = 13728 / 4 > 3407 = managed / 1000
    // Without: init_per_zone_wmark_min has 16383 kB, 4095 frames, and high marks 9 + 2327 + 10141 = 12477 frames. Then hugepage_init
    // computes again: sqrt(16 x 4 x (4194206 - 12477)) = 16359.4 kB, 4089 frames.
    EXPECT_EQ(plain.p.min_free_kbytes, 16359u);
    EXPECT_EQ(marks_of(plain.p.zones[PHYS_DMA]), (Marks{3, 6, 9}));                   // 4089 x 3998 / 4194206 = 3.9, step 3
    EXPECT_EQ(marks_of(plain.p.zones[PHYS_DMA32]), (Marks{762, 1544, 2326}));         // 762.7, step 782
    EXPECT_EQ(marks_of(plain.p.zones[PHYS_NORMAL]), (Marks{3322, 6729, 10136}));      // 3322.4, step 3407
    EXPECT_EQ(thp.p.zones[PHYS_DMA32].lowmem_reserve[PHYS_NORMAL], 13312u);
}

TEST(Watermarks, A256MbMachineBootsWithoutHugePages) {  // 65438 frames: hugepage_init returns before it changes anything
    for (const phys_thp thp : {PHYS_THP_DEFAULT, PHYS_THP_OFF}) {
        Memory memory = Memory::pc(256 * tests::mib, with_thp(thp));
        EXPECT_EQ(memory.p.min_free_kbytes, 2046u);                                   // sqrt(16 x 261752) = 2046.5, 511 frames
        EXPECT_EQ(marks_of(memory.p.zones[PHYS_DMA]), (Marks{31, 38, 45}));           // 511 x 3998 / 65438 = 31.2, step 7
        EXPECT_EQ(marks_of(memory.p.zones[PHYS_DMA32]), (Marks{479, 598, 717}));      // 479.8, step 119
    }
    // Written to /sys afterwards: 5% of 65438 - 45 - 717 frames is 3233 frames.
    Memory on = Memory::pc(256 * tests::mib, with_thp(PHYS_THP_ON));
    EXPECT_EQ(on.p.min_free_kbytes, 12932u);
}

TEST(Watermarks, HugePagesAreOnFrom512MbOfManagedMemory) {
    // 131072 frames: sqrt(16 x 524288) = 2896 kB, 724 frames, high 724 + 2 x 181 = 1086. On: 11 pageblocks of one zone, at most
    // (131072 - 1086) / 20 = 6499 frames, is 22528 kB. Off: sqrt(16 x 4 x (131072 - 1086)) = 2884.3 kB.
    Memory on = Memory::of({{4096, 4096 + 131072}}), off = Memory::of({{4096, 4096 + 131072}}, with_thp(PHYS_THP_OFF));
    EXPECT_EQ(on.p.min_free_kbytes, 22528u);
    EXPECT_EQ(off.p.min_free_kbytes, 2884u);
    for (const phys_thp thp : {PHYS_THP_DEFAULT, PHYS_THP_OFF})
        EXPECT_EQ(Memory::of({{4096, 4096 + 131071}}, with_thp(thp)).p.min_free_kbytes, 2896u);  // one frame less: sqrt(8388544) = 2896.3
}

TEST(Watermarks, AValueOfTheUserCountsAsItIs) {
    phys_config config = phys_config_default();
    config.user_min_free_kbytes = 4000;
    Memory memory = Memory::pc(gib, config);
    EXPECT_EQ(memory.p.min_free_kbytes, 4000u);
    EXPECT_EQ(memory.p.zones[PHYS_DMA32].marks[PHYS_MARK_MIN], 984u);  // 1000 x 258048 / 262046 = 984.7
}

struct Check : testing::Test {
    Memory memory = Memory::pc(gib);
    zone &dma32 = memory.p.zones[PHYS_DMA32];
    zone &dma = memory.p.zones[PHYS_DMA];
    bool ok(int64_t free, unsigned order, int64_t mark, unsigned rights = 0) {
        dma32.free_frames = free;
        return watermark_ok(&memory.p, &dma32, order, mark, PHYS_NORMAL, rights);
    }
};

TEST_F(Check, FreeFramesMustBeAboveTheMark) {
    EXPECT_FALSE(ok(1000, 0, 1000));
    EXPECT_TRUE(ok(1001, 0, 1000));
}

TEST_F(Check, TheRestOfALargeBlockIsNotUsable) {
    EXPECT_FALSE(ok(1000 + 511, 9, 1000));
    EXPECT_TRUE(ok(1000 + 512, 9, 1000));
}

TEST_F(Check, AHighOrderNeedsABlock) {
    Memory small = Memory::of({{8192, 8192 + 512}, {8192 + 1024, 8192 + 1024 + 512}});
    const zone &zone = small.p.zones[PHYS_DMA32];
    EXPECT_TRUE(watermark_ok(&small.p, &zone, 9, 0, PHYS_NORMAL, 0));
    EXPECT_FALSE(watermark_ok(&small.p, &zone, 10, 0, PHYS_NORMAL, 0));
    EXPECT_FALSE(watermark_ok(&small.p, &zone, 10, -5000, PHYS_NORMAL, 0));
}

TEST_F(Check, LowmemReserveOfTheRequestsHighestZone) {
    dma.free_frames = 2000;
    EXPECT_TRUE(watermark_ok(&memory.p, &dma, 0, 991, PHYS_DMA32, 0));  // 2000 > 991 + 1008
    EXPECT_FALSE(watermark_ok(&memory.p, &dma, 0, 992, PHYS_DMA32, 0));
    EXPECT_TRUE(watermark_ok(&memory.p, &dma, 0, 1999, PHYS_DMA, 0));
}

TEST_F(Check, RightsLowerTheMark) {
    const struct {
        unsigned rights;
        int64_t least;
    } rows[] = {// mark 1001: half is 1001 - 500 = 501, then 501 - 125 = 376
                {0, 1002},
                {PHYS_NON_BLOCK, 1002},
                {PHYS_MIN_RESERVE, 502},
                {PHYS_MIN_RESERVE | PHYS_NON_BLOCK, 377}};
    for (const auto &row : rows) {
        EXPECT_FALSE(ok(row.least - 1, 0, 1001, row.rights)) << row.rights;
        EXPECT_TRUE(ok(row.least, 0, 1001, row.rights)) << row.rights;
    }
}

TEST_F(Check, TheReserveOfOthersIsNotUsable) {
    dma32.free_highatomic = 100;
    EXPECT_FALSE(ok(1100, 0, 1000));
    EXPECT_TRUE(ok(1101, 0, 1000));
    EXPECT_TRUE(ok(1001, 0, 1000, PHYS_NON_BLOCK));
}

TEST_F(Check, BoostRaisesEveryMarkButNotForReserves) {
    dma32.boost = 512;
    dma32.free_frames = 11092 + 512;
    EXPECT_FALSE(watermark_allows(&memory.p, &dma32, 0, PHYS_MARK_MIN, PHYS_NORMAL, 0));
    dma32.free_frames = 5547;  // min / 2 = 5546 without boost
    EXPECT_TRUE(watermark_allows(&memory.p, &dma32, 0, PHYS_MARK_MIN, PHYS_NORMAL, PHYS_MIN_RESERVE));
    EXPECT_FALSE(watermark_allows(&memory.p, &dma32, 1, PHYS_MARK_MIN, PHYS_NORMAL, PHYS_MIN_RESERVE));
    dma32.free_frames = 5546;
    EXPECT_FALSE(watermark_allows(&memory.p, &dma32, 0, PHYS_MARK_MIN, PHYS_NORMAL, PHYS_MIN_RESERVE));
}

TEST_F(Check, BoostGrowsByAPageblockUpToOneAndAHalfTimesHigh) {
    int boosts = 0;
    uint32_t before = 0;
    while (watermark_boost(&memory.p, &dma32) && dma32.boost > before && ++boosts < 1000) before = dma32.boost;
    EXPECT_EQ(dma32.boost, 24957u);  // 16638 x 1.5
    EXPECT_EQ(boosts, 49);  // 24957 / 512 = 48.7
    EXPECT_EQ(zone_mark(&dma32, PHYS_MARK_LOW), 13865 + 24957);
}

TEST_F(Check, KswapdsPassEndsTheBoostsUpToItsZone) {
    for (const phys_zone highest : {PHYS_DMA, PHYS_NORMAL}) {
        dma.boost = 512, dma32.boost = 1024;
        dma.reclaim_active = dma32.reclaim_active = true;
        memory.events.clear();
        memory.record();
        watermark_kswapd_pass(&memory.p, highest, 0);
        EXPECT_EQ(dma.boost, 0u);
        EXPECT_FALSE(dma.reclaim_active);
        EXPECT_EQ(dma32.boost, highest == PHYS_DMA ? 1024u : 0u);
        EXPECT_EQ(dma32.reclaim_active, highest == PHYS_DMA);
        EXPECT_EQ(memory.of_kind(PHYS_BOOST).size(), highest == PHYS_DMA ? 1u : 2u);
    }
    EXPECT_EQ(zone_mark(&dma32, PHYS_MARK_LOW), 13865);
    memory.events.clear();
    watermark_kswapd_pass(&memory.p, PHYS_NORMAL, 0);
    EXPECT_TRUE(memory.events.empty());  // without a boost nothing is reported
}

TEST_F(Check, NoBoostInSmallZonesOrWithoutAFactor) {
    dma.managed_frames = 2048;
    EXPECT_TRUE(watermark_boost(&memory.p, &dma));
    EXPECT_EQ(dma.boost, 512u);
    dma.managed_frames = 2047;
    EXPECT_FALSE(watermark_boost(&memory.p, &dma));
    memory.p.watermark_boost_factor = 0;
    EXPECT_FALSE(watermark_boost(&memory.p, &dma32));
}

}  // namespace
