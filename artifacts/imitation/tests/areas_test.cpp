// Areas: which merge, which split. Rows are derived by hand from mm/vma.c and mm/mmap.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

using namespace tests;

namespace {

struct Areas : testing::Test {
    Process p{settings_of(THP_NEVER)};
};

TEST_F(Areas, EqualNeighboursMerge) {
    p.map(100, 10);
    p.map(120, 10);
    EXPECT_EQ(p.areas(), "100-110 120-130");
    p.map(110, 10);
    EXPECT_EQ(p.areas(), "100-130");
}

TEST_F(Areas, RightsFilesAndOffsetsKeepNeighboursApart) {
    p.map(100, 10);
    p.map(110, 10, AREA_READ);
    p.map(120, 10, AREA_READ, 1, 0);
    p.map(130, 10, AREA_READ, 1, 11);
    p.map(140, 10, AREA_READ, 1, 21);
    p.map(150, 10, AREA_READ, 2, 31);
    EXPECT_EQ(p.areas(), "100-110 110-120 120-130 130-150 150-160");
}

TEST_F(Areas, AnUntouchedAreaJoinsATouchedOne) {
    p.map(100, 10);
    p.touch(100);
    p.map(110, 10);
    p.map(90, 10);
    EXPECT_EQ(p.areas(), "90-120");
}

TEST_F(Areas, ATouchedAreaDoesNotJoinAnUntouchedOne) {
    // 6.12's is_mergeable_anon_vma asks the neighbour's list for exactly one element; an untouched area has none.
    p.map(100, 10);
    p.map(110, 10, AREA_READ);
    p.touch(100);
    EXPECT_EQ(process_protect(&p.process, 100, 10, AREA_READ), nullptr);
    EXPECT_EQ(p.areas(), "100-110 110-120");
}

TEST_F(Areas, TwoTouchedAreasWithDifferentAnonStayApart) {
    p.map(100, 10);
    p.map(120, 10);
    p.touch(100);
    p.touch(120);
    p.map(110, 10);
    EXPECT_EQ(p.areas(), "100-120 120-130");
}

TEST_F(Areas, NeighboursThatDifferInRightsShareAnon) {
    p.map(100, 10);
    p.map(110, 10, rw | AREA_EXEC);
    p.touch(100);
    p.touch(110);
    EXPECT_EQ(p.areas(), "100-110 110-120");
    EXPECT_EQ(process_protect(&p.process, 110, 10, rw), nullptr);
    EXPECT_EQ(p.areas(), "100-120");  // both were touched, so this needs one anon for both
}

TEST_F(Areas, ProtectSplitsAndMergesBack) {
    p.map(100, 30);
    p.touch(100);
    process_protect(&p.process, 110, 10, AREA_READ);
    EXPECT_EQ(p.areas(), "100-110 110-120 120-130");
    process_protect(&p.process, 115, 5, rw);  // joins the area above
    EXPECT_EQ(p.areas(), "100-110 110-115 115-130");
    process_protect(&p.process, 110, 2, rw);  // joins the area below
    EXPECT_EQ(p.areas(), "100-112 112-115 115-130");
    process_protect(&p.process, 112, 3, rw);
    EXPECT_EQ(p.areas(), "100-130");
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Areas, AccountingOutlivesTheRightToWrite) {
    // A touched area that was writable stays accounted for when it loses the right; so it differs from one that never was.
    p.map(100, 10);
    p.touch(100);
    process_protect(&p.process, 100, 10, AREA_READ);
    EXPECT_TRUE(p.process.areas.item[0].flags & AREA_ACCOUNT);
    p.map(110, 10, AREA_READ);
    EXPECT_EQ(p.areas(), "100-110 110-120");
    p.map(200, 10);
    process_protect(&p.process, 200, 10, AREA_READ);  // never touched
    p.map(210, 10, AREA_READ);
    EXPECT_EQ(p.areas(), "100-110 110-120 200-220");
}

TEST_F(Areas, ProtectStopsAtAHole) {
    p.map(100, 10);
    p.map(115, 10);
    EXPECT_NE(process_protect(&p.process, 100, 25, AREA_READ), nullptr);
    EXPECT_EQ(p.process.areas.item[0].flags & AREA_RIGHTS, static_cast<uint32_t>(AREA_READ));
    EXPECT_EQ(p.process.areas.item[1].flags & AREA_RIGHTS, rw);
}

TEST_F(Areas, AdviceGoesOnBehindAHole) {
    p.map(100, 10);
    p.map(115, 10);
    EXPECT_NE(process_advise(&p.process, 100, 25, ADVICE_HUGEPAGE, 0), nullptr);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(p.process.areas.item[i].flags & AREA_HUGEPAGE);
    process_advise(&p.process, 105, 1, ADVICE_NOHUGEPAGE, 0);
    EXPECT_EQ(p.areas(), "100-105 105-106 106-110 115-125");
    EXPECT_EQ(p.process.areas.item[1].flags & (AREA_HUGEPAGE | AREA_NOHUGEPAGE), static_cast<uint32_t>(AREA_NOHUGEPAGE));
}

TEST_F(Areas, UnmapSplits) {
    p.map(100, 30);
    EXPECT_EQ(process_unmap(&p.process, 110, 10, 0), nullptr);
    EXPECT_EQ(p.areas(), "100-110 120-130");
    p.map(105, 20, AREA_READ);  // over both
    EXPECT_EQ(p.areas(), "100-105 105-125 125-130");
}

TEST_F(Areas, HeapGrowsAndShrinks) {
    p.map(90, 10);
    EXPECT_NE(process_brk(&p.process, 120, 0), nullptr);
    EXPECT_EQ(process_heap(&p.process, 100), nullptr);
    EXPECT_EQ(process_brk(&p.process, 110, 0), nullptr);
    EXPECT_EQ(p.areas(), "90-100 100-110");  // the first brk looks at no area below the heap
    EXPECT_EQ(process_brk(&p.process, 120, 0), nullptr);
    EXPECT_EQ(p.areas(), "90-100 100-120");
    EXPECT_EQ(process_brk(&p.process, 105, 0), nullptr);
    EXPECT_EQ(p.areas(), "90-100 100-105");
    p.map(130, 10);
    EXPECT_NE(process_brk(&p.process, 130, 0), nullptr);  // one page has to stay free
    EXPECT_EQ(process_brk(&p.process, 129, 0), nullptr);
    EXPECT_NE(process_brk(&p.process, 99, 0), nullptr);
}

TEST_F(Areas, RemapInPlace) {
    p.map(100, 10);
    p.map(120, 10);
    EXPECT_NE(process_remap(&p.process, 100, 10, 21, 100, 0), nullptr);
    EXPECT_EQ(process_remap(&p.process, 100, 10, 20, 100, 0), nullptr);
    EXPECT_EQ(p.areas(), "100-130");  // the growth closed the gap
    EXPECT_EQ(process_remap(&p.process, 120, 10, 5, 120, 0), nullptr);
    EXPECT_EQ(p.areas(), "100-125");
    EXPECT_EQ(process_remap(&p.process, 120, 5, 5, 120, 0), nullptr);
    EXPECT_EQ(p.areas(), "100-125");
    EXPECT_NE(process_remap(&p.process, 110, 5, 10, 110, 0), nullptr);
}

TEST_F(Areas, AMovedAreaKeepsItsOffsetOnlyIfItWasTouched) {
    p.map(100, 20);
    p.map(1000, 10);
    EXPECT_EQ(process_remap(&p.process, 110, 10, 10, 1010, 0), nullptr);
    EXPECT_EQ(p.areas(), "100-110 1000-1020");  // untouched: it joins
    p.touch(100);
    EXPECT_EQ(process_remap(&p.process, 105, 5, 5, 2000, 0), nullptr);
    EXPECT_EQ(p.process.areas.item[2].offset, 105u);
    EXPECT_EQ(process_remap(&p.process, 2000, 5, 5, 105, 0), nullptr);
    EXPECT_EQ(p.areas(), "100-110 1000-1020");  // and back
}

TEST_F(Areas, Limits) {
    EXPECT_NE(p.map(0, 0), nullptr);
    EXPECT_EQ(p.map(PT_PAGES - 1, 1), nullptr);
    EXPECT_NE(p.map(PT_PAGES - 1, 2), nullptr);
    EXPECT_NE(p.map(10, 1, rw | AREA_SHARED), nullptr);
    EXPECT_NE(p.map(10, 1, rw, 0, 3), nullptr);
    for (uint64_t i = 0; p.process.areas.count + 2 <= AREA_MOST; ++i) ASSERT_EQ(p.map(100 + 2 * i, 1), nullptr);
    EXPECT_NE(p.map(10, 1), nullptr);
}

TEST(Place, MultiplesOf2MbAreAligned) {
    areas none{};
    EXPECT_EQ(place_area(&none, 10, 1, 100000), 99990u);
    EXPECT_EQ(place_area(&none, 511, 1, 100000), 99489u);
    // 512 pages: the gap for 1024 starts at 98976 = 193.3 x 512, so the area starts at 194 x 512.
    EXPECT_EQ(place_area(&none, 512, 1, 100000), 194u * 512);
    // An aligned gap moves up by 2MB, to its end.
    EXPECT_EQ(place_area(&none, 512, 1, 512 * 200), 512u * 199);
    EXPECT_EQ(place_area(&none, 512, 1, 600), 88u);  // no room for 2MB more: not aligned
    EXPECT_EQ(place_area(&none, 600, 1, 600), 0u);
    EXPECT_EQ(place_area(&none, 599, 1, 600), 1u);
}

TEST_F(Areas, PlaceTakesTheHighestGap) {
    p.map(100, 10);
    p.map(200, 10);
    EXPECT_EQ(place_area(&p.process.areas, 20, 1, 250), 230u);
    EXPECT_EQ(place_area(&p.process.areas, 90, 1, 250), 110u);
    EXPECT_EQ(place_area(&p.process.areas, 91, 1, 250), 9u);
    EXPECT_EQ(place_area(&p.process.areas, 100, 1, 250), 0u);
}

}  // namespace
