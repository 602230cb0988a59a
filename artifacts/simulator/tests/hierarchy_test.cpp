// hierarchy_test.cpp - the rule of the data caches by hand, the ablation without pollution, and flat caches against lists.
#include <gtest/gtest.h>

#include <random>

#include "cache/cache_level.h"
#include "engine/any_design/flat_cache.h"
#include "engine/any_design/lru_lines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

using enum MemoryLevel;

/// One set each: 1, 2 and 4 lines.
Platform one_set() {
    Platform p = tiny(0);
    p.l1d = {64, 1, 4}, p.l2 = {128, 2, 12}, p.l3 = {256, 4, 30};
    return p;
}

/// The serving level of each line in order: 1, 2, 3 or M.
std::string served(auto&& reference, const std::string& lines) {
    std::string text;
    for (char line : lines) {
        const MemoryLevel level = reference(LineNumber(uint64_t(line)));
        text += level == l1d ? '1' : level == l2 ? '2' : level == l3 ? '3' : 'M';
    }
    return text;
}

TEST(Hierarchy, LowerLevelsSeeOnlyWhatMissesAbove) {
    Hierarchy caches(one_set());
    EXPECT_EQ(served([&](LineNumber l) { return caches.reference(l); }, "aab"), "M1M");
    // L2 saw a, b. a again: L1D holds b. Hits of a in L1D do not refresh L2, so c and d push a out of L2 while L1D keeps it.
    EXPECT_EQ(served([&](LineNumber l) { return caches.reference(l); }, "a"), "2");
    EXPECT_EQ(served([&](LineNumber l) { return caches.reference_below_l1d(l); }, "cd"), "MM");
    EXPECT_EQ(served([&](LineNumber l) { return caches.reference(l); }, "a"), "1");  // not inclusive: nothing was invalidated
    EXPECT_EQ(served([&](LineNumber l) { return caches.reference(l); }, "ba"), "33");  // L3 still has all four
}

TEST(Hierarchy, LeastRecentLineLeavesEachLevel) {
    Hierarchy caches(one_set());
    EXPECT_EQ(served([&](LineNumber l) { return caches.reference(l); }, "abcdeabcde"), "MMMMMMMMMM");  // five lines cycle through four
    Hierarchy four(one_set());
    EXPECT_EQ(served([&](LineNumber l) { return four.reference(l); }, "abcdabcd"), "MMMM3333");
}

TEST(DataCaches, WithoutPollutionTheProgramSeesNoWalkerLoads) {
    for (const uint64_t pollutes : {1, 0}) {
        Platform p = one_set();
        p.walker_pollutes = pollutes;
        DataCaches<CacheLevel> caches(p);
        const auto program = [&](LineNumber l) { return caches.program(l); };
        const auto walker = [&](LineNumber l) { return caches.walker(l); };
        EXPECT_EQ(served(program, "a"), "M");
        EXPECT_EQ(served(walker, "wx"), "MM");  // evicts a from L1D and L2
        EXPECT_EQ(served(program, "a"), pollutes ? "3" : "1");
        EXPECT_EQ(served(walker, "w"), "3");  // the walker always shares: x and a pushed w out of L2
    }
}

TEST(DataCaches, PrefetchesIntoL2LeaveL1dAlone) {
    DataCaches<CacheLevel> caches(one_set());
    EXPECT_EQ(served([&](LineNumber l) { return caches.program(l); }, "a"), "M");
    EXPECT_EQ(served([&](LineNumber l) { return caches.prefetch_into_l2(l); }, "bb"), "M2");
    EXPECT_EQ(served([&](LineNumber l) { return caches.program(l); }, "ab"), "12");
    EXPECT_EQ(served([&](LineNumber l) { return caches.prefetch_into_l1d(l); }, "bc"), "1M");
}

TEST(FlatHierarchy, IsTheListHierarchy) {
    std::mt19937_64 random(21);
    for (unsigned variant = 0; variant < 24; ++variant) {
        Platform p = tiny(variant % 12);
        if (variant >= 12) p.l3_slices = std::array<uint64_t, 6>{1, 2, 3, 4, 9, 36}[variant % 6];
        Hierarchy lists(p);
        any_design::FlatHierarchy flat(p);
        for (int i = 0; i < 60000; ++i) {
            const LineNumber line(random() % (random() % 4 ? 60 : 900) + (random() % 2) * (uint64_t{1} << 44));
            const bool below = random() % 5 == 0;
            ASSERT_EQ(below ? flat.reference_below_l1d(line) : flat.reference(line),
                      below ? lists.reference_below_l1d(line) : lists.reference(line));
        }
    }
}

/// Against lists in the order of use. Tags differ in the low 32 bits, in the others, or in both; from 40 bits on they are kept in another way.
TEST(LruLines, AreListsInOrderOfUse) {
    std::mt19937_64 random(23);
    for (const unsigned tag_bits : {39u, 40u, 47u})
        for (uint64_t ways = 1; ways <= any_design::LruLines::most_ways; ways = ways < 22 ? ways + 1 : ways * 2 - 11) {
            constexpr size_t sets = 3;
            any_design::LruLines lines(sets, ways, tag_bits);
            std::vector<std::vector<uint64_t>> recent(sets);
            for (int i = 0; i < 4000; ++i) {
                const size_t set = random() % sets;
                const uint64_t low = random() % (ways + 2) / 2, high = random() % 3, tag = low | high << (tag_bits - 2);
                std::vector<uint64_t>& expected = recent[set];
                const auto found = std::find(expected.begin(), expected.end(), tag);
                const bool hit = found != expected.end();
                ASSERT_EQ(lines.holds(set, tag), hit);
                ASSERT_EQ(lines.use(set, tag), hit) << tag_bits << " bits, " << ways << " ways, reference " << i;
                if (hit) expected.erase(found);
                else if (expected.size() == ways) expected.pop_back();
                expected.insert(expected.begin(), tag);
            }
        }
}

/// Haswell's L3 and 1920 lines 32 KB apart. Without slices they are in 48 sets, 40 in each: more than 20 ways. With slices,
/// the set of line 512 i within its slice is 512 (i mod 4) XOR (i div 64): 4 x 30 sets of 16 lines each, whatever their slices.
TEST(SlicedL3, AStrideOf32KBStays) {
    for (const uint64_t slices : {0, 1, 2, 3, 6, 8, 12}) {
        Platform p = haswell();
        p.l3_slices = slices;
        Hierarchy lists(p);
        any_design::FlatHierarchy flat(p);
        for (int round = 0; round < 2; ++round)
            for (uint64_t i = 0; i < 1920; ++i) {
                ASSERT_EQ(lists.reference(LineNumber(512 * i)), slices != 0 && round == 1 ? l3 : dram) << slices << " slices, line " << i;
                ASSERT_EQ(flat.reference(LineNumber(512 * i)), slices != 0 && round == 1 ? l3 : dram);
            }
    }
}

TEST(Remainder, IsExactForAnyNumberOfSets) {
    std::mt19937_64 random(22);
    for (uint64_t sets : {1ull, 2ull, 3ull, 7ull, 12288ull, 49152ull, 1000003ull, (1ull << 26) - 1, 1ull << 26}) {
        const Remainder remainder(sets);
        for (int i = 0; i < 20000; ++i) {
            const uint64_t number = random() >> (random() % 64);
            ASSERT_EQ(remainder(number), number % sets) << number << " of " << sets;
        }
        ASSERT_EQ(remainder(~uint64_t{0}), ~uint64_t{0} % sets);
    }
}

}  // namespace
}  // namespace tessera::sim::testing
