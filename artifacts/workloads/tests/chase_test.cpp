// chase: the order of a tour, the chains in it, where they end, and what frame numbers say.
#include "common/frames.h"
#include "pointer_chase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace tessera::workloads;

namespace {

TEST(Tour, VisitsEveryElementOnceFromTheFirst) {
    for (const uint64_t elements : {2u, 3u, 64u, 1000u})
        for (const Order order : {Order::random, Order::ascending}) {
            const auto tour = tour_of(elements, order, 5);
            EXPECT_EQ(std::set<uint32_t>(tour.begin(), tour.end()).size(), elements);
            EXPECT_EQ(*std::max_element(tour.begin(), tour.end()), elements - 1);
            EXPECT_EQ(tour[0], 0u);
        }
}

TEST(Tour, RandomIsNotAscending) {
    const auto tour = tour_of(1000, Order::random, 1);
    size_t neighbours = 0;
    for (size_t i = 1; i < tour.size(); ++i) neighbours += tour[i] == tour[i - 1] + 1;
    EXPECT_LT(neighbours, 20u);
    EXPECT_NE(tour, tour_of(1000, Order::random, 2));
}

// The same pairs are in tests/validation/test_chase.py: the simulated chase must take the same addresses.
TEST(Offset, TakesLinesAndPartsInTurn) {
    constexpr uint64_t k4kb = 4096, k2mb = 2 << 20;
    EXPECT_EQ(element_offset(5, 64), 320u);
    EXPECT_EQ(element_offset(0, k4kb), 0u);
    EXPECT_EQ(element_offset(1, k4kb), 4096u + 64);
    EXPECT_EQ(element_offset(32, k4kb), 32u * 4096 + 33 * 64);
    EXPECT_EQ(element_offset(63, k4kb), 63u * 4096);
    EXPECT_EQ(element_offset(1, k2mb), k2mb + 4096 + 64);
    EXPECT_EQ(element_offset(512, k2mb), 512 * k2mb + (512 + 16) % 64 * 64);
}

struct Chains {
    uint64_t elements, chains;
};

class Linked : public ::testing::TestWithParam<Chains> {};

TEST_P(Linked, ChainsCloseAndEndWhereTheOrderSays) {
    const auto [elements, chains] = GetParam();
    std::vector<char> memory(elements * 64 + 64);
    const auto tour = tour_of(elements, Order::random, 3);
    link(memory.data(), tour, 64, chains);
    std::set<void*> seen;
    for (uint64_t c = 0; c < chains; ++c) {
        void* const start = memory.data() + element_offset(tour[c], 64);
        void* at = start;
        uint64_t steps = 0;
        do {
            EXPECT_TRUE(seen.insert(at).second) << "two chains share an element";
            at = follow(at, 1);
            ++steps;
            EXPECT_EQ(at, memory.data() + element_offset(tour[position_after(elements, chains, c, steps)], 64));
        } while (at != start && steps <= elements);
        EXPECT_EQ(at, start);
    }
    EXPECT_EQ(seen.size(), elements);  // together they visit everything
}

INSTANTIATE_TEST_SUITE_P(Sizes, Linked, ::testing::Values(Chains{2, 1}, Chains{16, 1}, Chains{16, 16}, Chains{17, 4}, Chains{100, 7}));

TEST(Linked, AllChainsMoveAsEachAlone) {
    constexpr uint64_t elements = 64, chains = 5;
    std::vector<char> memory(elements * 64 + 64);
    const auto tour = tour_of(elements, Order::random, 3);
    link(memory.data(), tour, 64, chains);
    std::vector<void*> at;
    for (uint64_t c = 0; c < chains; ++c) at.push_back(memory.data() + element_offset(tour[c], 64));
    std::vector<void*> alone = at;
    follow_all(at, 123);
    for (uint64_t c = 0; c < chains; ++c) EXPECT_EQ(at[c], follow(alone[c], 123));
}

TEST(Frames, SharesOfContiguousFrames) {
    std::vector<uint64_t> frames;
    for (uint64_t i = 0; i < 16; ++i) frames.push_back(800 + i);  // two aligned runs of 8
    Frames found = shares_of(frames);
    EXPECT_TRUE(found.known);
    EXPECT_DOUBLE_EQ(found.contiguous, 1);
    EXPECT_DOUBLE_EQ(found.aligned_runs_of_8, 1);
    frames[11] = 5000;  // breaks two successions and the second run
    found = shares_of(frames);
    EXPECT_DOUBLE_EQ(found.contiguous, 13.0 / 15);
    EXPECT_DOUBLE_EQ(found.aligned_runs_of_8, 0.5);
    for (uint64_t i = 0; i < 16; ++i) frames[i] = 801 + i;  // contiguous, not aligned
    EXPECT_DOUBLE_EQ(shares_of(frames).aligned_runs_of_8, 0);
}

TEST(Frames, HiddenOrTooFewAreUnknown) {
    EXPECT_FALSE(shares_of(std::vector<uint64_t>(16, 0)).known);
    EXPECT_FALSE(shares_of({1, 2, 3}).known);
}

}  // namespace
