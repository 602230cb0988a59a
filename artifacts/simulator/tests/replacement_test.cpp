// replacement_test.cpp - the three policies on sequences that were worked out by hand on paper.
#include <gtest/gtest.h>

#include <list>
#include <random>

#include "tlb/array.h"

namespace tessera::sim::testing {
namespace {

/// A set whose ways 0 .. ways - 1 were filled in this order.
std::unique_ptr<Replacement> filled(const std::string& name, size_t ways) {
    auto policy = replacements().make(name, 1, ways, Platform());
    for (size_t way = 0; way < ways; ++way) policy->fill(0, way);
    return policy;
}

TEST(Lru, EvictsTheLongestUnused) {
    const auto policy = filled("lru", 4);
    EXPECT_EQ(policy->victim(0), 0u);
    policy->hit(0, 0);
    EXPECT_EQ(policy->victim(0), 1u);
    policy->fill(0, 1);
    policy->hit(0, 2);
    EXPECT_EQ(policy->victim(0), 3u);
}

// Root and both children point low after 0,1,2,3. A hit on 0 turns root and left child high: right half, its low way.
TEST(TreePlru, FollowsPointersAwayFromUse) {
    const auto policy = filled("tree-plru", 4);
    EXPECT_EQ(policy->victim(0), 0u);
    policy->hit(0, 0);
    EXPECT_EQ(policy->victim(0), 2u);  // true LRU would say 1
    policy->fill(0, 2);
    EXPECT_EQ(policy->victim(0), 1u);
    policy->fill(0, 1);
    EXPECT_EQ(policy->victim(0), 3u);
}

// Six ways in a tree of eight: the node over ways 6 and 7 exists in no hardware and is never entered.
TEST(TreePlru, NeverEntersWaysThatDoNotExist) {
    const auto six = filled("tree-plru", 6);
    EXPECT_EQ(six->victim(0), 0u);
    six->hit(0, 0);
    EXPECT_EQ(six->victim(0), 4u);  // root says high, its high child says high, but only ways 4 and 5 are there
    six->fill(0, 4);
    EXPECT_EQ(six->victim(0), 2u);
    const auto three = filled("tree-plru", 3);
    three->hit(0, 0);
    EXPECT_EQ(three->victim(0), 2u);
    EXPECT_EQ(filled("tree-plru", 1)->victim(0), 0u);
}

// Intervals after four fills: 2 2 2 2; hit 1: 2 0 2 2; aged to 3 1 3 3.
TEST(Srrip, EvictsTheLowestWayOfTheDistant) {
    const auto policy = filled("srrip", 4);
    policy->hit(0, 1);
    EXPECT_EQ(policy->victim(0), 0u);
    policy->fill(0, 0);  // 2 1 3 3
    EXPECT_EQ(policy->victim(0), 2u);
    policy->fill(0, 2);  // 2 1 2 3
    policy->hit(0, 3);   // 2 1 2 0, aged to 3 2 3 1
    EXPECT_EQ(policy->victim(0), 0u);
}

TEST(Replacement, SetsAreIndependent) {
    for (const char* name : {"lru", "tree-plru", "srrip"}) {
        const auto policy = replacements().make(name, 2, 2, Platform());
        policy->fill(0, 0), policy->fill(0, 1), policy->fill(1, 1), policy->fill(1, 0);
        policy->hit(0, 0), policy->hit(1, 1);
        EXPECT_EQ(policy->victim(0), 1u) << name;
        EXPECT_EQ(policy->victim(1), 0u) << name;
    }
}

constexpr PageNumber small(uint64_t number) { return {number, PageSize::small_4kb}; }

TEST(TlbArray, FillsUnusedWaysFirstAndNamesWhatLeaves) {
    TlbArray array({6, 2}, "lru", Platform());  // three sets
    PageNumber evicted;
    EXPECT_FALSE(array.lookup(small(4)));
    EXPECT_FALSE(array.fill(small(4), &evicted));
    EXPECT_FALSE(array.fill(small(7), &evicted));  // 4, 7 and 10 are 1 mod 3
    EXPECT_TRUE(array.lookup(small(4)));
    EXPECT_TRUE(array.fill(small(10), &evicted));
    EXPECT_EQ(evicted, small(7));
    EXPECT_TRUE(array.lookup(small(4)));
    EXPECT_FALSE(array.lookup(small(7)));
    EXPECT_FALSE(array.lookup({4, PageSize::large_2mb}));  // same number, another page
}

/// The policy `lru` of replacement.h under another name, so that the array asks it.
class LruByCalls final : public Replacement {
public:
    LruByCalls(size_t sets, size_t ways, const Platform& p) : policy_(replacements().make("lru", sets, ways, p)) {}
    void hit(size_t set, size_t way) override { policy_->hit(set, way); }
    void fill(size_t set, size_t way) override { policy_->fill(set, way); }
    size_t victim(size_t set) override { return policy_->victim(set); }

private:
    std::unique_ptr<Replacement> policy_;
};
const Registered lru_by_calls(replacements(), "example-lru-by-calls", "lru, asked by calls",
                              [](size_t sets, size_t ways, const Platform& p) { return std::make_unique<LruByCalls>(sets, ways, p); });

// Arrays do LRU themselves, without calls of the policy: hits, payloads and what leaves are equal, for each number of ways.
TEST(EntryArray, LruWithoutCallsIsThePolicyLru) {
    std::mt19937_64 random(8);
    for (const size_t ways : {1u, 2u, 3u, 4u, 5u, 8u, 12u, 16u, 17u, 40u}) {
        SCOPED_TRACE(ways);
        EntryArray<uint64_t> own({3 * ways, ways}, "lru", Platform()), called({3 * ways, ways}, "example-lru-by-calls", Platform());
        uint64_t hits = 0, evictions = 0;
        for (uint64_t step = 0; step < 8000; ++step) {
            const uint64_t name = random() % (4 * ways + 8);
            const uint64_t* const found = own.lookup(name, name);
            const uint64_t* const expected = called.lookup(name, name);
            ASSERT_EQ(found != nullptr, expected != nullptr) << "step " << step;
            if (found != nullptr) {
                ASSERT_EQ(*found, *expected);
                ++hits;
            } else {
                EntryArray<uint64_t>::Evicted a{0, 0}, b{0, 0};
                ASSERT_EQ(own.fill(name, name, step, &a), called.fill(name, name, step, &b));
                ASSERT_EQ(a.name, b.name);
                ASSERT_EQ(a.payload, b.payload);
                evictions += a.payload != 0;
            }
            if (step % 500 == 499) {
                const auto some = [step](uint64_t n, uint64_t) { return (n + step) % 3 == 0; };
                own.drop(some), called.drop(some);
            }
        }
        EXPECT_GT(hits, 1000u);
        EXPECT_GT(evictions, 100u);
    }
}

// Three ways, by hand: unused ways from the lowest one on; then the least recent one; dropped ways first, again from the lowest one on.
TEST(LruSets, FillsTheLowestUnusedWayElseTheLeastRecent) {
    LruSets sets(2, 3);
    const auto fill = [&](uint64_t name) {
        const size_t way = sets.victim(1);
        sets.put(1, way, name);
        sets.use(1, way);
        return way;
    };
    EXPECT_EQ(sets.find(1, 10), LruSets::most_ways);
    EXPECT_EQ(fill(10), 0u);
    EXPECT_EQ(fill(11), 1u);
    EXPECT_EQ(fill(12), 2u);
    EXPECT_EQ(sets.find(1, 11), 1u);
    EXPECT_EQ(sets.find(0, 11), LruSets::most_ways);
    sets.use(1, 0);  // 11 is the least recent now
    EXPECT_EQ(sets.victim(1), 1u);
    EXPECT_EQ(fill(13), 1u);  // order of use: 12, 10, 13
    sets.drop([](size_t, size_t, uint64_t name) { return name != 10; });
    EXPECT_EQ(fill(14), 1u);
    EXPECT_EQ(fill(15), 2u);
    EXPECT_EQ(fill(16), 0u);  // 10
    EXPECT_EQ(sets.victim(0), 0u);
}

// Names that differ in one half only, and one whose halves are those of two others.
TEST(LruSets, ComparesBothHalvesOfNames) {
    LruSets sets(1, 8);
    const uint64_t names[] = {0, 1, uint64_t{1} << 32, 0xffffffff, uint64_t{0xffffffff} << 32};
    for (const uint64_t name : names) {
        EXPECT_EQ(sets.find(0, name), LruSets::most_ways) << name;
        const size_t way = sets.victim(0);
        sets.put(0, way, name);
        sets.use(0, way);
    }
    for (size_t way = 0; way < 5; ++way) EXPECT_EQ(sets.find(0, names[way]), way);
    EXPECT_EQ(sets.find(0, (uint64_t{1} << 32) + 1), LruSets::most_ways);
}

/// The oracle: entries of a set in the order of use.
struct ListOfSet {
    std::list<std::pair<uint64_t, uint64_t>> entries;
    const uint64_t* lookup(uint64_t name) {
        for (auto at = entries.begin(); at != entries.end(); ++at)
            if (at->first == name) {
                entries.splice(entries.begin(), entries, at);
                return &entries.front().second;
            }
        return nullptr;
    }
    void fill(uint64_t name, uint64_t payload, size_t ways) {
        entries.emplace_front(name, payload);
        if (entries.size() > ways) entries.pop_back();
    }
};

TEST(EntryArray, LruIsAListInTheOrderOfUse) {
    std::mt19937_64 random(12);
    for (const size_t ways : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u, 17u, 40u}) {
        SCOPED_TRACE(ways);
        EntryArray<uint64_t> array({4 * ways, ways}, "lru", Platform());
        ListOfSet lists[4];
        uint64_t hits = 0;
        for (uint64_t step = 0; step < 6000; ++step) {
            const uint64_t index = random() % (6 * ways), name = index << 30 | 5;
            ListOfSet& list = lists[index % 4];
            const uint64_t* const expected = list.lookup(name);
            hits += expected != nullptr;
            if (step % 2) {
                const uint64_t* const found = array.lookup(index, name);
                ASSERT_EQ(found != nullptr, expected != nullptr) << "step " << step;
                if (expected == nullptr) {
                    array.fill(index, name, step);
                } else {
                    ASSERT_EQ(*found, *expected);
                }
            } else {
                const EntryPlace at = array.seek(index, name);
                ASSERT_EQ(at.found, expected != nullptr) << "step " << step;
                const uint64_t held = array.payload(at);
                if (expected != nullptr) {
                    ASSERT_EQ(held, *expected);
                }
                array.enter_if(false, at, name, step + 1);
                array.enter_if(true, at, name, expected != nullptr ? held : step);
            }
            if (expected == nullptr) list.fill(name, step, ways);
            if (step % 700 != 699) continue;
            const auto some = [step](uint64_t n, uint64_t v) { return ((n >> 30) + v + step) % 3 == 0; };
            array.drop(some);
            for (ListOfSet& of : lists) of.entries.remove_if([&](const auto& entry) { return some(entry.first, entry.second); });
        }
        EXPECT_GT(hits, 1000u);
    }
}

// An array that is asked by steps against one of the same policy behind lookup() and fill().
TEST(EntryArray, StepsAreLookUpAndFill) {
    std::mt19937_64 random(9);
    for (const auto& [policy, of_called] : {std::pair{"lru", "example-lru-by-calls"}, {"tree-plru", "tree-plru"}, {"srrip", "srrip"}})
        for (const size_t ways : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 17u}) {
            SCOPED_TRACE(std::string(policy) + " " + std::to_string(ways));
            EntryArray<uint64_t> steps({3 * ways, ways}, policy, Platform()), called({3 * ways, ways}, of_called, Platform());
            uint64_t hits = 0;
            for (uint64_t step = 0; step < 6000; ++step) {
                const uint64_t name = random() % (4 * ways + 8);
                const EntryPlace at = steps.seek(name, name);
                uint64_t* const expected = called.lookup(name, name);
                ASSERT_EQ(at.found, expected != nullptr) << "step " << step;
                hits += at.found;
                if (step % 3 == 0) {  // a look-up without steps
                    const uint64_t* const found = steps.lookup(name, name);
                    ASSERT_EQ(found != nullptr, at.found);
                    if (at.found) {
                        ASSERT_EQ(*found, *expected);
                    }
                    continue;
                }
                if (expected != nullptr) *expected = step;
                else called.fill(name, name, step);
                steps.enter(at, name, step);
                if (step % 500 == 499) {
                    const auto some = [step](uint64_t n, uint64_t) { return (n + step) % 3 == 0; };
                    steps.drop(some), called.drop(some);
                }
            }
            EXPECT_GT(hits, 500u);
        }
}

TEST(EntryArray, WithoutEntriesNeverHits) {
    EntryArray<uint64_t> none({0, 4}, "lru", Platform());
    const EntryPlace at = none.seek(5, 5);
    EXPECT_FALSE(at.found);
    EXPECT_EQ(none.payload(at), 0u);
    none.enter(at, 5, 1);
    EXPECT_FALSE(none.seek(5, 5).found);
    EXPECT_EQ(none.lookup(5, 5), nullptr);
}

TEST(TlbArray, TellsKernelAndUserPagesApart) {
    for (const size_t ways : {8u, 12u}) {
        TlbArray array({ways, ways}, "lru", Platform());
        const PageNumber pages[] = {page_of(VirtAddr(0xffff888000201000), PageSize::small_4kb),
                                    page_of(VirtAddr(0xffff888000200000), PageSize::large_2mb),
                                    page_of(VirtAddr(0x7f8000201000), PageSize::small_4kb)};
        for (const PageNumber page : pages) EXPECT_FALSE(array.lookup_or_fill(page));
        for (const PageNumber page : pages) EXPECT_TRUE(array.lookup(page));
    }
}

TEST(TlbArray, LookUpOrFillIsBothWithEveryPolicyAndNumberOfWays) {
    std::mt19937_64 random(10);
    for (const char* policy : {"lru", "tree-plru"})
        for (const size_t ways : {4u, 8u, 12u}) {
            TlbArray both({2 * ways, ways}, policy, Platform()), apart({2 * ways, ways}, policy, Platform());
            for (int step = 0; step < 4000; ++step) {
                const PageNumber page = small(random() % (5 * ways));
                const bool found = apart.lookup(page);
                if (!found) apart.fill(page);
                ASSERT_EQ(both.lookup_or_fill(page), found) << policy << " " << ways << " step " << step;
            }
        }
}

TEST(TlbArray, WithoutEntriesNeverHits) {
    TlbArray none({0, 0}, "lru", Platform());
    none.fill(small(1));
    EXPECT_FALSE(none.exists());
    EXPECT_FALSE(none.lookup(small(1)));
}

}  // namespace
}  // namespace tessera::sim::testing
