// recent_sets_test.cpp - sets in the order of use: by hand, and against a list for each set.
#include "tlb/recent_sets.h"

#include <gtest/gtest.h>

#include <list>
#include <optional>
#include <random>

#include "tlb/entry_name.h"

namespace tessera::sim::testing {
namespace {

class Sets {
public:
    explicit Sets(const Geometry& geometry) : sets_(geometry, "lru", Platform()) {}
    std::optional<uint64_t> lookup(uint64_t index, uint64_t name) {
        const EntryPlace at = sets_.seek(index, name);
        if (!at.found) return std::nullopt;
        const uint64_t payload = sets_.payload(at);
        sets_.enter_if(false, at, name, payload + 1);
        sets_.enter_if(true, at, name, payload);
        return payload;
    }
    void fill(uint64_t index, uint64_t name, uint64_t payload) { sets_.enter(sets_.seek(index, name), name, payload); }
    template <class Test>
    void drop(Test&& test) {
        sets_.drop(test);
    }

private:
    RecentSets sets_;
};

TEST(RecentSets, ByHand) {  // two sets, three ways
    Sets sets({6, 3});
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
    Sets sets({8, 8});
    const uint64_t kernel = entry_name(page_of(VirtAddr(0xffff888000201000), PageSize::small_4kb));
    const uint64_t large = entry_name(page_of(VirtAddr(0xffff888000200000), PageSize::large_2mb));
    const uint64_t user = entry_name(page_of(VirtAddr(0x7f8000201000), PageSize::small_4kb));
    for (const uint64_t name : {kernel, large, user}) {
        EXPECT_EQ(sets.lookup(0, name), std::nullopt);
        sets.fill(0, name, name % 1000);
    }
    for (const uint64_t name : {kernel, large, user}) EXPECT_EQ(sets.lookup(0, name), name % 1000);
}

TEST(RecentSets, CanBeOnlyOfEightWaysAPowerOfTwoOfSetsAndLru) {
    EXPECT_TRUE(RecentSets::can_be({1024, 8}, "lru"));
    EXPECT_TRUE(RecentSets::can_be({1, 1}, "lru"));
    EXPECT_FALSE(RecentSets::can_be({1536, 12}, "lru"));
    EXPECT_FALSE(RecentSets::can_be({24, 8}, "lru"));
    EXPECT_FALSE(RecentSets::can_be({0, 4}, "lru"));
    EXPECT_FALSE(RecentSets::can_be({1024, 8}, "srrip"));
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
        Sets sets({4 * ways, ways});
        ListOfSet lists[4];
        uint64_t hits = 0;
        for (uint64_t step = 0; step < 6000; ++step) {
            const uint64_t index = random() % (6 * ways), name = index << 30 | 5, value = step % (RecentSets::most_payload + 1);
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

}  // namespace
}  // namespace tessera::sim::testing
