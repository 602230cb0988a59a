// Breadth-first search: exact levels on hand-made graphs; every rule of the validation has a case that
// breaks that rule alone.
#include "bfs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bfs_validation.h"
#include "hand_made.h"

using namespace tessera::workloads;

namespace {

// 0-1-2-3 in a line, 1-4 a branch, 5-6 a component of its own, 7 alone, a loop at 2, 1-2 twice.
const HandMade kGraph{8, {{0, 1}, {1, 2}, {2, 3}, {1, 4}, {5, 6}, {2, 2}, {2, 1}}};
// A square with a tail: 0-1, 1-2, 2-3, 3-0, 2-4.
const HandMade kSquare{5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {2, 4}}};

std::vector<int64_t> search(const HandMade& edges, int64_t root, uint64_t expected_reached) {
    const auto graph = build_csr<int64_t>(edges, Direction::both);
    std::vector<int64_t> parent(edges.vertices(), kUnreached), queue(edges.vertices());
    EXPECT_EQ(breadth_first_search(graph, root, parent.data(), queue.data()), expected_reached);
    return parent;
}

std::vector<int32_t> levels(const Validation& found) { return {found.level.data(), found.level.data() + found.level.size()}; }

TEST(Bfs, LevelsOfATree) {
    const auto parent = search(kGraph, 0, 5);
    EXPECT_EQ(parent, (std::vector<int64_t>{0, 0, 1, 2, 1, -1, -1, -1}));
    const Validation found = validate_bfs(kGraph, 0, parent.data());
    EXPECT_EQ(found.complaint, "");
    EXPECT_EQ(levels(found), (std::vector<int32_t>{0, 1, 2, 3, 2, -1, -1, -1}));
    EXPECT_EQ(found.edges_in_component, 6u);
}

TEST(Bfs, LevelsOfACycle) {
    const auto parent = search(kSquare, 0, 5);
    const Validation found = validate_bfs(kSquare, 0, parent.data());
    EXPECT_EQ(found.complaint, "");
    EXPECT_EQ(levels(found), (std::vector<int32_t>{0, 1, 2, 1, 3}));
}

TEST(Bfs, AnIsolatedRootReachesItself) {
    const auto parent = search(kGraph, 7, 1);
    EXPECT_EQ(validate_bfs(kGraph, 7, parent.data()).complaint, "");
}

TEST(BfsValidation, FindsEachBreach) {
    const struct {
        const char* name;
        const HandMade* edges;
        std::vector<int64_t> parent;
        const char* said;
    } cases[] = {
        {"root", &kSquare, {1, 0, 1, 0, 2}, "root is not its own parent"},
        {"cycle", &kSquare, {0, 2, 1, 0, 2}, "cycle"},
        {"self cycle", &kSquare, {0, 0, 2, 0, 2}, "cycle"},
        {"outside", &kSquare, {0, 0, 99, 0, 2}, "leave the graph"},
        {"parent unreached", &kSquare, {0, 0, -1, 0, 2}, "leave the graph"},
        {"half an edge", &kGraph, {0, 0, 1, -1, 1, -1, -1, -1}, "only one end reached"},
        {"depth-first", &kSquare, {0, 0, 1, 2, 2}, "differ by more than one"},
        {"invented edge", &kSquare, {0, 0, 1, 0, 3}, "not in the graph"},
        {"reached from nowhere", &kGraph, {0, 0, 1, 2, 1, -1, -1, 0}, "not in the graph"},
    };
    for (const auto& breach : cases) {
        const Validation found = validate_bfs(*breach.edges, 0, breach.parent.data());
        EXPECT_NE(found.complaint.find(breach.said), std::string::npos) << breach.name << ": '" << found.complaint << "'";
    }
}

TEST(BfsValidation, AcceptsEitherParentOfATie) {
    const std::vector<int64_t> by_one{0, 0, 1, 0, 2}, by_three{0, 0, 3, 0, 2};
    EXPECT_EQ(validate_bfs(kSquare, 0, by_one.data()).complaint, "");
    EXPECT_EQ(validate_bfs(kSquare, 0, by_three.data()).complaint, "");
}

TEST(Bfs, RandomGraphsPassTheValidation) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const KroneckerEdges edge(9, 16 << 9, seed);
        const auto graph = build_csr<int64_t>(edge, Direction::both);
        std::vector<int64_t> parent(512, kUnreached), queue(512);
        breadth_first_search(graph, 17, parent.data(), queue.data());
        EXPECT_EQ(validate_bfs(edge, 17, parent.data()).complaint, "") << "seed " << seed;
    }
}

}  // namespace
