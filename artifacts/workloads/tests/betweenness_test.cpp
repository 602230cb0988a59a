// Betweenness: closed forms on paths and diamonds, the sum of dependencies, and the oracle on random graphs.
#include "betweenness.h"

#include <gtest/gtest.h>

#include <vector>

#include "betweenness_oracle.h"
#include "common/road.h"
#include "common/web.h"
#include "hand_made.h"

using namespace tessera::workloads;

namespace {

template <class EdgeSource>
std::vector<float> centrality(const EdgeSource& edge, const std::vector<int32_t>& sources) {
    const auto outgoing = build_csr<int32_t>(edge, Direction::outgoing);
    const uint64_t n = edge.vertices();
    std::vector<int32_t> depth(n), queue(n);
    std::vector<double> paths(n);
    std::vector<float> dependency(n), score(n, 0);
    std::vector<uint64_t> successor(BetweennessArrays::successor_words(outgoing.offsets[n])), levels;
    betweenness({outgoing, depth.data(), paths.data(), dependency.data(), score.data(), queue.data(), successor.data()},
                sources, levels);
    return score;
}

// On 0->1->2->3->4, vertex v lies on the paths from 0 to everything behind it: 3, 2, 1, then none.
TEST(Betweenness, OfAPathFallsByOne) {
    const HandMade path{5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}};
    const std::vector<float> score = centrality(path, {0});
    const float expected[] = {0, 1, 2.0f / 3, 1.0f / 3, 0};
    for (int v = 0; v < 5; ++v) EXPECT_FLOAT_EQ(score[v], expected[v]) << v;
}

// 0->{1,2}->3->4: 3 carries the path to 4 (1); 1 and 2 each half of those to 3 and 4 (1 in sum).
TEST(Betweenness, SharesADiamond) {
    const HandMade diamond{5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}};
    const std::vector<float> score = centrality(diamond, {0});
    const float expected[] = {0, 1, 1, 1, 0};
    for (int v = 0; v < 5; ++v) EXPECT_FLOAT_EQ(score[v], expected[v]) << v;
}

// 1->3 twice is two paths: 1 carries two thirds of what 3 and 4 get.
TEST(Betweenness, RepeatedEdgesAreSeveralPaths) {
    const HandMade twice{5, {{0, 1}, {0, 2}, {1, 3}, {1, 3}, {2, 3}, {3, 4}}};
    const std::vector<float> score = centrality(twice, {0});
    EXPECT_FLOAT_EQ(score[1] / score[2], 2.0f);
    BetweennessOracle oracle(twice);
    oracle.add(0);
    EXPECT_LT(oracle.largest_difference(score.data()), 1e-6);
}

// Each vertex inside a shortest path is counted once, so dependencies sum to distance - 1 over all targets.
TEST(BetweennessOracle, DependenciesSumToTheInnerVertices) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        const KroneckerEdges edge(10, 8 << 10, seed);
        BetweennessOracle oracle(edge);
        const uint64_t inner = oracle.add(static_cast<int32_t>(edge(1).from));
        double sum = 0;
        for (uint64_t v = 0; v < edge.vertices(); ++v) sum += oracle.scores()[v];
        EXPECT_GT(inner, 0u);
        EXPECT_NEAR(sum, static_cast<double>(inner), 1e-6 * static_cast<double>(inner));
    }
}

template <class EdgeSource>
void expect_agreement(const EdgeSource& edge) {
    const std::vector<int32_t> sources{static_cast<int32_t>(edge(5).from), static_cast<int32_t>(edge(6).to)};
    const std::vector<float> score = centrality(edge, sources);
    BetweennessOracle oracle(edge);
    for (const int32_t source : sources) oracle.add(source);
    EXPECT_LT(oracle.largest_difference(score.data()), 1e-4);
}

TEST(Betweenness, AgreesWithTheOracle) {
    for (uint64_t seed = 1; seed <= 5; ++seed) expect_agreement(KroneckerEdges(10, 8 << 10, seed));
    expect_agreement(RoadEdges(10, 2));
    expect_agreement(WebEdges(12, 8 << 12, 2));
}

TEST(BetweennessOracle, NoticesAMissingEdge) {
    const HandMade whole{5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}}, missing{5, {{0, 1}, {0, 2}, {1, 3}, {3, 4}}};
    const std::vector<float> score = centrality(missing, {0});
    BetweennessOracle oracle(whole);
    oracle.add(0);
    EXPECT_GT(oracle.largest_difference(score.data()), 0.1);
}

}  // namespace
