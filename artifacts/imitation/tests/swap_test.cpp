// Slots and clusters of a swap area, the swap cache, readahead. Expected numbers follow from mm/swapfile.c and mm/swap_state.c by hand.
#include <gtest/gtest.h>

#include "pressure_support.h"

extern "C" {
#include "reclaim/scan.h"
#include "vm/fork.h"
}

using namespace tests;

namespace {

/// A swap area, and pages that have an owner, like anonymous ones, but no process.
struct Area : testing::Test {
    void make(uint32_t slots, bool synchronous = false) {
        lru_create(&lru, &memory.p);
        owner.mapped = [](void *, uint32_t) { return false; };
        lru_set_owner(&lru, LRU_OWNER_ANON, &owner);
        swap_create(&swap, &lru, slots, synchronous);
    }
    ~Area() override {
        swap_destroy(&swap);
        lru_destroy(&lru);
    }
    uint32_t page() {
        const uint32_t frame = memory.alloc();
        lru_own(&lru, frame, LRU_OWNER_ANON, LRU_SWAPBACKED);
        return frame;
    }
    uint32_t take(unsigned order = 0) { return swap_alloc(&swap, order, 0); }
    /// The slot belongs to one swap entry and no page.
    void evict(uint32_t slot) {
        const uint32_t frame = page();
        swap_cache_add(&swap, frame, slot);
        swap_duplicate(&swap, slot);
        swap_cache_remove(&swap, frame, 0, 0);
        memory.release(frame);
    }
    static void ignore(void *, uint32_t, uint32_t) {}
    void drop(uint32_t slot, uint32_t pages = 1) { swap_drop(&swap, slot, pages, 0, ignore, nullptr); }

    Memory memory = Memory::pc(64 * mib);
    struct lru lru{};
    struct swap swap{};
    lru_owner owner{};
};

TEST_F(Area, ClustersComeInColumnsOf32) {
    make(34 * 512);  // cluster 0 has the header; then 32, 1, 33, 2, 3, ...
    for (uint32_t i = 0; i < 512; ++i) ASSERT_EQ(take(), 32 * 512 + i);
    for (uint32_t i = 0; i < 512; ++i) ASSERT_EQ(take(), 512 + i);
    ASSERT_EQ(take(), 33u * 512);
    EXPECT_EQ(swap_check(&swap), nullptr);
}

TEST_F(Area, ACpuTakes64SlotsAhead) {
    make(4 * 512);  // 2047 free slots are more than 5 x 64
    take();
    EXPECT_EQ(swap.free, 2047 - 64);
    EXPECT_EQ(swap.in_use, 64u);
    for (int i = 0; i < 63; ++i) take();
    EXPECT_EQ(swap.free, 2047 - 64);
    take();
    EXPECT_EQ(swap.free, 2047 - 128);
}

TEST_F(Area, SmallAreasHaveNoCacheOfSlots) {
    make(321);  // 320 free slots are not more than 320
    EXPECT_EQ(take(), 1u);  // slot 0 is the header
    EXPECT_EQ(take(), 2u);
    EXPECT_EQ(swap.free, 318);
    evict(1);
    drop(1);
    EXPECT_EQ(swap.free, 319);
    EXPECT_EQ(take(), 3u);  // a CPU goes on upward in its cluster
    EXPECT_EQ(swap_check(&swap), nullptr);
}

TEST_F(Area, FreedSlotsGatherUpTo64) {
    make(4 * 512);
    std::vector<uint32_t> slots;
    for (int i = 0; i < 66; ++i) slots.push_back(take()), evict(slots.back());
    const int64_t before = swap.free;
    for (int i = 0; i < 64; ++i) drop(slots[i]);
    EXPECT_EQ(swap.free, before);
    drop(slots[64]);  // the 65th sends the 64 before it back
    EXPECT_EQ(swap.free, before + 64);
    EXPECT_EQ(swap_check(&swap), nullptr);
}

TEST_F(Area, EntriesOfOneRangeGoBackAtOnce) {
    make(4 * 512);
    std::vector<uint32_t> slots;
    for (int i = 0; i < 10; ++i) slots.push_back(take()), evict(slots.back());
    const int64_t before = swap.free;
    drop(slots[0], 10);  // __swap_entries_free: not by way of the CPU's cache
    EXPECT_EQ(swap.free, before + 10);
}

TEST_F(Area, ABlockNeedsAWholeCluster) {
    make(3 * 512);
    const uint32_t block = take(9);
    EXPECT_EQ(block % 512, 0u);
    EXPECT_NE(take(9), uint32_t{SWAP_NONE});
    EXPECT_EQ(take(9), uint32_t{SWAP_NONE});  // cluster 0 has the header
    EXPECT_NE(take(0), uint32_t{SWAP_NONE});
    EXPECT_EQ(swap_check(&swap), nullptr);
}

TEST_F(Area, AFullAreaTakesBackWhatOnlyTheCacheHolds) {
    make(101);
    std::vector<uint32_t> frames;
    for (int i = 0; i < 100; ++i) {
        frames.push_back(page());
        swap_cache_add(&swap, frames.back(), take());
    }
    // The 100th slot was the last one: the work on full clusters (swap_reclaim_work) took the other 99 back. Its own page joined the
    // cache afterwards.
    EXPECT_EQ(swap.in_use, 1u);
    EXPECT_FALSE(lru_has(&lru, frames.front(), LRU_IN_SWAP_CACHE));
    EXPECT_TRUE(lru_has(&lru, frames.front(), LRU_DIRTY));
    EXPECT_TRUE(lru_has(&lru, frames.back(), LRU_IN_SWAP_CACHE));
    EXPECT_EQ(swap_check(&swap), nullptr);
}

TEST_F(Area, VirtuosoDefect3) {
    // Virtuoso's swap_cache.h swapIn() keeps its slot: of 1000 swap-outs into 256 slots, 256 succeed. Here each swap-in gives its slot back.
    make(257);
    for (int i = 0; i < 1000; ++i) {
        const uint32_t slot = take();
        ASSERT_NE(slot, uint32_t{SWAP_NONE}) << i;
        evict(slot);
        const uint32_t frame = page();
        ASSERT_TRUE(swap_hold(&swap, slot));
        swap_cache_add(&swap, frame, slot);
        swap_free(&swap, slot, 0);
        ASSERT_TRUE(swap_release(&swap, frame, 0));
        memory.release(frame);
    }
    EXPECT_EQ(swap.in_use, 0u);
    EXPECT_EQ(swap.free, 256);
}

TEST(SwapWindow, ByHand) {
    const struct {
        uint64_t previous, now;
        uint32_t hits, most, window, pages;
    } rows[] = {{10, 11, 0, 8, 0, 2},   {11, 10, 0, 8, 0, 2}, {10, 20, 0, 8, 0, 1}, {10, 10, 0, 8, 0, 1},
                {10, 20, 1, 8, 0, 4},   {10, 20, 2, 8, 0, 4}, {10, 20, 3, 8, 0, 8}, {10, 20, 7, 8, 0, 8},
                {10, 20, 7, 32, 0, 16}, {10, 20, 0, 8, 8, 4}, {10, 11, 0, 8, 2, 2}};
    for (const auto &row : rows)
        EXPECT_EQ(swap_window(row.previous, row.now, row.hits, row.most, row.window), row.pages) << row.previous << " " << row.hits;
}

struct SwapIn : testing::Test {
    static constexpr uint64_t at = 512 * 3000;
    /// The first 32 pages are in swap, in slots of ascending order, and not in the swap cache.
    void out(Pressure &p) {
        ASSERT_EQ(p.map(at, 64), nullptr);
        for (uint64_t i = 0; i < 32; ++i) p.access(at + i, true);
        vm_lru_drain(&p.system);
        const uint64_t *size = p.system.lru.size;
        for (int i = 0; i < 20 && size[LRU_INACTIVE_ANON] + size[LRU_ACTIVE_ANON] > 0; ++i)
            reclaim_direct(&p.system.reclaim, 0, PHYS_NORMAL, 0);
        ASSERT_EQ(size[LRU_INACTIVE_ANON] + size[LRU_ACTIVE_ANON], 0u);
        ASSERT_EQ(p.process.anonymous_pages, 0u);
        ASSERT_EQ(p.process.swapped_pages, 32u);
    }
};

TEST_F(SwapIn, TheFirstFaultOfAnAreaReadsEightPagesAroundIt) {
    // No fault yet: 4 hits, so 6 pages, rounded to 8. Previous page 0: around the fault, 3 below and 4 above.
    Pressure p;
    out(p);
    EXPECT_EQ(p.access(at + 10, false).kind, FAULT_SWAP);
    EXPECT_EQ(p.system.swap.counts.pswpin, 8u);
    EXPECT_EQ(p.system.swap.counts.swap_ra, 7u);
    for (uint64_t i = 7; i <= 14; ++i) EXPECT_EQ(p.access(at + i, false).kind, i == 10 ? FAULT_NONE : FAULT_SWAP_CACHE) << i;
    EXPECT_EQ(p.system.swap.counts.swap_ra_hit, 7u);
    EXPECT_EQ(p.access(at + 6, false).kind, FAULT_SWAP);
    EXPECT_EQ(p.wrong, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST_F(SwapIn, AReadKeepsTheSlotAWriteGivesItBack) {
    Pressure p;
    out(p);
    p.system.page_cluster = 0;
    p.access(at, false);
    unsigned level;
    EXPECT_TRUE(p.entry(at, &level) & PT_WRITE);  // exclusive: writable, but clean
    EXPECT_FALSE(p.entry(at) & PT_DIRTY);
    EXPECT_TRUE(lru_has(&p.system.lru, p.frame_of(at), LRU_IN_SWAP_CACHE));
    EXPECT_EQ(p.access(at + 1, true).kind, FAULT_SWAP);
    EXPECT_TRUE(p.entry(at + 1) & PT_DIRTY);
    EXPECT_FALSE(lru_has(&p.system.lru, p.frame_of(at + 1), LRU_IN_SWAP_CACHE));
    EXPECT_TRUE(lru_has(&p.system.lru, p.frame_of(at + 1), LRU_ON_LIST));   // the write drained the batch, which held the new page
    EXPECT_EQ(p.system.swap.counts.pswpin, 2u);
}

/// One scan of the inactive anonymous pages, as direct reclaim makes it.
void scan_anonymous(Pressure &p, uint64_t pages) {
    struct scan scan{};
    scan.reclaim = &p.system.reclaim;
    scan.priority = RECLAIM_PRIORITY;
    scan.highest = PHYS_NORMAL;
    scan.may_swap = scan.may_write = true;
    shrink_inactive(&scan, pages, LRU_INACTIVE_ANON);
}

TEST_F(SwapIn, ABatchHoldsThePageInTheSwapCache) {
    // 32 pages are written; each end of a write moves one to the tail by way of a batch of 31, so the last one waits in the batch.
    Pressure p;
    ASSERT_EQ(p.map(at, 32), nullptr);
    for (uint64_t i = 0; i < 32; ++i) p.access(at + i, true);
    vm_lru_drain(&p.system);
    scan_anonymous(p, 32);                        // all are young
    scan_anonymous(p, 32);
    ASSERT_EQ(p.process.swapped_pages, 32u);
    EXPECT_EQ(p.access(at + 31, true).kind, FAULT_SWAP_CACHE);
    EXPECT_TRUE(p.entry(at + 31) & PT_WRITE);
    EXPECT_TRUE(lru_has(&p.system.lru, p.frame_of(at + 31), LRU_IN_SWAP_CACHE));
    EXPECT_EQ(p.access(at, true).kind, FAULT_SWAP_CACHE);
    EXPECT_FALSE(lru_has(&p.system.lru, p.frame_of(at), LRU_IN_SWAP_CACHE));
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST_F(SwapIn, ABlockInTheSwapCacheIsMappedAsAWhole) {
    for (const bool whole : {true, false}) {
        Pressure p(settings_of(THP_ALWAYS));
        ASSERT_EQ(p.map(at, 512), nullptr);
        ASSERT_EQ(p.access(at, true).order, 9u);
        vm_lru_drain(&p.system);
        scan_anonymous(p, 32);
        scan_anonymous(p, 32);
        ASSERT_EQ(p.process.swapped_pages, 512u);
        if (!whole) {
            ASSERT_EQ(process_advise(&p.process, at + 7, 1, ADVICE_DONTNEED, 0), nullptr);
            p.forget(at + 7, 1);
        }
        EXPECT_EQ(p.access(at + 5, true).kind, FAULT_SWAP_CACHE);
        EXPECT_EQ(p.process.anonymous_pages, whole ? 512u : 1u);
        EXPECT_EQ(p.process.swapped_pages, whole ? 0u : 510u);
        EXPECT_EQ(p.access(at + 511, false).kind, whole ? FAULT_NONE : FAULT_SWAP_CACHE);
        EXPECT_EQ(p.wrong, 0u);
        EXPECT_STREQ(p.broken(), nullptr);
    }
}

TEST_F(SwapIn, ASynchronousAreaReadsOnePageWithoutTheCache) {
    Pressure p(settings_of(THP_NEVER), 32 * mib, 8192, true);
    out(p);
    EXPECT_EQ(p.access(at + 10, false).kind, FAULT_SWAP);
    EXPECT_EQ(p.system.swap.counts.pswpin, 1u);
    EXPECT_FALSE(lru_has(&p.system.lru, p.frame_of(at + 10), LRU_IN_SWAP_CACHE));
    EXPECT_EQ(p.access(at + 11, false).kind, FAULT_SWAP);
}

TEST_F(SwapIn, AForkSharesSlots) {
    Pressure p;
    out(p);
    const uint32_t slot = pt_value(p.entry(at));
    ::process child{};
    ASSERT_EQ(process_fork(&child, &p.process, 0).outcome, PHYS_GOT_FRAMES);
    EXPECT_EQ(child.swapped_pages, 32u);
    EXPECT_EQ(swap_entries(&p.system.swap, slot), 2u);
    EXPECT_EQ(p.touch(at, true).kind, FAULT_COPY);  // shared: mapped, then copied; the slot and its page stay for the child
    EXPECT_EQ(swap_entries(&p.system.swap, slot), 1u);
    EXPECT_EQ(fault_access(&child, at, false, 0, FAULT_FIRST).kind, FAULT_SWAP_CACHE);
    EXPECT_NE(pt_value(p.entry(at)), p.system.swap.frame[slot]);
    ::process *both[] = {&p.process, &child};
    EXPECT_STREQ(vm_check(&p.system, both, 2), nullptr);
    process_exit(&child, 0);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(PageOut, TakesYoungPagesInTheOrderOfTheirAddresses) {
    Pressure p(settings_of(THP_NEVER), 64 * mib, 4096, true);
    const uint64_t base = 512 * 3000 + 500;                        // over the border of two page tables
    p.map(base, 40);
    for (uint64_t i = 40; i-- > 0;) p.access(base + i, true);
    ASSERT_EQ(process_advise(&p.process, base, 40, ADVICE_PAGEOUT, 0), nullptr);
    uint32_t slots[40];
    for (uint64_t i = 0; i < 40; ++i) {
        ASSERT_TRUE(p.entry(base + i) & PT_SWAP) << i;
        slots[i] = pt_value(p.entry(base + i));
    }
    for (int i = 1; i < 40; ++i) EXPECT_EQ(slots[i], slots[0] + i);
    for (uint64_t i = 0; i < 40; ++i) p.access(base + i, false);
    EXPECT_EQ(p.wrong, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(PageOut, LeavesPagesThatAForkShares) {
    Pressure p(settings_of(THP_NEVER), 64 * mib, 4096, true);
    const uint64_t base = 512 * 3000;
    p.map(base, 8);
    for (uint64_t i = 0; i < 8; ++i) p.access(base + i, true);
    ::process child;
    ASSERT_EQ(process_fork(&child, &p.process, 0).outcome, PHYS_GOT_FRAMES);
    p.access(base + 3, true);                                      // a copy: only the parent has it
    ASSERT_EQ(process_advise(&p.process, base, 8, ADVICE_PAGEOUT, 0), nullptr);
    for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ((p.entry(base + i) & PT_SWAP) != 0, i == 3) << i;
    process_exit(&child, 0);
}

TEST(PageOut, RefusesAPartOf2MB) {
    Pressure p(settings_of(THP_ALWAYS), 64 * mib, 4096, true);
    const uint64_t base = 512 * 3000;
    p.map(base, 512);
    ASSERT_EQ(p.access(base, true).order, 9u);
    EXPECT_NE(process_advise(&p.process, base, 100, ADVICE_PAGEOUT, 0), nullptr);
    EXPECT_EQ(process_advise(&p.process, base, 512, ADVICE_PAGEOUT, 0), nullptr);
    for (uint64_t i = 0; i < 512; ++i) EXPECT_TRUE(p.entry(base + i) & PT_SWAP);
}

}  // namespace
