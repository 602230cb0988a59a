// mremap's move of page tables: whole tables where source and target are aligned alike, and the way back after a failure. Derived by
// hand from mm/mremap.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

using namespace tests;

namespace {

constexpr uint64_t gigabyte = 1 << 18;   // in pages
constexpr uint64_t at = 512 * 1000;      // a border of 2MB; 24 ranges of 2MB lie above it in the same 1GB

const pt_table *table_of(const Process &p, uint64_t page, unsigned level) {
    unsigned missing;
    return pt_find_table(&p.process.pt, page, level, &missing);
}

TEST(Move, AnAligned1GbMovesByOneSlotOfLevel2) {
    // move_normal_pud: the level-1 table moves with everything below it, so no table is taken and none is left behind.
    Process p;
    const uint64_t from = 2 * gigabyte, to = 5 * gigabyte;
    p.map(from, gigabyte);
    const uint32_t block = p.touch(from).frame;
    process_advise(&p.process, from + gigabyte - 512, 512, ADVICE_NOHUGEPAGE, 0);
    const uint32_t page = p.touch(from + gigabyte - 1).frame;
    // One area again, so that one call can move it.
    process_advise(&p.process, from, gigabyte, ADVICE_HUGEPAGE, 0);
    ASSERT_EQ(p.process.areas.count, 1u);
    const uint32_t level1 = table_of(p, from, 1)->frame, level0 = table_of(p, from + gigabyte - 1, 0)->frame;
    p.memory.record();
    ASSERT_EQ(process_remap(&p.process, from, gigabyte, gigabyte, to, 0), nullptr);
    EXPECT_TRUE(p.memory.of_kind(PHYS_ALLOC).empty());
    EXPECT_TRUE(p.memory.of_kind(PHYS_FREE).empty());
    EXPECT_EQ(table_of(p, from, 1), nullptr);
    ASSERT_NE(table_of(p, to, 1), nullptr);
    EXPECT_EQ(table_of(p, to, 1)->frame, level1);
    EXPECT_EQ(table_of(p, to + gigabyte - 1, 0)->frame, level0);
    EXPECT_EQ(pt_value(p.entry(to)), block);
    EXPECT_EQ(pt_value(p.entry(to + gigabyte - 1)), page);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Move, OnePageLessThan1GbMovesBy2Mb) {
    Process p(settings_of(THP_NEVER));
    const uint64_t from = 2 * gigabyte, to = 5 * gigabyte;
    p.map(from, gigabyte);
    p.touch(from);
    const uint32_t level1 = table_of(p, from, 1)->frame, level0 = table_of(p, from, 0)->frame;
    ASSERT_EQ(process_remap(&p.process, from, gigabyte - 1, gigabyte - 1, to, 0), nullptr);
    EXPECT_NE(table_of(p, to, 1)->frame, level1);
    EXPECT_EQ(table_of(p, to, 0)->frame, level0);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Move, ARangeThatIsAlignedAlikeMovesFromTheBorderBelow) {
    // try_realign_addr: source and target start 100 pages above a border of 2MB, reach the next border, and nothing lies below them.
    const struct {
        const char *name;
        uint64_t pages, to;
        bool below_source, below_target, whole;
    } rows[] = {{"free below", 412, 100, false, false, true},
                {"does not reach the border", 411, 100, false, false, false},
                {"an area below the source", 412, 100, true, false, false},
                {"an area below the target", 412, 100, false, true, false},
                {"not aligned alike", 412, 99, false, false, false}};
    for (const auto &row : rows) {
        Process p(settings_of(THP_NEVER));
        const uint64_t from = at + 100, to = at + 4096 + row.to;
        p.map(from, row.pages);
        if (row.below_source) p.map(at + 10, 10, AREA_READ);
        if (row.below_target) p.map(at + 4096 + 10, 10, AREA_READ);
        const uint32_t first = p.touch(from).frame, last = p.touch(from + row.pages - 1).frame;
        const uint32_t table = table_of(p, from, 0)->frame;
        p.memory.record();
        ASSERT_EQ(process_remap(&p.process, from, row.pages, row.pages, to, 0), nullptr) << row.name;
        EXPECT_EQ(table_of(p, to, 0)->frame == table, row.whole) << row.name;
        EXPECT_EQ(p.memory.of_kind(PHYS_ALLOC).empty(), row.whole) << row.name;
        EXPECT_EQ(pt_value(p.entry(to)), first) << row.name;
        EXPECT_EQ(pt_value(p.entry(to + row.pages - 1)), last) << row.name;
        EXPECT_EQ(p.broken(), nullptr) << row.name;
    }
}

TEST(Move, AFailureMovesEverythingBack) {
    // The source covers two ranges of 2MB, the target three, one page off: three tables. Memory is full; one page of another area is
    // freed before each try, so that some tries get the first table, or two, and not the last one.
    Process p(settings_of(THP_NEVER), 64 * mib);
    const uint64_t to = at + 4096 + 1, filler = at + 8192;
    p.map(at, 1024);
    std::vector<uint32_t> frames;
    for (uint64_t i = 0; i < 1024; ++i) frames.push_back(p.touch(at + i).frame);
    p.map(filler, 1 << 14);
    uint64_t filled = 0;
    while (p.touch(filler + filled).kind == FAULT_PAGE) ++filled;
    p.memory.record();
    int partial = 0;
    const char *rule = nullptr;
    for (uint64_t tries = 0; tries < 2000; ++tries) {
        process_advise(&p.process, filler + tries, 1, ADVICE_DONTNEED, 0);
        percpu_drain_all(&p.memory.p, 0);
        p.memory.events.clear();
        rule = process_remap(&p.process, at, 1024, 1024, to, 0);
        if (!rule) break;
        EXPECT_NE(std::string(rule).find("table"), std::string::npos) << rule;
        ASSERT_TRUE(areas_free(&p.process.areas, to, to + 1024));
        for (uint64_t i = 0; i < 1024; ++i) ASSERT_EQ(pt_value(p.entry(at + i)), frames[i]) << tries << " " << i;
        if (p.memory.of_kind(PHYS_ALLOC).empty()) continue;
        ++partial;
        ASSERT_EQ(p.broken(), nullptr) << tries;
    }
    EXPECT_EQ(rule, nullptr);
    EXPECT_GT(partial, 0);  // at least one try failed after a part had moved
    for (uint64_t i = 0; i < 1024; ++i) ASSERT_EQ(pt_value(p.entry(to + i)), frames[i]) << i;
    EXPECT_EQ(p.broken(), nullptr);
}

}  // namespace
