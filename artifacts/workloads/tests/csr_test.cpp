// Compressed rows of graphs small enough to write down.
#include "common/csr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hand_made.h"

using namespace tessera::workloads;

namespace {

template <class Vertex>
std::vector<Vertex> row(const Csr<Vertex>& graph, uint64_t v) {
    std::vector<Vertex> all(graph.targets.data() + graph.offsets[v], graph.targets.data() + graph.offsets[v + 1]);
    std::ranges::sort(all);
    return all;
}

TEST(Csr, UndirectedRowsHoldBothEnds) {
    const HandMade edges{4, {{0, 1}, {1, 2}, {2, 2}, {0, 1}}};  // a self loop, a repeated edge, 3 alone
    const auto graph = build_csr<int64_t>(edges, Direction::both);
    EXPECT_EQ(row(graph, 0), (std::vector<int64_t>{1, 1}));
    EXPECT_EQ(row(graph, 1), (std::vector<int64_t>{0, 0, 2}));
    EXPECT_EQ(row(graph, 2), (std::vector<int64_t>{1}));
    EXPECT_EQ(graph.degree(3), 0u);
}

TEST(Csr, IncomingRowsHoldSources) {
    const HandMade edges{3, {{0, 2}, {1, 2}, {2, 0}}};
    const auto graph = build_csr<int32_t>(edges, Direction::incoming);
    EXPECT_EQ(row(graph, 0), (std::vector<int32_t>{2}));
    EXPECT_EQ(graph.degree(1), 0u);
    EXPECT_EQ(row(graph, 2), (std::vector<int32_t>{0, 1}));
}

TEST(Csr, AGraphOfSelfLoopsIsEmpty) {
    const auto graph = build_csr<int64_t>(HandMade{2, {{0, 0}, {1, 1}}}, Direction::both);
    EXPECT_EQ(graph.degree(0), 0u);
    EXPECT_EQ(graph.degree(1), 0u);
}

TEST(AnonymousArray, RefusesWhatCannotBeMapped) {
    EXPECT_THROW(AnonymousArray<uint64_t>("none", 0), Error);
    EXPECT_THROW(AnonymousArray<uint64_t>("overflow", UINT64_MAX / 4), Error);
    EXPECT_THROW(AnonymousArray<uint64_t>("beyond the address space", uint64_t{1} << 50), Error);
}

TEST(AnonymousArray, PrefaultKeepsContents) {
    AnonymousArray<uint64_t> array("a", 2000);
    array[0] = 7;
    array[1999] = 9;
    array.prefault();
    EXPECT_EQ(array[0], 7u);
    EXPECT_EQ(array[1], 0u);
    EXPECT_EQ(array[1999], 9u);
}

}  // namespace
