// The graph generators: bijective labels, quadrant frequencies, purity.
#include <gtest/gtest.h>

#include <vector>

#include "common/kronecker.h"

using namespace tessera::workloads;

namespace {

TEST(Scramble, IsABijectionForEveryWidth) {
    for (unsigned bits = 2; bits <= 14; ++bits) {
        std::vector<bool> seen(size_t{1} << bits, false);
        for (uint64_t v = 0; v < seen.size(); ++v) {
            const uint64_t label = scramble(v, bits, 12345);
            ASSERT_LT(label, seen.size());
            ASSERT_FALSE(seen[label]) << bits << " bits";
            seen[label] = true;
        }
    }
}

TEST(Kronecker, IsAFunctionOfSeedAndIndex) {
    const KroneckerEdges once(12, 1000, 5), again(12, 1000, 5), other(12, 1000, 6);
    int different = 0;
    for (uint64_t k = 0; k < 1000; ++k) {
        EXPECT_EQ(once(k).from, again(999 - (999 - k)).from);
        different += once(k).from != other(k).from;
        EXPECT_GE(once(k).to, 0);
        EXPECT_LT(once(k).to, 4096);
    }
    EXPECT_GT(different, 900);
}

// The alias table against the product of probabilities, over every column and coin value that decides.
TEST(QuadrantTable, DrawsEachOutcomeWithItsProbability) {
    const QuadrantTable table;
    std::vector<double> drawn(QuadrantTable::kOutcomes, 0);
    constexpr uint32_t kCoins = 4096, kCoinStep = (1u << 24) / kCoins;
    for (uint32_t column = 0; column < 256; ++column)
        for (uint32_t coin = 0; coin < kCoins; ++coin)
            drawn[table.draw(column << 24 | (coin * kCoinStep + kCoinStep / 2))] += 1.0 / (256.0 * kCoins);
    for (unsigned outcome = 0; outcome < QuadrantTable::kOutcomes; ++outcome)
        EXPECT_NEAR(drawn[outcome], QuadrantTable::probability(outcome), 5e-6) << outcome;
    EXPECT_NEAR(QuadrantTable::probability(0), 0.57 * 0.57 * 0.57 * 0.57, 1e-12);
    EXPECT_NEAR(QuadrantTable::probability(255), 0.05 * 0.05 * 0.05 * 0.05, 1e-12);
}

// With the labels undone, the top bits of (from, to) choose the quadrant of the first level.
TEST(Kronecker, QuadrantsHaveTheSpecifiedProbabilities) {
    constexpr unsigned kScale = 10;
    constexpr uint64_t kEdges = 200000;
    std::vector<uint64_t> unscrambled(1 << kScale);
    for (uint64_t v = 0; v < unscrambled.size(); ++v) unscrambled[scramble(v, kScale, 9)] = v;
    const KroneckerEdges edge(kScale, kEdges, 9);
    double quadrant[4] = {};
    for (uint64_t k = 0; k < kEdges; ++k) {
        const auto [from, to] = edge(k);
        quadrant[(unscrambled[from] >> (kScale - 1)) * 2 + (unscrambled[to] >> (kScale - 1))] += 1.0 / kEdges;
    }
    EXPECT_NEAR(quadrant[0], 0.57, 0.006);
    EXPECT_NEAR(quadrant[1], 0.19, 0.006);
    EXPECT_NEAR(quadrant[2], 0.19, 0.006);
    EXPECT_NEAR(quadrant[3], 0.05, 0.003);
}

TEST(Uniform, CoversBothHalvesEvenly) {
    const UniformEdges edge(10, 100000, 1);
    double low = 0;
    for (uint64_t k = 0; k < edge.count(); ++k) low += edge(k).from < 512;
    EXPECT_NEAR(low / static_cast<double>(edge.count()), 0.5, 0.01);
}

}  // namespace
