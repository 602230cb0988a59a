// GAPBS graph files: a file written by hand, byte by byte, and every kind of inconsistent file.
#include "common/gap_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "common/csr.h"
#include "common/error.h"

using namespace tessera::workloads;

namespace {

class GapFile : public ::testing::Test {
protected:
    template <class T>
    void put(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    void header(char directed, int64_t arcs, int64_t vertices) {
        bytes_.clear();
        put(directed);
        put(arcs);
        put(vertices);
    }

    /// 0->1 (5), 0->2 (7), 2->0 (1); 1 has no outgoing arcs. Undirected files hold one side.
    void small(bool weighted) {
        header(0, 3, 3);
        for (const int64_t offset : {0, 2, 2, 3}) put(offset);
        const int32_t ends[] = {1, 2, 0}, weights[] = {5, 7, 1};
        for (int i = 0; i < 3; ++i) {
            put(ends[i]);
            if (weighted) put(weights[i]);
        }
    }

    std::string write(const std::string& suffix) {
        path_ = ::testing::TempDir() + "gap_file_test_" + std::to_string(getpid()) + suffix;
        std::ofstream(path_, std::ios::binary) << bytes_;
        return path_;
    }

    std::string refusal(const std::string& suffix) {
        try {
            const GapFileEdges edges(write(suffix));
        } catch (const Error& error) {
            return error.what();
        }
        return "accepted";
    }

    void TearDown() override {
        if (!path_.empty()) unlink(path_.c_str());
    }

    std::string bytes_, path_;
};

TEST_F(GapFile, YieldsItsArcsInOrderAndAgain) {
    small(false);
    const GapFileEdges edges(write(".sg"));
    ASSERT_EQ(edges.vertices(), 3u);
    ASSERT_EQ(edges.count(), 3u);
    EXPECT_FALSE(edges.weighted());
    const int64_t from[] = {0, 0, 2}, to[] = {1, 2, 0};
    for (int pass = 0; pass < 2; ++pass)
        for (uint64_t k = 0; k < 3; ++k) {
            EXPECT_EQ(edges(k).from, from[k]);
            EXPECT_EQ(edges(k).to, to[k]);
        }
}

TEST_F(GapFile, YieldsWeights) {
    small(true);
    const GapFileEdges edges(write(".wsg"));
    EXPECT_TRUE(edges.weighted());
    const auto graph = build_csr<WeightedVertex>(edges, Direction::outgoing);
    EXPECT_EQ(graph.degree(0), 2u);
    EXPECT_EQ(graph.degree(1), 0u);
    EXPECT_EQ(graph.targets[2].vertex, 0);
    EXPECT_EQ(graph.targets[2].weight, 1);
    EXPECT_EQ(graph.targets[0].weight + graph.targets[1].weight, 12);
}

TEST_F(GapFile, ADirectedFileHasTwoSides) {
    small(false);
    bytes_[0] = 1;
    EXPECT_NE(refusal(".sg").find("take 105"), std::string::npos);  // 17 + 2 * (4 * 8 + 3 * 4)
    for (const int64_t offset : {0, 1, 2, 3}) put(offset);
    for (const int32_t source : {2, 0, 0}) put(source);
    EXPECT_EQ(refusal(".sg"), "accepted");
}

TEST_F(GapFile, RefusesWhatLies) {
    const struct {
        const char* name;
        void (*damage)(std::string&);
        const char* said;
    } cases[] = {
        {"empty", [](std::string& b) { b.clear(); }, "fewer than the header"},
        {"one byte short", [](std::string& b) { b.pop_back(); }, "but 3 vertices"},
        {"one byte long", [](std::string& b) { b.push_back(0); }, "but 3 vertices"},
        {"directed is 2", [](std::string& b) { b[0] = 2; }, "'directed', is 2"},
        {"negative arcs", [](std::string& b) { b[8] = '\xff'; }, "arcs, more"},
        {"no vertices", [](std::string& b) { b[9] = 0; }, "claims 0 vertices"},
        {"too many vertices", [](std::string& b) { b[13] = 1; }, "2147483647"},
        {"first offset", [](std::string& b) { b[17] = 1; }, "run from 0"},
        {"falling offset", [](std::string& b) { b[17 + 8] = 3; }, "at vertex 1"},
        {"stray end", [](std::string& b) { b[17 + 32] = 3; }, "arc 0 ends at vertex 3"},
        {"negative end", [](std::string& b) { b[17 + 32 + 7] = '\xff'; }, "arc 1 ends at vertex -"},
    };
    for (const auto& lie : cases) {
        small(false);
        lie.damage(bytes_);
        const std::string said = refusal(".sg");
        EXPECT_NE(said.find(lie.said), std::string::npos) << lie.name << ": " << said;
        EXPECT_NE(said.find("what to do"), std::string::npos) << lie.name;
    }
}

TEST_F(GapFile, RefusesWeightsThatDeltaSteppingCannotTake) {
    small(true);
    bytes_[17 + 32 + 4] = 0;
    EXPECT_NE(refusal(".wsg").find("arc 0 has weight 0"), std::string::npos);
}

TEST_F(GapFile, RefusesOtherNamesAndMissingFiles) {
    small(false);
    EXPECT_NE(refusal(".el").find("neither in .sg nor in .wsg"), std::string::npos);
    EXPECT_THROW(GapFileEdges("/nonexistent/graph.sg"), Error);
}

}  // namespace
