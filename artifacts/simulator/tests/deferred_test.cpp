// deferred_test.cpp - deferred references give the same counts as immediate ones: arrays of the lane machine against a list
// of pages per lane and set.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#define TESSERA_ISA deferred_test_isa
#include "engine/lanes/lane_array.h"

namespace tessera::sim::testing {
namespace {

using namespace lanes::deferred_test_isa;
using lanes::ArrayShape;
using lanes::Replacement;

/// LRU by definition.
class Oracle {
public:
    explicit Oracle(unsigned ways) : ways_(ways) {}
    uint64_t missed(uint32_t item, uint32_t set, uint64_t lanes) {
        uint64_t missed = 0;
        for (unsigned lane = 0; lane < 64; ++lane) {
            if ((lanes >> lane & 1) == 0) continue;
            std::deque<uint32_t>& held = held_[{lane, set}];
            const auto at = std::find(held.begin(), held.end(), item);
            if (at == held.end()) missed |= uint64_t{1} << lane;
            else held.erase(at);
            held.push_front(item);
            if (held.size() > ways_) held.pop_back();
        }
        return missed;
    }

private:
    size_t ways_;
    std::map<std::pair<unsigned, uint32_t>, std::deque<uint32_t>> held_;
};

struct Pattern {
    const char* name;
    uint32_t items;       ///< that are referenced
    bool sparse;          ///< references have few lanes, so that a set holds many items at once
    unsigned at_once;     ///< one reference in so many asks what it missed; 0: none
    bool widens;
};

void check(const ArrayShape& shape, const Pattern& pattern) {
    SCOPED_TRACE(std::string(pattern.name) + ", ways " + std::to_string(shape.ways));
    LaneArray array(shape, true);
    Oracle oracle(shape.ways);
    std::mt19937_64 random(shape.ways);
    uint64_t hits[64] = {}, misses[64] = {}, true_hits[64] = {}, true_misses[64] = {};
    for (int i = 0; i < 12000; ++i) {
        const uint32_t item = uint32_t(random() % pattern.items), set = item % uint32_t(shape.sets);
        const uint64_t lanes = pattern.sparse ? uint64_t{1} << random() % 64 : random() | 1;
        const uint64_t missed = oracle.missed(item, set, lanes);
        if (pattern.at_once != 0 && random() % pattern.at_once == 0) {
            ASSERT_EQ(array.reference(item, set, lanes), missed) << "reference " << i;
            continue;
        }
        array.defer(item, set, lanes);
        for (unsigned lane = 0; lane < 64; ++lane) {
            true_hits[lane] += (lanes & ~missed) >> lane & 1;
            true_misses[lane] += missed >> lane & 1;
        }
    }
    array.settle();
    array.tally().hits.drain(hits);
    array.tally().misses.drain(misses);
    for (unsigned lane = 0; lane < 64; ++lane) {
        EXPECT_EQ(hits[lane], true_hits[lane]) << "lane " << lane;
        EXPECT_EQ(misses[lane], true_misses[lane]) << "lane " << lane;
    }
    EXPECT_EQ(array.wide(), pattern.widens);
}

TEST(Deferred, CountsAreThoseOfReferencesMadeAtOnce) {
    const Pattern patterns[] = {{"few items", 40, false, 0, false},
                                {"few items, some at once", 40, false, 7, false},
                                {"names run out", 3000, false, 0, false},
                                {"names run out, some at once", 3000, false, 50, false},
                                {"too many for one byte", 3000, true, 0, true},
                                {"too many for one byte, some at once", 3000, true, 50, true}};
    for (const uint32_t ways : {4u, 6u, 8u, 12u})
        for (const Pattern& pattern : patterns) check({4, ways, Replacement::lru}, pattern);
}

/// Associativities without special code do not defer references; the counts must be the same.
TEST(Deferred, AnyShapeCounts) {
    for (const uint32_t ways : {1u, 3u, 16u}) check({3, ways, Replacement::lru}, {"odd shape", 100, false, 9, false});
}

}  // namespace
}  // namespace tessera::sim::testing
