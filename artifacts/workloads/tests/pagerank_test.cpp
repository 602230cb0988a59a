// PageRank: closed forms on tiny graphs, and the oracle on random ones.
#include "pagerank.h"

#include <gtest/gtest.h>

#include <vector>

#include "hand_made.h"

using namespace tessera::workloads;

namespace {

struct Ranked {
    std::vector<float> score;
    uint64_t iterations;
};

template <class EdgeSource>
Ranked rank(const EdgeSource& edge, uint64_t limit, double tolerance) {
    const auto incoming = build_csr<int32_t>(edge, Direction::incoming);
    const uint64_t n = edge.vertices();
    std::vector<float> inverse(n, 0), contribution(n), score(n, 1.0f / static_cast<float>(n));
    for (uint64_t e = 0; e < incoming.offsets[n]; ++e) inverse[incoming.targets[e]] += 1;
    for (float& degree : inverse) degree = degree > 0 ? 1 / degree : 0;
    const uint64_t iterations =
        pagerank({incoming, inverse.data(), score.data(), contribution.data()}, limit, tolerance);
    return {score, iterations};
}

TEST(PageRank, ACycleIsUniformAtOnce) {
    const auto [score, iterations] = rank(HandMade{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}, 50, 1e-6);
    EXPECT_EQ(iterations, 1u);
    for (const float s : score) EXPECT_FLOAT_EQ(s, 0.25f);
}

// Leaves 1..3 point to 0 and 0 points to each: s0 = (1-d)/n + d (1 - s0), so s0 = ((1-d)/n + d)/(1+d).
TEST(PageRank, AStarHasItsClosedForm) {
    const HandMade star{4, {{1, 0}, {2, 0}, {3, 0}, {0, 1}, {0, 2}, {0, 3}}};
    const auto [score, iterations] = rank(star, 1000, 1e-6);
    const double hub = (0.15 / 4 + 0.85) / 1.85;
    EXPECT_LT(iterations, 1000u);
    EXPECT_NEAR(score[0], hub, 1e-5);
    for (int leaf = 1; leaf < 4; ++leaf) EXPECT_NEAR(score[leaf], (1 - hub) / 3, 1e-5);
}

// 0 -> 1 and nothing else: 0 gets (1-d)/2, and 1 gets that plus d times 0's score; 1's share is lost.
TEST(PageRank, VerticesWithoutOutgoingEdgesLoseTheirShare) {
    const auto [score, iterations] = rank(HandMade{2, {{0, 1}}}, 100, 0);
    EXPECT_EQ(iterations, 3u);  // exact after two; the third finds no change
    EXPECT_FLOAT_EQ(score[0], 0.075f);
    EXPECT_FLOAT_EQ(score[1], 0.075f * 1.85f);
}

TEST(PageRank, OneIterationByHand) {
    const auto [score, iterations] = rank(HandMade{2, {{0, 1}}}, 1, 0);
    EXPECT_EQ(iterations, 1u);
    EXPECT_FLOAT_EQ(score[0], 0.075f);
    EXPECT_FLOAT_EQ(score[1], 0.075f + 0.85f * 0.5f);
}

TEST(PageRank, TheOracleAgreesOnRandomGraphs) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        const KroneckerEdges edge(10, 8 << 10, seed);
        const auto [score, iterations] = rank(edge, 7, 0);
        EXPECT_LT(largest_difference(score.data(), pagerank_oracle(edge, iterations)), 1e-5);
    }
}

TEST(PageRank, TheOracleNoticesAMissingEdge) {
    const HandMade whole{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}};
    const HandMade missing{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
    const auto [score, iterations] = rank(missing, 3, 0);
    EXPECT_GT(largest_difference(score.data(), pagerank_oracle(whole, iterations)), 1e-3);
}

}  // namespace
