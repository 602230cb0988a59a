// recent_sets_test.cpp - sets in the order of use: by hand, and against a list for each set.
#include "tlb/recent_sets.h"

#include <gtest/gtest.h>

#include <list>
#include <random>

#include "tlb/entry_name.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t unused = ~uint64_t{0};

TEST(RecentSets, ByHand) {  // two sets, three ways
    RecentSets sets(Geometry{6, 3});
    EXPECT_EQ(sets.lookup(1, 10), std::nullopt);
    sets.fill(1, 10, 7), sets.fill(1, 11, 8), sets.fill(3, 12, 9);  // index 3 is set 1
    EXPECT_EQ(sets.lookup(0, 10), std::nullopt);
    EXPECT_EQ(sets.lookup(1, 10), 7u);
    sets.fill(1, 13, 65536);  // 11 leaves
    EXPECT_EQ(sets.lookup(1, 11), std::nullopt);
    EXPECT_EQ(sets.lookup(1, 13), 65536u);
    EXPECT_EQ(sets.lookup(1, 12), 9u);
    sets.drop([](uint64_t name, uint64_t value) { return name == 13 && value == 65536; });
    sets.fill(1, 14, 0);
    EXPECT_EQ(sets.lookup(1, 10), 7u);
    sets.fill(1, 15, 0);  // 12 is the least recent one
    EXPECT_EQ(sets.lookup(1, 12), std::nullopt);
    EXPECT_EQ(sets.lookup(1, 10), 7u);
}

TEST(RecentSets, TellKernelAndUserPagesApart) {
    RecentSets sets(Geometry{8, 8});
    const uint64_t kernel = entry_name(page_of(VirtAddr(0xffff888000201000), PageSize::small_4kb));
    const uint64_t large = entry_name(page_of(VirtAddr(0xffff888000200000), PageSize::large_2mb));
    const uint64_t user = entry_name(page_of(VirtAddr(0x7f8000201000), PageSize::small_4kb));
    for (const uint64_t name : {kernel, large, user}) {
        EXPECT_EQ(sets.lookup(0, name), std::nullopt);
        sets.fill(0, name, name % 1000);
    }
    for (const uint64_t name : {kernel, large, user}) EXPECT_EQ(sets.lookup(0, name), name % 1000);
}

TEST(RecentSets, CanBeOnlyOfEightWaysAndAPowerOfTwoOfSets) {
    EXPECT_TRUE(RecentSets::can_be({1024, 8}));
    EXPECT_TRUE(RecentSets::can_be({1, 1}));
    EXPECT_FALSE(RecentSets::can_be({1536, 12}));
    EXPECT_FALSE(RecentSets::can_be({24, 8}));
    EXPECT_FALSE(RecentSets::can_be({0, 4}));
}

/// The oracle: entries of a set in the order of use.
struct ListOfSet {
    std::list<std::pair<uint64_t, uint64_t>> entries;
    std::optional<uint64_t> lookup(uint64_t name) {
        for (auto at = entries.begin(); at != entries.end(); ++at)
            if (at->first == name) {
                entries.splice(entries.begin(), entries, at);
                return entries.front().second;
            }
        return std::nullopt;
    }
    void fill(uint64_t name, uint64_t value, size_t ways) {
        entries.emplace_front(name, value);
        if (entries.size() > ways) entries.pop_back();
    }
};

TEST(RecentSets, AreListsInTheOrderOfUse) {
    std::mt19937_64 random(12);
    for (size_t ways = 1; ways <= RecentSet::most_ways; ++ways) {
        SCOPED_TRACE(ways);
        RecentSets sets(Geometry{4 * ways, ways});
        ListOfSet lists[4];
        uint64_t hits = 0;
        for (uint64_t step = 0; step < 6000; ++step) {
            const uint64_t index = random() % (6 * ways), name = index << 30 | 5, value = step % (RecentSets::most_value + 1);
            const auto expected = lists[index % 4].lookup(name);
            ASSERT_EQ(sets.lookup(index, name), expected) << "step " << step;
            hits += expected.has_value();
            if (!expected) sets.fill(index, name, value), lists[index % 4].fill(name, value, ways);
            if (step % 700 != 699) continue;
            const auto some = [step](uint64_t n, uint64_t v) { return ((n >> 30) + v + step) % 3 == 0; };
            sets.drop(some);
            for (ListOfSet& list : lists) list.entries.remove_if([&](const auto& entry) { return some(entry.first, entry.second); });
        }
        EXPECT_GT(hits, 1000u);
    }
}

TEST(PlainSteps, MatchNamesAndShiftTheFirstWays) {
    RecentSet set = {{3u << 17 | 1, 4u << 17, uint64_t{3} << 49, 5u << 17 | 131071, unused, unused, unused, unused}};
    EXPECT_EQ(PlainSteps::match(set, 3u << 17), 1u);
    EXPECT_EQ(PlainSteps::match(set, 4u << 17), 2u);
    EXPECT_EQ(PlainSteps::match(set, uint64_t{3} << 49), 4u);
    EXPECT_EQ(PlainSteps::match(set, 5u << 17), 8u);
    EXPECT_EQ(PlainSteps::match(set, 6u << 17), 0u);
    EXPECT_EQ(PlainSteps::match(set, unused << 18), 0u);
    for (size_t ways = 0; ways <= RecentSet::most_ways; ++ways) {
        RecentSet shifted = {{10, 11, 12, 13, 14, 15, 16, 17}};
        PlainSteps::shift_in(shifted, (1u << ways) - 1, 9);
        for (size_t way = 0; way < RecentSet::most_ways; ++way)
            EXPECT_EQ(shifted.words[way], way < ways ? 9 + way : 10 + way) << ways << ", " << way;
    }
}

}  // namespace
}  // namespace tessera::sim::testing
