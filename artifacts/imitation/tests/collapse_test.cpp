// khugepaged: the table of decisions at each limit, the collapse, the scan loop. Derived by hand from mm/khugepaged.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

extern "C" {
#include "vm/khugepaged.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 1000;

TEST(Decide, LimitsAtNAndAbove) {
    const thp settings = thp_default();
    const struct {
        const char *name;
        collapse_counts counts;
        collapse_result result;
    } rows[] = {{"one page", {511, 0, 0, 1, true}, COLLAPSE_DONE},
                {"no page", {512, 0, 0, 0, false}, COLLAPSE_MANY_NONE},
                {"one old page", {511, 0, 0, 0, true}, COLLAPSE_NOT_YOUNG},
                {"one read-only page", {511, 0, 0, 1, false}, COLLAPSE_READ_ONLY},
                {"64 swapped, 256 young", {0, 64, 0, 256, true}, COLLAPSE_DONE},
                {"64 swapped, 255 young", {0, 64, 0, 255, true}, COLLAPSE_NOT_YOUNG},
                {"1 swapped, 255 young", {0, 1, 0, 255, true}, COLLAPSE_NOT_YOUNG},
                {"65 swapped", {0, 65, 0, 447, true}, COLLAPSE_MANY_SWAP},
                {"256 shared", {0, 0, 256, 512, true}, COLLAPSE_DONE},
                {"257 shared", {0, 0, 257, 512, true}, COLLAPSE_MANY_SHARED},
                {"read-only and old", {0, 0, 0, 0, false}, COLLAPSE_READ_ONLY}};
    for (const auto &row : rows) EXPECT_EQ(collapse_decide(&settings, &row.counts), row.result) << row.name;
}

void put(const Process &p, const pt_table *table, unsigned slot, pt_entry entry) {
    pt_write(&p.process.pt, &table->slot[slot], at + slot, 0, entry, PT_BY_FAULT);
}

TEST(Scan, CountsTheEntriesOfATable) {
    // Every (none, swap, young) on a grid, as entries of a real table. This tests the counting and the order of limits; what follows
    // from the counts is taken from collapse_decide, which the table above tests.
    thp settings = settings_of(THP_ALWAYS);
    settings.max_ptes_none = 300;
    Process p(settings);
    p.map(at, 512);
    process_advise(&p.process, at, 512, ADVICE_NOHUGEPAGE, 0);
    p.touch(at);
    unsigned missing;
    const pt_table *table = pt_find_table(&p.process.pt, at, 0, &missing);
    const std::vector<pt_entry> saved(table->slot, table->slot + PT_SLOTS);
    phys_outcome outcome;
    for (const uint32_t none : {0u, 1u, 299u, 300u, 301u, 512u})
        for (const uint32_t swap : {0u, 1u, 64u, 65u})
            for (const uint32_t young : {0u, 1u, 200u, 255u, 256u, 512u})
                for (const bool writable : {false, true}) {
                    if (none + swap > 512) continue;
                    const uint32_t present = 512 - none - swap;
                    const collapse_counts counts = {none, swap, 0, std::min(young, present), writable && present > 0};
                    const collapse_result wanted = collapse_decide(&settings, &counts);
                    if (wanted == COLLAPSE_DONE && swap == 0) continue;  // these would collapse: a test of its own
                    for (uint32_t i = 0; i < 512; ++i)
                        put(p, table, i,
                            i < none          ? (i % 2 ? 0 : pt_make(0, PT_PRESENT | PT_ZERO | PT_YOUNG))
                            : i < none + swap ? pt_make(i, PT_SWAP)
                                              : pt_make(i, PT_PRESENT | (i - none - swap < young ? uint32_t{PT_YOUNG} : 0u) |
                                                               (writable && i == 511 ? uint32_t{PT_WRITE} : 0u)));
                    const collapse_result got = collapse_range(&p.process, at, 0, &outcome);
                    EXPECT_EQ(got, wanted == COLLAPSE_DONE ? COLLAPSE_SWAP_IN : wanted) << none << " " << swap << " " << young;
                }
    for (uint32_t i = 0; i < 512; ++i) put(p, table, i, saved[i]);
    EXPECT_EQ(p.broken(), nullptr);
}

struct Small : testing::Test {
    /// Pages [at, at + pages) touched as 4KB, then 2MB allowed.
    void fill(uint64_t pages, uint64_t mapped) {
        p.map(at, mapped);
        p.system.thp.enabled = THP_NEVER;
        for (uint64_t i = 0; i < pages; ++i) p.touch(at + i);
        p.system.thp.enabled = THP_ALWAYS;
    }
    void wake() {
        seen.clear();
        p.memory.p.events.context = this;
        p.memory.p.events.scan = [](void *self, const ::process *, uint64_t page, int result) {
            static_cast<Small *>(self)->seen.emplace_back((page - at) / 512, static_cast<collapse_result>(result));
        };
        collapsed = khugepaged_wake(&p.system, 0);
        p.memory.p.events = {};
    }
    Process p;
    std::vector<std::pair<uint64_t, collapse_result>> seen;
    uint64_t collapsed = 0;
};

TEST_F(Small, CollapseReplacesPagesAndDepositsTheTable) {
    fill(300, 1024);
    p.touch(at + 400, false);
    std::vector<uint32_t> frames;
    for (uint64_t i = 0; i < 300; ++i) frames.push_back(pt_value(p.entry(at + i)));
    unsigned missing;
    const uint32_t table = pt_find_table(&p.process.pt, at, 0, &missing)->frame;
    phys_outcome outcome;
    p.memory.record();
    EXPECT_EQ(collapse_range(&p.process, at, 0, &outcome), COLLAPSE_DONE);
    const auto allocs = p.memory.of_kind(PHYS_ALLOC), frees = p.memory.of_kind(PHYS_FREE);
    ASSERT_EQ(allocs.size(), 1u);  // the block, and no table
    ASSERT_EQ(frees.size(), 300u);
    for (size_t i = 0; i < 300; ++i) EXPECT_EQ(frees[i].frame, frames[i]);
    EXPECT_EQ(p.entry(at + 7), pt_make(allocs[0].frame, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY));
    EXPECT_EQ(p.process.anonymous_pages, 512u);
    EXPECT_EQ(p.process.pt.tables[0], 1u);
    EXPECT_EQ(pt_find_table(&p.process.pt, at, 1, &missing)->deposits->head, table);
    EXPECT_EQ(p.broken(), nullptr);
    EXPECT_EQ(collapse_range(&p.process, at, 0, &outcome), COLLAPSE_MAPPED);
    EXPECT_EQ(collapse_range(&p.process, at + 512, 0, &outcome), COLLAPSE_EMPTY);
    EXPECT_EQ(collapse_range(&p.process, 0, 0, &outcome), COLLAPSE_NO_TABLE);
}

TEST_F(Small, ACollapsedSplitBlockIsFreedWhole) {
    p.map(at, 512);
    const uint32_t block = p.touch(at).frame;
    process_protect(&p.process, at + 8, 8, AREA_READ);
    process_protect(&p.process, at + 8, 8, rw);
    EXPECT_EQ(p.areas(), "512000-512512");
    phys_outcome outcome;
    EXPECT_EQ(collapse_range(&p.process, at, 0, &outcome), COLLAPSE_DONE);
    EXPECT_NE(pt_value(p.entry(at)), block);
    EXPECT_EQ(p.system.mappings[block >> 9], 0u);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Small, SplitBlocksAreFreedInTheOrderOfTheirFirstMappings) {
    // __collapse_huge_page_isolate adds a block to compound_pagelist when it meets it first; the list is freed from its head.
    fill(1, 512);
    p.memory.record();
    uint32_t block[2];
    for (uint32_t &one : block) one = p.memory.alloc(9);
    unsigned missing;
    pt_table *table = pt_find_table(&p.process.pt, at, 0, &missing);
    const auto map_page = [&](unsigned slot, uint32_t of, uint32_t i) {
        put(p, table, slot, pt_make(of + i, PT_PRESENT | PT_WRITE | PT_YOUNG));
        rmap_set(&p.system.lru.rmap, of + i, process_place(&p.process, at + slot));
        ++p.system.mappings[of >> 9];
        ++p.process.anonymous_pages;
    };
    map_page(10, block[0], 0), map_page(11, block[1], 0), map_page(12, block[1], 1), map_page(13, block[0], 1);
    const uint32_t page = pt_value(p.entry(at));
    ASSERT_EQ(p.broken(), nullptr);
    p.memory.events.clear();
    phys_outcome outcome;
    EXPECT_EQ(collapse_range(&p.process, at, 0, &outcome), COLLAPSE_DONE);
    const auto frees = p.memory.of_kind(PHYS_FREE);
    ASSERT_EQ(frees.size(), 3u);
    EXPECT_EQ(frees[0].frame, page);
    EXPECT_EQ(frees[1].frame, block[0]);
    EXPECT_EQ(frees[2].frame, block[1]);
    EXPECT_EQ(frees[2].order, 9);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Small, ABlockThatIsMappedElsewhereStays) {
    fill(1, 512);
    p.map(at + 512, 512);
    const uint32_t block = p.touch(at + 512).frame;
    ASSERT_EQ(process_unmap(&p.process, at + 512 + 100, 1, 0), nullptr);  // a split; 511 mappings
    unsigned missing;
    pt_table *upper = pt_find_table(&p.process.pt, at + 512, 0, &missing), *lower = pt_find_table(&p.process.pt, at, 0, &missing);
    put(p, lower, 5, upper->slot[5]);
    put(p, upper, 5, 0);
    rmap_move(&p.system.lru.rmap, block + 5, process_place(&p.process, at + 512 + 5), process_place(&p.process, at + 5));
    ASSERT_EQ(p.broken(), nullptr);
    phys_outcome outcome;
    EXPECT_EQ(collapse_range(&p.process, at, 0, &outcome), COLLAPSE_DONE);
    EXPECT_EQ(p.system.mappings[block >> 9], 510u);
    EXPECT_TRUE(frame_is(&p.memory.p.frames, block, FRAME_USED, 9));
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Small, ARefusedBlockEndsTheWakeUpTheSecondTime) {
    // khugepaged_do_scan: the first SCAN_ALLOC_HUGE_PAGE_FAIL sleeps and goes on, the second breaks, whatever came between.
    fill(512 * 4, 512 * 4);
    process_register(&p.process, &p.process.areas.item[0]);
    p.use_up_blocks();
    wake();
    ASSERT_EQ(seen.size(), 2u);
    for (uint64_t i = 0; i < 2; ++i) EXPECT_EQ(seen[i], (std::pair<uint64_t, collapse_result>{i, COLLAPSE_NO_BLOCK}));
    EXPECT_EQ(p.system.counts.thp_collapse_alloc_failed, 2u);
    wake();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].first, 2u);  // the next wake-up goes on behind them
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Small, ACollapseBetweenTwoRefusalsChangesNothing) {
    // Range 0 is refused; then a block is freed, and range 1 collapses; range 2 is refused: the end, range 3 is not reached.
    p.map(at, 4 * 512);
    p.system.thp.enabled = THP_NEVER;
    for (uint64_t range = 0; range < 4; ++range) p.touch(at + range * 512);
    p.system.thp.enabled = THP_ALWAYS;
    process_register(&p.process, &p.process.areas.item[0]);
    p.use_up_blocks();
    struct Notes {
        Process *of;
        std::vector<collapse_result> results;
    } notes{&p, {}};
    p.memory.p.events.context = &notes;
    p.memory.p.events.scan = [](void *context, const ::process *, uint64_t, int result) {
        Notes *to = static_cast<Notes *>(context);
        to->results.push_back(static_cast<collapse_result>(result));
        if (to->results.size() == 1) to->of->free_one_block();
    };
    khugepaged_wake(&p.system, 0);
    p.memory.p.events = {};
    EXPECT_EQ(notes.results, (std::vector<collapse_result>{COLLAPSE_NO_BLOCK, COLLAPSE_DONE, COLLAPSE_NO_BLOCK}));
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Small, AWakeUpLooksAt8Ranges) {
    fill(512 * 20, 512 * 20);
    wake();
    EXPECT_EQ(collapsed, 0u);  // no fault asked for 2MB yet, so khugepaged does not know the process
    p.map(at + 512 * 40, 512);
    p.touch(at + 512 * 40);
    wake();
    EXPECT_EQ(collapsed, 8u);
    // Each call counts 1 for the process: 8 x 513 = 4104 >= 4096.
    ASSERT_EQ(seen.size(), 8u);
    wake();
    EXPECT_EQ(seen.front().first, 8u);
    wake();
    // Ranges 16 to 19 collapse (4 x 513), one call ends with the mapped range 40 (513). 1531 are left, and a full scan may start
    // once: 1 + 3 x 512.
    ASSERT_EQ(seen.size(), 8u);
    EXPECT_EQ(seen[3], (std::pair<uint64_t, collapse_result>{19, COLLAPSE_DONE}));
    EXPECT_EQ(seen[4], (std::pair<uint64_t, collapse_result>{40, COLLAPSE_MAPPED}));
    EXPECT_EQ(seen[7], (std::pair<uint64_t, collapse_result>{2, COLLAPSE_MAPPED}));
    EXPECT_EQ(p.system.counts.thp_full_scans, 1u);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Small, AreasThatAreSkippedCount) {
    // The first wake-up takes both ranges: 1 + 512 < 515. The second counts 1 for the process and 1 for each untouched area;
    // then a full scan starts with 513 or 514 left, and one range is 1 + 512.
    for (const uint64_t untouched : {0, 1}) {
        Process other;
        other.system.thp.pages_to_scan = 515;
        other.map(at, 1024);
        other.touch(at);
        other.touch(at + 512);
        if (untouched) other.map(at + 4096, 512);
        int ranges = 0;
        other.memory.p.events.context = &ranges;
        other.memory.p.events.scan = [](void *context, const ::process *, uint64_t, int) { ++*static_cast<int *>(context); };
        khugepaged_wake(&other.system, 0);
        EXPECT_EQ(ranges, 2);
        ranges = 0;
        khugepaged_wake(&other.system, 0);
        EXPECT_EQ(ranges, untouched ? 1 : 2);
        EXPECT_EQ(other.system.counts.thp_full_scans, 1u);
    }
}

TEST_F(Small, AnExitDuringAScanIsForgotten) {
    fill(512 * 20, 512 * 20);
    p.map(at + 512 * 40, 512);
    p.touch(at + 512 * 40);
    wake();
    EXPECT_TRUE(p.system.scanning);
    p.end();
    EXPECT_FALSE(p.system.scanning);
    wake();
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(p.broken(), nullptr);
}

}  // namespace
