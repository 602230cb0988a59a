// The LRU lists, the balance between them, what becomes of a page, kswapd and direct reclaim. Numbers by hand from mm/swap.c, mm/vmscan.c
// and mm/workingset.c.
#include <gtest/gtest.h>

#include "pressure_support.h"

extern "C" {
#include "reclaim/scan.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 3000;

struct Lists : testing::Test {
    Lists() { lru_create(&lru, &memory.p); }
    ~Lists() override { lru_destroy(&lru); }
    uint32_t page(unsigned flags = 0) {
        const uint32_t frame = memory.alloc();
        lru_own(&lru, frame, LRU_OWNER_FILE, flags);
        lru_add(&lru, frame, 0);
        return frame;
    }
    std::vector<uint32_t> list(lru_list which) const {
        std::vector<uint32_t> frames;
        const uint32_t head = lru_head(&lru, which);
        for (uint32_t frame = list_first(lru.links, head); frame != head; frame = list_first(lru.links, frame)) frames.push_back(frame);
        return frames;
    }
    Memory memory = Memory::pc(64 * mib);
    struct lru lru{};
};

TEST_F(Lists, The31stPageSendsTheBatchOldestFirst) {
    std::vector<uint32_t> pages;
    for (int i = 0; i < 30; ++i) pages.push_back(page());
    EXPECT_EQ(lru.size[LRU_INACTIVE_FILE], 0u);
    pages.push_back(page());
    EXPECT_EQ(lru.size[LRU_INACTIVE_FILE], 31u);
    std::reverse(pages.begin(), pages.end());
    EXPECT_EQ(list(LRU_INACTIVE_FILE), pages);
    EXPECT_EQ(lru_check(&lru), nullptr);
}

TEST_F(Lists, TwoAccessesActivateAThirdMarks) {
    const uint32_t frame = page();
    lru_drain(&lru, 0);
    lru_mark_accessed(&lru, frame, 0);
    EXPECT_TRUE(lru_has(&lru, frame, LRU_REFERENCED));
    lru_mark_accessed(&lru, frame, 0);
    EXPECT_FALSE(lru_has(&lru, frame, LRU_REFERENCED));
    EXPECT_EQ(lru.nonresident_age, 1u);
    EXPECT_EQ(lru.size[LRU_ACTIVE_FILE], 0u);  // it waits in the batch
    lru_drain(&lru, 0);
    EXPECT_EQ(lru.size[LRU_ACTIVE_FILE], 1u);
    lru_mark_accessed(&lru, frame, 0);
    EXPECT_TRUE(lru_has(&lru, frame, LRU_REFERENCED));
    EXPECT_TRUE(lru_has(&lru, frame, LRU_ACTIVE));
    EXPECT_EQ(lru_check(&lru), nullptr);
}

TEST_F(Lists, APageInItsBatchBecomesActiveThere) {
    const uint32_t frame = page();
    lru_mark_accessed(&lru, frame, 0);
    lru_mark_accessed(&lru, frame, 0);
    lru_drain(&lru, 0);
    EXPECT_EQ(list(LRU_ACTIVE_FILE), std::vector<uint32_t>{frame});
}

TEST_F(Lists, TheEndOfItsWriteMovesAPageToTheTail) {
    std::vector<uint32_t> pages;
    for (int i = 0; i < 3; ++i) pages.push_back(page());
    lru_drain(&lru, 0);
    lru_set(&lru, pages[2], LRU_WRITEBACK | LRU_RECLAIM);
    lru_end_writeback(&lru, pages[2], 0);
    lru_drain(&lru, 0);
    EXPECT_EQ(list(LRU_INACTIVE_FILE), (std::vector<uint32_t>{pages[1], pages[0], pages[2]}));
    EXPECT_EQ(lru.counts.pgrotated, 1u);
    EXPECT_FALSE(lru_has(&lru, pages[2], LRU_WRITEBACK | LRU_RECLAIM));
}

TEST_F(Lists, CostsAreHalvedAboveAQuarterOfTheLists) {
    lru.size[LRU_INACTIVE_ANON] = 400;
    lru_note_cost(&lru, false, 3, 4);  // 3 x 32 + 4 = 100: not above 400 / 4
    EXPECT_EQ(lru.anon_cost, 100u);
    lru_note_cost(&lru, true, 0, 1);
    EXPECT_EQ(lru.anon_cost, 50u);
    EXPECT_EQ(lru.file_cost, 0u);
}

TEST_F(Lists, ARefaultIsActiveIfTheActiveListCouldHaveHeldIt) {
    const uint32_t frame = page();
    lru_drain(&lru, 0);
    const uint64_t shadow = workingset_eviction(&lru, frame);  // the age is 0 in the shadow, 1 afterwards
    lru.nonresident_age = 10;
    lru.size[LRU_ACTIVE_FILE] = 9;
    lru.size[LRU_ACTIVE_ANON] = 1;
    EXPECT_FALSE(workingset_refault(&lru, frame, shadow, false));   // 10 > 9
    EXPECT_TRUE(workingset_refault(&lru, frame, shadow, true));     // 10 <= 9 + 1 + inactive anonymous 0
    EXPECT_EQ(lru.nonresident_age, 11u);
    EXPECT_EQ(lru.counts.workingset_refault[1], 2u);
    EXPECT_EQ(lru.counts.workingset_activate[1], 1u);
    lru.size[LRU_ACTIVE_FILE] = lru.size[LRU_ACTIVE_ANON] = 0;
}

TEST_F(Lists, InactiveIsLowByTheRootOfTenGigabytes) {
    lru.size[LRU_INACTIVE_FILE] = 1000, lru.size[LRU_ACTIVE_FILE] = 1001;  // below 1GB: factor 1
    EXPECT_TRUE(inactive_is_low(&lru, LRU_INACTIVE_FILE));
    lru.size[LRU_ACTIVE_FILE] = 1000;
    EXPECT_FALSE(inactive_is_low(&lru, LRU_INACTIVE_FILE));
    lru.size[LRU_INACTIVE_FILE] = 65536, lru.size[LRU_ACTIVE_FILE] = 3 * 65536;  // 1GB: floor(sqrt(10)) = 3
    EXPECT_FALSE(inactive_is_low(&lru, LRU_INACTIVE_FILE));
    ++lru.size[LRU_ACTIVE_FILE];
    EXPECT_TRUE(inactive_is_low(&lru, LRU_INACTIVE_FILE));
    lru.size[LRU_INACTIVE_FILE] = lru.size[LRU_ACTIVE_FILE] = 0;
}

TEST(Balance, ByHand) {
    Pressure p;
    struct scan scan{};
    scan.reclaim = &p.system.reclaim;
    scan.priority = 2;
    scan.highest = PHYS_NORMAL;
    scan.may_swap = true;
    p.system.lru.zone_size[PHYS_DMA32][LRU_INACTIVE_ANON] = 2000;
    p.system.lru.zone_size[PHYS_DMA32][LRU_INACTIVE_FILE] = 1000;
    uint64_t counts[LRU_EVICTABLE_LISTS];
    const auto expect = [&](uint64_t anon, uint64_t file) {
        scan_counts(&scan, counts);
        EXPECT_EQ(counts[LRU_INACTIVE_ANON], anon);
        EXPECT_EQ(counts[LRU_INACTIVE_FILE], file);
    };
    expect(150, 175);                            // 500 x 60 / 200; 250 x 140 / 200
    scan.anon_cost = 100, scan.file_cost = 300;  // shares 60 x 1201 / 501 = 143 and 140 x 1201 / 701 = 239
    expect(187, 156);                            // 500 x 143 / 382; 250 x 239 / 382
    scan.cache_trim = true;
    expect(0, 250);
    scan.file_is_tiny = true;
    expect(500, 0);
    scan.priority = 0;
    expect(2000, 1000);
    scan.may_swap = false;
    expect(0, 1000);
    p.system.lru.zone_size[PHYS_DMA32][LRU_INACTIVE_ANON] = p.system.lru.zone_size[PHYS_DMA32][LRU_INACTIVE_FILE] = 0;
}

TEST(Fate, YoungOnceStaysYoungTwiceBecomesActive) {
    Pressure p;
    ASSERT_EQ(p.map(at, 64), nullptr);
    for (uint64_t i = 0; i < 32; ++i) p.access(at + i, true);
    vm_lru_drain(&p.system);
    struct scan scan{};
    scan.reclaim = &p.system.reclaim;
    scan.priority = RECLAIM_PRIORITY;
    scan.highest = PHYS_NORMAL;
    scan.may_swap = scan.may_write = true;
    EXPECT_EQ(shrink_inactive(&scan, 32, LRU_INACTIVE_ANON), 0u);
    const uint32_t one = p.frame_of(at), two = p.frame_of(at + 1);
    EXPECT_TRUE(lru_has(&p.system.lru, one, LRU_REFERENCED));
    EXPECT_FALSE(p.entry(at) & PT_YOUNG);
    p.access(at, false);                          // young again
    EXPECT_EQ(shrink_inactive(&scan, 32, LRU_INACTIVE_ANON), 0u);
    EXPECT_TRUE(lru_has(&p.system.lru, one, LRU_ACTIVE));
    EXPECT_EQ(p.process.swapped_pages, 31u);      // the others went to swap; their writes have ended, the pages are still there
    EXPECT_FALSE(lru_has(&p.system.lru, two, LRU_WRITEBACK | LRU_DIRTY));
    EXPECT_TRUE(lru_has(&p.system.lru, two, LRU_IN_SWAP_CACHE));
    EXPECT_EQ(shrink_inactive(&scan, 31, LRU_INACTIVE_ANON), 31u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(Fate, ABlockGoesToOneCluster) {
    Pressure p(settings_of(THP_ALWAYS));
    ASSERT_EQ(p.map(at, 512), nullptr);
    ASSERT_EQ(p.access(at, true).order, 9u);
    while (p.process.anonymous_pages > 0) ASSERT_NE(reclaim_direct(&p.system.reclaim, 0, PHYS_NORMAL, 0), 0u);
    EXPECT_EQ(p.system.counts.thp_swpout, 1u);
    EXPECT_EQ(p.system.counts.thp_split_page, 0u);
    EXPECT_EQ(pt_value(p.entry(at)) % 512, 0u);
    EXPECT_EQ(pt_value(p.entry(at + 511)), pt_value(p.entry(at)) + 511);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(Fate, WithoutAClusterABlockIsSplitFirst) {
    Pressure p(settings_of(THP_ALWAYS), 32 * mib, 600);  // cluster 0 with the header, and a part of cluster 1
    ASSERT_EQ(p.map(at, 512), nullptr);
    ASSERT_EQ(p.access(at, true).order, 9u);
    for (int i = 0; i < 4; ++i) reclaim_direct(&p.system.reclaim, 0, PHYS_NORMAL, 0);
    EXPECT_EQ(p.system.counts.thp_split_page, 1u);
    EXPECT_EQ(p.system.counts.thp_swpout, 0u);
    EXPECT_GT(p.process.swapped_pages, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(Kswapd, KeepsOneZoneAboveItsHighMark) {
    Pressure p;
    ASSERT_EQ(p.map(at, 9000), nullptr);
    for (uint64_t i = 0; i < 9000; ++i) ASSERT_NE(p.access(at + i, true).kind, FAULT_NEEDS);
    EXPECT_GT(p.system.reclaim.counts.pageoutrun, 0u);
    EXPECT_GT(p.system.reclaim.counts.pgsteal_kswapd, 1000u);
    EXPECT_EQ(p.system.reclaim.counts.pgsteal_direct, 0u);   // it is always in time
    EXPECT_FALSE(kswapd_needed(&p.system.reclaim));
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(Kswapd, GivesUpAfter16PassesWithoutAPage) {
    Pressure p(settings_of(THP_NEVER), 32 * mib, 0);
    ASSERT_EQ(p.map(at, 9000), nullptr);
    fault last{};
    for (uint64_t i = 0; i < 9000 && last.kind != FAULT_NEEDS; ++i) last = p.access(at + i, true);
    ASSERT_EQ(last.kind, FAULT_NEEDS);                       // out of memory, named
    EXPECT_EQ(last.outcome, PHYS_NO_MEMORY);
    EXPECT_EQ(p.system.reclaim.kswapd_failures, 16u);
    EXPECT_EQ(p.system.reclaim.counts.pgsteal[0], 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(Kswapd, GoesOnUntilItIsBalancedOrGivesUp) {
    Pressure p(settings_of(THP_NEVER), 32 * mib, 0);
    p.memory.p.watermark_boost_factor = 0;
    ASSERT_EQ(p.map(at, 9000), nullptr);
    uint64_t i = 0;
    while (i < 9000 && p.system.reclaim.kswapd_failures == 0) p.access(at + i++, true);
    EXPECT_EQ(p.system.reclaim.kswapd_failures, 16u);        // its first wake-up: nothing can be reclaimed, so all passes follow at once
    EXPECT_EQ(p.system.reclaim.counts.pageoutrun, 16u);
}

TEST(Kswapd, ABoostWithoutAPageIsAFailure) {
    Pressure p(settings_of(THP_NEVER), 32 * mib, 0);         // balanced, and nothing to reclaim
    p.memory.p.zones[PHYS_DMA32].boost = 512;
    kswapd_pass(&p.system.reclaim, 0);
    EXPECT_EQ(p.system.reclaim.kswapd_failures, 1u);
    EXPECT_EQ(p.memory.p.zones[PHYS_DMA32].boost, 0u);
    kswapd_pass(&p.system.reclaim, 0);                       // without a boost there is nothing to do
    EXPECT_EQ(p.system.reclaim.kswapd_failures, 1u);
    EXPECT_TRUE(p.system.reclaim.kswapd_sleeps);
}

TEST(Kcompactd, SleepsWhileEachZoneHasABlock) {
    Pressure p;
    compact_daemon(&p.system.compact, 9, PHYS_NORMAL, 0);
    EXPECT_EQ(p.system.compact.counts.daemon_wake, 0u);
}

TEST(OutOfMemory, ComesWhenMemoryAndSwapAreFull) {
    Pressure p(settings_of(THP_NEVER), 32 * mib, 1024);
    ASSERT_EQ(p.map(at, 12000), nullptr);
    uint64_t pages = 0;
    while (pages < 12000 && p.access(at + pages, true).kind != FAULT_NEEDS) ++pages;
    EXPECT_LT(pages, 12000u);
    EXPECT_EQ(p.system.swap.free, 0);
    EXPECT_EQ(p.process.swapped_pages + p.process.anonymous_pages, pages);
    EXPECT_EQ(p.wrong, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(Decisions, AreTheSameEachTime) {
    const auto run = [] {
        Pressure p(settings_of(THP_ALWAYS, THP_DEFRAG_ALWAYS), 32 * mib, 8192);
        return decisions_of(p.memory.p, [&] {
            p.map(at, 10000);
            for (uint64_t i = 0; i < 20000; ++i) p.access(at + i * 7919 % 10000, i % 3 > 0);
        });
    };
    const std::string first = run();
    EXPECT_NE(first.find("swap-out frame="), std::string::npos);
    EXPECT_NE(first.find("swap-in frame="), std::string::npos);
    EXPECT_NE(first.find("reclaim free frame="), std::string::npos);
    EXPECT_TRUE(first == run());
}

// A request of 40 pages asks for 32 first; a scan may give more, and at most one more request of 32 follows (memory_reclaim).
TEST(Request, GetsWhatItAskedForAndThenEverything) {
    Pressure p(settings_of(THP_NEVER), 64 * mib, 4096, true);
    p.map(at, 310);
    for (uint64_t i = 0; i < 310; ++i) p.access(at + i, true);
    const uint64_t got = reclaim_request(&p.system.reclaim, 40, 0);
    uint64_t swapped = 0;
    for (uint64_t i = 0; i < 310; ++i) swapped += (p.entry(at + i) & PT_SWAP) != 0;
    EXPECT_EQ(got, swapped);
    EXPECT_GE(got, 40u);
    EXPECT_LT(got, 128u);
    EXPECT_EQ(p.system.reclaim.counts.allocstall, 0u);
    EXPECT_EQ(reclaim_request(&p.system.reclaim, 100000, 0), 310 - got);          // and then there is nothing left
}

}  // namespace
