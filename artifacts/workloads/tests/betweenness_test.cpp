// Betweenness: closed forms on paths and diamonds, the sum of dependencies, and the oracle on random graphs.
#include "betweenness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "betweenness_check.h"
#include "betweenness_oracle.h"
#include "common/road.h"
#include "common/web.h"
#include "hand_made.h"

using namespace tessera::workloads;

namespace {

/// What the kernel leaves behind.
struct Computed {
    template <class EdgeSource>
    Computed(const EdgeSource& edge, const std::vector<int32_t>& sources)
        : outgoing(build_csr<int32_t>(edge, Direction::outgoing)),
          depth(edge.vertices()),
          queue(edge.vertices()),
          paths(edge.vertices()),
          dependency(edge.vertices()),
          score(edge.vertices(), 0),
          successor(BetweennessArrays::successor_words(outgoing.offsets[edge.vertices()])) {
        std::vector<uint64_t> levels;
        betweenness(arrays(), sources, levels);
    }

    BetweennessArrays arrays() {
        return {outgoing, depth.data(), paths.data(), dependency.data(), score.data(), queue.data(), successor.data()};
    }

    Csr<int32_t> outgoing;
    std::vector<int32_t> depth, queue;
    std::vector<double> paths;
    std::vector<float> dependency, score;
    std::vector<uint64_t> successor;
};

template <class EdgeSource>
std::vector<float> centrality(const EdgeSource& edge, const std::vector<int32_t>& sources) {
    return Computed(edge, sources).score;
}

/// Of the numbers from one source, by the edges of `edge`.
template <class EdgeSource>
std::string complaint(Computed& computed, const EdgeSource& edge, int32_t source) {
    return BetweennessCheck(computed.arrays(), edge.vertices(), source).complaint(edge);
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

template <class EdgeSource>
void expect_the_check_agrees(const EdgeSource& edge) {
    const auto source = static_cast<int32_t>(edge(5).from);
    Computed computed(edge, {source});
    EXPECT_EQ(complaint(computed, edge, source), "");
}

TEST(BetweennessCheck, AgreesWithTheKernel) {
    for (uint64_t seed = 1; seed <= 5; ++seed) expect_the_check_agrees(KroneckerEdges(10, 8 << 10, seed));
    expect_the_check_agrees(RoadEdges(10, 2));
    expect_the_check_agrees(WebEdges(12, 8 << 12, 2));
    const HandMade alone{2, {{0, 0}, {1, 0}}};
    Computed computed(alone, {0});
    EXPECT_EQ(complaint(computed, alone, 0), "");
}

// The check and the oracle are two answers to one question: whatever the check lets pass, the oracle has, too.
TEST(BetweennessCheck, AgreesWithTheOracle) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        const KroneckerEdges edge(9, 6 << 9, seed);
        const auto source = static_cast<int32_t>(edge(3).from);
        Computed computed(edge, {source});
        BetweennessOracle oracle(edge);
        oracle.add(source);
        EXPECT_EQ(complaint(computed, edge, source), "");
        EXPECT_LT(oracle.largest_difference(computed.score.data()), 1e-4);
    }
}

// Any one number changed, of any vertex, is noticed.
TEST(BetweennessCheck, NoticesEachWrongNumber) {
    const HandMade diamond{7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {5, 4}}};  // 5 and 6 are not reached
    for (uint64_t v = 0; v < 7; ++v) {
        const auto changed = [&](auto&& change) {
            Computed computed(diamond, {0});
            EXPECT_EQ(complaint(computed, diamond, 0), "");
            change(computed);
            return complaint(computed, diamond, 0);
        };
        EXPECT_NE(changed([&](Computed& c) { c.depth[v] += 1; }), "") << v;
        EXPECT_NE(changed([&](Computed& c) { c.depth[v] -= c.depth[v] < 0 ? -3 : 1; }), "") << v;
        EXPECT_NE(changed([&](Computed& c) { c.paths[v] += 1; }), "") << v;
        EXPECT_NE(changed([&](Computed& c) { c.dependency[v] += 1e-3f; }), "") << v;
        EXPECT_NE(changed([&](Computed& c) { c.score[v] += 1e-3f; }), "") << v;
    }
}

TEST(BetweennessCheck, NoticesAMissingEdge) {
    const HandMade whole{5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}};
    for (size_t missing = 0; missing < whole.edges.size(); ++missing) {
        HandMade less = whole;
        less.edges.erase(less.edges.begin() + static_cast<int64_t>(missing));
        Computed computed(less, {0});
        EXPECT_NE(complaint(computed, whole, 0), "") << missing;
        Computed more(whole, {0});
        EXPECT_NE(complaint(more, less, 0), "") << missing;
    }
}

}  // namespace
