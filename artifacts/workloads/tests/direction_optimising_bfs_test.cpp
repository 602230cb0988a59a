// Direction-optimising search: depths on hand-made directed graphs, both directions taken on random ones, and each
// rule of the check broken alone.
#include "direction_optimising_bfs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/road.h"
#include "common/csr.h"
#include "directed_tree_check.h"
#include "hand_made.h"

using namespace tessera::workloads;

namespace {

// 0->1->2->3, 0->2, 3->0 closes a cycle; 4->0 leads in; 5 alone.
const HandMade kGraph{6, {{0, 1}, {1, 2}, {2, 3}, {0, 2}, {3, 0}, {4, 0}, {5, 5}}};

struct Searched {
    std::vector<int32_t> parent;
    uint64_t bottom_up_steps;
};

template <class EdgeSource>
Searched search(const EdgeSource& edge, int32_t source) {
    const auto outgoing = build_csr<int32_t>(edge, Direction::outgoing);
    const auto incoming = build_csr<int32_t>(edge, Direction::incoming);
    const uint64_t n = edge.vertices();
    std::vector<int32_t> parent(n), queue(n);
    std::vector<uint64_t> front(BfsArrays::bitmap_words(n)), next(BfsArrays::bitmap_words(n));
    const BfsArrays arrays{outgoing, incoming, queue.data(), front.data(), next.data()};
    const uint64_t steps = direction_optimising_bfs(arrays, source, parent.data());
    return {parent, steps};
}

TEST(DirectionOptimisingBfs, FindsShortestDepthsAlongDirections) {
    const Searched found = search(kGraph, 0);
    DirectedTreeCheck check({0}, found.parent.data(), 6);
    EXPECT_EQ(check.complaint(kGraph), "");
    const int32_t expected[] = {0, 1, 1, 2, -1, -1};
    for (uint64_t v = 0; v < 6; ++v) EXPECT_EQ(check.depth(v, 0), expected[v]) << v;
}

TEST(DirectionOptimisingBfs, TakesBothDirectionsOnARandomGraph) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        const KroneckerEdges edge(11, 16 << 11, seed);
        const int32_t hub = static_cast<int32_t>(edge(0).from);
        const Searched found = search(edge, hub);
        EXPECT_GT(found.bottom_up_steps, 0u);
        DirectedTreeCheck check({hub}, found.parent.data(), edge.vertices());
        EXPECT_EQ(check.complaint(edge), "") << "seed " << seed;
    }
}

TEST(DirectionOptimisingBfs, FollowsARoadStepByStep) {
    const RoadEdges edge(12, 4);
    const Searched found = search(edge, 100);
    DirectedTreeCheck check({100}, found.parent.data(), edge.vertices());
    EXPECT_EQ(check.complaint(edge), "");
    for (uint64_t v = 0; v < edge.vertices(); ++v) EXPECT_GE(found.parent[v], 0) << v;
}

TEST(DirectedTreeCheck, FindsEachBreach) {
    const struct {
        const char* name;
        std::vector<int32_t> parent;
        const char* said;
    } cases[] = {
        {"source", {1, 0, 0, 2, -1, -1}, "not its own parent"},
        {"cycle", {0, 2, 1, 2, -1, -1}, "cycle"},
        {"outside", {0, 0, 0, 99, -1, -1}, "cycle or leave"},
        {"parent unreached", {0, 0, 0, 4, -1, -1}, "leave the tree"},
        {"too deep", {0, 0, 1, 2, -1, -1}, "edge 0->2 leads from depth 0 to 2"},
        {"missed", {0, 0, 0, -1, -1, -1}, "edge 2->3 leads from depth 1 to a vertex not reached"},
        {"invented edge", {0, 0, 0, 1, -1, -1}, "edge to 3 from its parent is not in the graph"},
        {"against the direction", {0, 0, 0, 2, 0, -1}, "edge to 4 from its parent is not in the graph"},
    };
    for (const auto& breach : cases) {
        DirectedTreeCheck check({0}, breach.parent.data(), 6);
        const std::string said = check.complaint(kGraph);
        EXPECT_NE(said.find(breach.said), std::string::npos) << breach.name << ": '" << said << "'";
    }
}

TEST(DirectedTreeCheck, ChecksEveryTree) {
    const std::vector<int32_t> parents{0, 0, 0, 2, -1, -1, /* from 4: */ 4, 0, 0, 1, 4, -1};
    DirectedTreeCheck check({0, 4}, parents.data(), 6);
    const std::string said = check.complaint(kGraph);
    EXPECT_NE(said.find("source 4: the edge to 3"), std::string::npos) << said;
}

}  // namespace
