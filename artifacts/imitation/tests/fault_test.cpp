// Faults: what each access gets, in which order, and what it costs in tables. Derived by hand from mm/memory.c and
// mm/huge_memory.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 1000;  // a border of 2MB

TEST(Fault, FirstWriteMakesThreeTablesAndAPage) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 2048);
    p.memory.record();
    const fault first = p.touch(at);
    EXPECT_EQ(first.kind, FAULT_PAGE);
    EXPECT_EQ(first.order, 0u);
    EXPECT_EQ(first.tables.count, 3u);
    const auto allocs = p.memory.of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 4u);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(allocs[i].frame, first.tables.frame[i]);
    EXPECT_EQ(allocs[3].frame, first.frame);
    EXPECT_EQ(allocs[3].type, PHYS_MOVABLE);
    EXPECT_EQ(p.touch(at).kind, FAULT_NONE);
    EXPECT_EQ(p.touch(at, false).kind, FAULT_NONE);
    EXPECT_EQ(p.entry(at), pt_make(first.frame, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY));
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Fault, ATableForEach512Pages) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 2048);
    for (uint64_t i = 0; i < 2048; ++i) EXPECT_EQ(p.touch(at + i).tables.count, i == 0 ? 3u : i % 512 == 0 ? 1u : 0u) << i;
    EXPECT_EQ(p.process.pt.tables[0], 4u);
    EXPECT_EQ(p.process.anonymous_pages, 2048u);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Fault, EachBatchOf31PagesGoesToTheLruList) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 200);
    for (uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(p.touch(at + i).lru_drained, i % 31 == 0) << i;
    EXPECT_EQ(p.system.lru.counts.drains, 3u);
    EXPECT_TRUE(bitmap_get(p.memory.p.frames.lru, pt_value(p.entry(at + 93))));
    EXPECT_FALSE(bitmap_get(p.memory.p.frames.lru, pt_value(p.entry(at + 94))));
}

TEST(Fault, ReadsGetTheZeroPageAndWritesReplaceIt) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 10);
    const fault read = p.touch(at, false);
    EXPECT_EQ(read.kind, FAULT_ZERO);
    EXPECT_EQ(read.frame, PHYS_NO_FRAME);
    EXPECT_EQ(read.tables.count, 3u);
    EXPECT_EQ(p.process.areas.item[0].anon, 0u);  // no anon_vma for a zero page
    EXPECT_EQ(p.touch(at, false).kind, FAULT_NONE);
    const fault write = p.touch(at);
    EXPECT_EQ(write.kind, FAULT_COPY);
    EXPECT_EQ(write.tables.count, 0u);
    EXPECT_EQ(p.process.anonymous_pages, 1u);
    EXPECT_NE(p.process.areas.item[0].anon, 0u);
}

TEST(Fault, RightsDecideBeforeMappings) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 1, AREA_READ);
    p.map(at + 1, 1, 0);
    p.map(at + 2, 1);
    p.map(at + 4, 1, rw, 7, 3);
    EXPECT_EQ(p.touch(at).kind, FAULT_BAD_ACCESS);
    EXPECT_EQ(p.touch(at, false).kind, FAULT_ZERO);
    EXPECT_EQ(p.touch(at + 1, false).kind, FAULT_BAD_ACCESS);
    EXPECT_EQ(p.touch(at + 3, false).kind, FAULT_BAD_ACCESS);
    EXPECT_EQ(p.touch(at + 4).kind, FAULT_NOT_MODELLED);
    p.touch(at + 2);
    process_protect(&p.process, at + 2, 1, 0);
    EXPECT_EQ(p.touch(at + 2, false).kind, FAULT_BAD_ACCESS);  // the page is still there
    EXPECT_EQ(p.process.anonymous_pages, 1u);
    process_protect(&p.process, at + 2, 1, rw);
    EXPECT_EQ(p.touch(at + 2).kind, FAULT_NONE);  // and writable again without a fault
}

TEST(Fault, ProtectKeepsZeroPagesReadOnly) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 2);
    p.touch(at, false);
    p.touch(at + 1);
    process_protect(&p.process, at, 2, AREA_READ);
    EXPECT_FALSE(p.entry(at + 1) & PT_WRITE);
    process_protect(&p.process, at, 2, rw);
    EXPECT_TRUE(p.entry(at + 1) & PT_WRITE);
    EXPECT_EQ(p.touch(at).kind, FAULT_COPY);
}

TEST(Huge, ABlockThenTheTableToDeposit) {
    Process p;
    p.map(at, 1024);
    p.memory.record();
    const fault first = p.touch(at + 77);
    EXPECT_EQ(first.kind, FAULT_PAGE);
    EXPECT_EQ(first.order, 9u);
    EXPECT_EQ(first.tables.count, 3u);
    EXPECT_TRUE(first.lru_drained);
    const auto allocs = p.memory.of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 4u);
    EXPECT_EQ(allocs[2].frame, first.frame);
    EXPECT_EQ(allocs[2].order, 9);
    EXPECT_EQ(allocs[3].frame, first.tables.frame[2]);
    EXPECT_EQ(p.process.pt.tables[0], 1u);
    EXPECT_EQ(p.process.pt.deposited, 1u);
    EXPECT_EQ(p.touch(at + 511).kind, FAULT_NONE);
    EXPECT_EQ(p.touch(at + 512).order, 9u);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Huge, TheAreaHoldsTheAligned2Mb) {
    const struct {
        uint64_t start, end;
        bool huge;
    } rows[] = {{at, at + 512, true}, {at + 1, at + 512, false}, {at, at + 511, false}, {at - 1, at + 513, true}};
    for (const auto &row : rows) {
        Process p;
        p.map(row.start, row.end - row.start);
        const fault first = p.touch(at + 100);
        EXPECT_EQ(first.order == 9, row.huge) << row.start << " " << row.end;
        EXPECT_FALSE(first.fallback);
        EXPECT_EQ(p.system.counts.thp_fault_fallback, 0u);
    }
}

TEST(Huge, SettingsAndAdvice) {
    const struct {
        thp_enabled enabled;
        int advice;  // -1: none
        bool huge;
    } rows[] = {{THP_ALWAYS, -1, true},   {THP_ALWAYS, ADVICE_HUGEPAGE, true},  {THP_ALWAYS, ADVICE_NOHUGEPAGE, false},
                {THP_MADVISE, -1, false}, {THP_MADVISE, ADVICE_HUGEPAGE, true}, {THP_MADVISE, ADVICE_NOHUGEPAGE, false},
                {THP_NEVER, -1, false},   {THP_NEVER, ADVICE_HUGEPAGE, false},  {THP_NEVER, ADVICE_NOHUGEPAGE, false}};
    for (const auto &row : rows) {
        Process p(settings_of(row.enabled));
        p.map(at, 512);
        if (row.advice >= 0) process_advise(&p.process, at, 512, static_cast<process_advice>(row.advice), 0);
        EXPECT_EQ(p.touch(at).order == 9, row.huge) << row.enabled << " " << row.advice;
    }
}

TEST(Huge, DefragDecidesTheRequest) {
    const struct {
        thp_defrag defrag;
        bool advised, reclaim, wake;
    } rows[] = {{THP_DEFRAG_ALWAYS, false, true, false},        {THP_DEFRAG_ALWAYS, true, true, false},
                {THP_DEFRAG_DEFER, false, false, true},         {THP_DEFRAG_DEFER, true, false, true},
                {THP_DEFRAG_DEFER_MADVISE, false, false, true}, {THP_DEFRAG_DEFER_MADVISE, true, true, false},
                {THP_DEFRAG_MADVISE, false, false, false},      {THP_DEFRAG_MADVISE, true, true, false},
                {THP_DEFRAG_NEVER, false, false, false},        {THP_DEFRAG_NEVER, true, false, false}};
    for (const auto &row : rows) {
        const thp settings = settings_of(THP_ALWAYS, row.defrag);
        const area one = {0, 512, 0, 0, 0, rw | (row.advised ? uint32_t{AREA_HUGEPAGE} : 0u)};
        const phys_request request = thp_fault_request(&settings, &one, 0);
        EXPECT_EQ(request.may_reclaim, row.reclaim) << row.defrag << row.advised;
        EXPECT_EQ(request.may_wake_kswapd, row.wake) << row.defrag << row.advised;
        EXPECT_TRUE(request.no_reserves);
    }
}

TEST(Huge, FallsBackOrAsksForCompaction) {
    Process p(settings_of(THP_ALWAYS, THP_DEFRAG_MADVISE));
    p.map(at, 1024);
    p.use_up_blocks();
    const fault quiet = p.touch(at);
    EXPECT_EQ(quiet.kind, FAULT_PAGE);
    EXPECT_EQ(quiet.order, 0u);
    EXPECT_TRUE(quiet.fallback);
    EXPECT_EQ(p.system.counts.thp_fault_fallback, 1u);
    EXPECT_FALSE(p.touch(at + 1).fallback);  // the table is there: 2MB is no question any more
    process_advise(&p.process, at + 512, 512, ADVICE_HUGEPAGE, 0);
    const fault asks = p.touch(at + 512);
    EXPECT_EQ(asks.kind, FAULT_NEEDS);
    EXPECT_EQ(asks.outcome, PHYS_NEEDS_COMPACTION);
    EXPECT_EQ(asks.needs_order, 9u);
    EXPECT_EQ(p.system.counts.thp_fault_fallback, 1u);
    const fault given_up = p.touch(at + 512, true, FAULT_WITHOUT_HUGE);
    EXPECT_EQ(given_up.kind, FAULT_PAGE);
    EXPECT_TRUE(given_up.fallback);
    EXPECT_EQ(p.system.counts.thp_fault_fallback, 2u);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Huge, ReadsShareTheHugeZeroPage) {
    Process p;
    p.map(at, 1024);
    p.memory.record();
    const fault read = p.touch(at, false);
    EXPECT_EQ(read.kind, FAULT_ZERO);
    EXPECT_EQ(read.order, 9u);
    const auto allocs = p.memory.of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 4u);
    EXPECT_EQ(allocs[2].frame, read.tables.frame[2]);  // the table comes first here
    EXPECT_EQ(allocs[3].frame, p.system.huge_zero);
    EXPECT_EQ(allocs[3].type, PHYS_UNMOVABLE);
    EXPECT_EQ(p.touch(at + 512, false).tables.count, 1u);
    EXPECT_EQ(p.system.counts.thp_zero_page_alloc, 1u);
    EXPECT_FALSE(vm_shrink_huge_zero(&p.system, 0));  // in use
    const fault write = p.touch(at + 3);
    EXPECT_EQ(write.kind, FAULT_COPY);
    EXPECT_EQ(write.order, 0u);
    EXPECT_TRUE(write.split);
    EXPECT_EQ(write.tables.count, 0u);
    EXPECT_EQ(p.entry(at + 2), pt_make(0, PT_PRESENT | PT_YOUNG | PT_ZERO));
    EXPECT_EQ(p.process.anonymous_pages, 1u);
    EXPECT_EQ(p.broken(), nullptr);
    p.end();
    EXPECT_TRUE(vm_shrink_huge_zero(&p.system, 0));
}

struct HugeZero : testing::Test {
    void SetUp() override {
        p.map(at, 1024);
        p.touch(at + 512, true, FAULT_WITHOUT_HUGE);  // the tables above exist
        p.use_up_blocks();
        p.memory.record();
        const fault asks = p.touch(at, false);
        ASSERT_EQ(asks.kind, FAULT_NEEDS);
        ASSERT_EQ(asks.outcome, PHYS_NEEDS_COMPACTION);
        ASSERT_EQ(asks.tables.count, 0u);  // reported when it is mapped
        ASSERT_EQ(p.memory.of_kind(PHYS_ALLOC).size(), 1u);
        table = p.memory.of_kind(PHYS_ALLOC)[0].frame;
        ASSERT_TRUE(p.memory.of_kind(PHYS_FREE).empty());
        p.memory.events.clear();
    }
    Process p{settings_of(THP_ALWAYS)};
    uint32_t table = 0;
};

TEST_F(HugeZero, TheFaultHoldsItsTableWhileMemoryIsCompacted) {
    // do_huge_pmd_anonymous_page takes the table once, before get_huge_zero_page, and frees it only after a refusal.
    EXPECT_EQ(p.touch(at, false).outcome, PHYS_NEEDS_COMPACTION);
    EXPECT_TRUE(p.memory.of_kind(PHYS_ALLOC).empty() && p.memory.of_kind(PHYS_FREE).empty());
    p.free_one_block();
    p.memory.events.clear();
    const fault read = p.touch(at, false);
    EXPECT_EQ(read.kind, FAULT_ZERO);
    ASSERT_EQ(read.tables.count, 1u);
    EXPECT_EQ(read.tables.frame[0], table);
    ASSERT_EQ(p.memory.of_kind(PHYS_ALLOC).size(), 1u);  // the 2MB only
    EXPECT_EQ(p.memory.of_kind(PHYS_ALLOC)[0].order, 9);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(HugeZero, AFallbackFreesTheTableAndTakesOneForItself) {
    const fault read = p.touch(at, false, FAULT_WITHOUT_HUGE);
    EXPECT_TRUE(read.fallback);
    EXPECT_EQ(read.order, 0u);
    ASSERT_EQ(p.memory.of_kind(PHYS_FREE).size(), 1u);
    EXPECT_EQ(p.memory.of_kind(PHYS_FREE)[0].frame, table);
    ASSERT_EQ(read.tables.count, 1u);
    EXPECT_EQ(p.memory.of_kind(PHYS_ALLOC)[0].frame, read.tables.frame[0]);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(HugeZero, AnExitFreesAHeldTable) {
    p.end();
    EXPECT_FALSE(frame_is(&p.memory.p.frames, table, FRAME_USED, 0));
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Huge, WithoutZeroPageReadsGetABlock) {
    thp settings = thp_default();
    settings.use_zero_page = false;
    Process p(settings);
    p.map(at, 512);
    EXPECT_EQ(p.touch(at, false).kind, FAULT_PAGE);
    EXPECT_EQ(p.process.anonymous_pages, 512u);
}

TEST(Huge, ASplitBlockGoesWithItsLastPage) {
    Process p;
    p.map(at, 512);
    const uint32_t block = p.touch(at).frame;
    percpu_drain_all(&p.memory.p, 0);
    const int64_t before = free_everywhere(p.memory.p);
    EXPECT_EQ(process_unmap(&p.process, at + 1, 511, 0), nullptr);
    EXPECT_EQ(p.system.counts.thp_split_pmd, 1u);
    EXPECT_EQ(p.system.mappings[block >> 9], 1u);
    EXPECT_EQ(p.broken(), nullptr);
    percpu_drain_all(&p.memory.p, 0);
    EXPECT_EQ(free_everywhere(p.memory.p), before);  // the block is in use as a whole, and its table, too
    EXPECT_TRUE(frame_is(&p.memory.p.frames, block, FRAME_USED, 9));
    process_advise(&p.process, at, 1, ADVICE_DONTNEED, 0);
    EXPECT_FALSE(frame_is(&p.memory.p.frames, block, FRAME_USED, 9));
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Huge, BordersSplitOnlyInside) {
    Process p;
    p.map(at, 1024);
    p.touch(at);
    p.touch(at + 512);
    process_protect(&p.process, at, 512, AREA_READ);
    EXPECT_EQ(p.system.counts.thp_split_pmd, 0u);
    EXPECT_FALSE(p.entry(at) & PT_WRITE);
    process_protect(&p.process, at + 512, 511, AREA_READ);
    EXPECT_EQ(p.system.counts.thp_split_pmd, 1u);
    EXPECT_FALSE(p.entry(at + 1022) & PT_WRITE);
    EXPECT_TRUE(p.entry(at + 1023) & PT_WRITE);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Remap, MovesBlocksTablesAndPages) {
    Process p;
    p.map(at, 1024);
    const uint32_t block = p.touch(at).frame;
    process_advise(&p.process, at + 512, 512, ADVICE_NOHUGEPAGE, 0);
    const uint32_t page = p.touch(at + 600).frame, table = p.process.pt.tables[0];
    EXPECT_EQ(process_remap(&p.process, at, 512, 512, at + 4096, 0), nullptr);
    EXPECT_EQ(process_remap(&p.process, at + 512, 512, 512, at + 8192, 0), nullptr);
    unsigned level = 9;
    EXPECT_EQ(pt_value(p.entry(at + 4096, &level)), block);
    EXPECT_EQ(level, 1u);
    EXPECT_EQ(pt_value(p.entry(at + 8192 + 88)), page);
    EXPECT_EQ(p.process.pt.tables[0], table);
    EXPECT_EQ(p.broken(), nullptr);
    EXPECT_EQ(process_remap(&p.process, at + 4096, 512, 512, at + 12289, 0), nullptr);  // not aligned alike: split
    EXPECT_EQ(pt_value(p.entry(at + 12289 + 511)), block + 511);
    EXPECT_EQ(p.system.counts.thp_split_pmd, 1u);
    EXPECT_EQ(p.system.mappings[block >> 9], 512u);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Gather, TheSeventhPageNeedsAFrame) {
    // 7 entries fill the batch on the stack (8, one kept free); the next batch takes a frame before anything is freed.
    for (const uint64_t pages : {6, 7}) {
        Process p(settings_of(THP_NEVER));
        p.map(at, 512);
        for (uint64_t i = 0; i < pages; ++i) p.touch(at + i);
        p.memory.record();
        process_advise(&p.process, at, 512, ADVICE_DONTNEED, 0);
        EXPECT_EQ(p.memory.of_kind(PHYS_ALLOC).size(), pages == 7 ? 1u : 0u) << pages;
        EXPECT_EQ(p.memory.of_kind(PHYS_FREE).size(), pages == 7 ? 8u : 6u);
    }
}

TEST(Gather, NineteenFullBatchesAreFreedAtOnce) {
    // 7 entries on the stack and 509 in each of 19 frames: the entry 7 + 19 x 509 = 9678 finds no further batch, so all of them are freed
    // before the next entry. A 2MB mapping above them shows it: its deposited table is freed when the mapping is cleared.
    for (const uint64_t pages : {9677, 9678}) {
        Process p;
        p.map(at, 20 * 512);
        process_advise(&p.process, at, 19 * 512, ADVICE_NOHUGEPAGE, 0);
        std::vector<uint32_t> frames;
        for (uint64_t i = 0; i < pages; ++i) frames.push_back(p.touch(at + i).frame);
        const fault huge = p.touch(at + 19 * 512);
        ASSERT_EQ(huge.order, 9u);
        ASSERT_EQ(huge.tables.count, 1u);
        const uint32_t deposit = huge.tables.frame[0];
        if (pages == 9677) frames.insert(frames.begin(), deposit);
        else frames.push_back(deposit);
        frames.push_back(huge.frame);
        p.memory.record();
        EXPECT_EQ(process_unmap(&p.process, at, 20 * 512, 0), nullptr);
        EXPECT_EQ(p.memory.of_kind(PHYS_ALLOC).size(), 19u);
        const auto frees = p.memory.of_kind(PHYS_FREE);
        ASSERT_EQ(frees.size(), pages + 2 + 19 + 2 + 19);  // pages, deposit, block; tables of levels 0, 1 and 2; batches
        for (size_t i = 0; i < frames.size(); ++i) ASSERT_EQ(frees[i].frame, frames[i]) << pages << " " << i;
        EXPECT_EQ(p.broken(), nullptr);
    }
}

TEST(Fault, MemoryThatRunsOutIsNamed) {
    Process p(settings_of(THP_NEVER), 64 * mib);
    p.map(at, 1 << 16);
    fault last{};
    uint64_t page = 0;
    while ((last = p.touch(at + page)).kind == FAULT_PAGE) ++page;
    EXPECT_EQ(last.kind, FAULT_NEEDS);
    EXPECT_EQ(last.outcome, PHYS_NEEDS_RECLAIM);
    EXPECT_EQ(last.needs_order, 0u);
    EXPECT_GT(page, 10000u);
    EXPECT_EQ(p.broken(), nullptr);
}

}  // namespace
