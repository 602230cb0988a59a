// tlb_organisation_test.cpp - which page size lives in which array, read off by what a look-up finds afterwards.
#include <gtest/gtest.h>

#include "support/platforms.h"
#include "tlb/organisation.h"

namespace tessera::sim::testing {
namespace {

using enum Translation;
constexpr PageNumber small(uint64_t n) { return {n, PageSize::small_4kb}; }
constexpr PageNumber large(uint64_t n) { return {n, PageSize::large_2mb}; }
constexpr PageNumber huge(uint64_t n) { return {n, PageSize::huge_1gb}; }

/// One-entry L1 arrays and second-level arrays of two entries, all fully associative.
Platform little() {
    Platform p = tiny(0);
    p.l1_4kb = p.l1_2mb = p.l1_1gb = {1, 1};
    p.stlb = {2, 2}, p.stlb_2mb = p.stlb_1gb = {};
    p.stlb_holds_2mb = p.stlb_holds_1gb = 0;
    return p;
}

/// Translates pages in order and returns what each look-up found.
std::vector<Translation> found(const Platform& p, const std::vector<PageNumber>& pages) {
    const auto tlbs = tlb_organisations().make("split", p);
    std::vector<Translation> all;
    for (const PageNumber page : pages) {
        all.push_back(tlbs->lookup(page));
        if (all.back() == miss) tlbs->fill(page);
    }
    return all;
}

TEST(Split, SizesHaveFirstLevelArraysOfTheirOwn) {
    EXPECT_EQ(found(little(), {small(1), large(1), huge(1), small(1), large(1), huge(1)}),
              (std::vector{miss, miss, miss, l1_hit, l1_hit, l1_hit}));
}

TEST(Split, SizesShareTheFirstLevelWhereThePlatformSaysSo) {
    Platform p = little();
    p.l1_2mb_in_4kb = p.l1_1gb_in_4kb = 1;
    p.l1_2mb = p.l1_1gb = {};
    EXPECT_EQ(found(p, {small(1), large(1), large(1), small(1)}), (std::vector{miss, miss, l1_hit, stlb_hit}));
    EXPECT_EQ(found(p, {small(1), huge(1), huge(1), small(1)}), (std::vector{miss, miss, l1_hit, stlb_hit}));
}

TEST(Split, WithoutASecondLevelEachFirstLevelMissWalks) {
    EXPECT_EQ(found(little(), {large(1), large(2), large(1)}), (std::vector{miss, miss, miss}));
    Platform none = little();
    none.stlb = {};
    none.stlb_holds_2mb = 1;
    EXPECT_EQ(found(none, {small(1), small(2), small(1)}), (std::vector{miss, miss, miss}));
    EXPECT_EQ(found(none, {large(1), large(2), large(1)}), (std::vector{miss, miss, miss}));
}

TEST(Split, SharedSecondLevelHoldsBothSizesOfTheSameNumber) {
    Platform p = little();
    p.stlb_holds_2mb = 1;
    const std::vector<PageNumber> pages = {small(7), large(7), small(8), large(8), small(7), large(7)};
    EXPECT_EQ(found(p, pages), (std::vector{miss, miss, miss, miss, miss, miss}));  // four pages in two ways
    p.stlb = {4, 4};
    EXPECT_EQ(found(p, pages), (std::vector{miss, miss, miss, miss, stlb_hit, stlb_hit}));
}

TEST(Split, SecondLevelArraysOfTheirOwnLeaveTheSharedOneAlone) {
    Platform p = little();
    p.stlb_2mb = p.stlb_1gb = {2, 1};
    EXPECT_EQ(found(p, {small(1), small(2), large(1), large(2), huge(1), huge(2), small(1), large(1), huge(1)}),
              (std::vector{miss, miss, miss, miss, miss, miss, stlb_hit, stlb_hit, stlb_hit}));
}

TEST(Split, LevelsAreNotInclusive) {
    // Page 1 stays in L1 by hits that the second level does not see; 2 and 3 push it out there.
    Platform p = little();
    p.l1_4kb = {2, 2};
    EXPECT_EQ(found(p, {small(1), small(2), small(1), small(3), small(1), small(2), small(1)}),
              (std::vector{miss, miss, l1_hit, miss, l1_hit, stlb_hit, l1_hit}));
    EXPECT_EQ(found(p, {small(1), small(2), small(1), small(3), small(1), small(2), small(3), small(1)}).back(), miss);
}

TEST(Split, InstructionPagesShareTheSecondLevelOnly) {
    const auto tlbs = tlb_organisations().make("split", little());
    EXPECT_FALSE(tlbs->lookup_instruction(small(9)));
    tlbs->fill_instruction(small(9));
    EXPECT_TRUE(tlbs->lookup_instruction(small(9)));
    EXPECT_EQ(tlbs->lookup(small(9)), stlb_hit);  // never in the data-side L1
}

}  // namespace
}  // namespace tessera::sim::testing
