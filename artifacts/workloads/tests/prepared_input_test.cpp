// Prepared inputs hold the bytes that the programs build, whatever the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "common/prepared_edges.h"
#include "common/prepared_graph.h"
#include "hand_made.h"
#include "prepared_graph500.h"
#include "prepared_xsbench.h"
#include "scratch_folder.h"

using namespace tessera::workloads;

namespace {

const Shape kShape{{"input", "test"}};
constexpr unsigned kThreads[] = {1, 2, 8};

template <class T>
bool same_bytes(const AnonymousArray<T>& a, const AnonymousArray<T>& b) {
    return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

template <class Vertex>
bool same_rows(const Csr<Vertex>& a, const Csr<Vertex>& b) {
    return same_bytes(a.offsets, b.offsets) && same_bytes(a.targets, b.targets);
}

class PreparedInputs : public ::testing::Test {
protected:
    template <class Prepare>
    PreparedFile prepared(unsigned threads, Prepare&& prepare) {
        const std::string path = folder_.path("input");
        PreparedWriter writer(path, kShape, 1 << 20);
        Preparation preparation{writer, threads};
        prepare(preparation);
        EXPECT_EQ(preparation.complaint, "");
        writer.finish();
        return PreparedFile("test", path, kShape, Verify::yes);
    }

    template <class EdgeSource>
    void rows_are_the_same(const char* name, const EdgeSource& edge) {
        for (const unsigned threads : kThreads) {
            const std::optional file(prepared(threads, [&](Preparation& p) { prepare_graph<int32_t>(p, edge); }));
            for (const auto direction : {Direction::outgoing, Direction::incoming})
                EXPECT_TRUE(same_rows(graph_rows<int32_t>(file, edge, direction), build_csr<int32_t>(edge, direction)))
                    << name << " " << threads;
        }
    }

    template <class EdgeSource>
    void weighted_rows_are_the_same(const char* name, const EdgeSource& edge) {
        for (const unsigned threads : kThreads) {
            const PreparedFile file = prepared(threads, [&](Preparation& p) { prepare_graph<WeightedVertex>(p, edge); });
            EXPECT_TRUE(same_rows(load_rows<WeightedVertex>(file, "outgoing", edge.vertices()),
                                  build_csr<WeightedVertex>(edge, Direction::outgoing)))
                << name << " " << threads;
        }
    }

    ScratchFolder folder_;
};

TEST_F(PreparedInputs, RowsOfEveryGenerator) {
    rows_are_the_same("kronecker", KroneckerEdges(13, 9 << 13, 3));  // several rows a bucket
    rows_are_the_same("kronecker", KroneckerEdges(5, 200 << 5, 3));  // a row a bucket, several blocks
    rows_are_the_same("uniform", UniformEdges(11, 5 << 11, 4));
    rows_are_the_same("road", RoadEdges(12, 5));
    rows_are_the_same("web", WebEdges(15, 3 << 15, 6));
}

TEST_F(PreparedInputs, WeightedRowsOfEveryGenerator) {
    weighted_rows_are_the_same("kronecker", RandomWeights(KroneckerEdges(12, 9 << 12, 3), 3));
    weighted_rows_are_the_same("road", RoadEdges(11, 5));
    weighted_rows_are_the_same("web", RandomWeights(WebEdges(15, 3 << 15, 6), 6));
}

TEST_F(PreparedInputs, SmallAndOddGraphs) {
    rows_are_the_same("self loops only", HandMade{2, {{0, 0}, {1, 1}}});
    rows_are_the_same("no edges", HandMade{3, {}});
    rows_are_the_same("one vertex", HandMade{1, {{0, 0}}});
    rows_are_the_same("fewer edges than threads", HandMade{4, {{0, 1}, {3, 1}}});
    HandMade hub{1500, {}};  // not a power of two
    for (int i = 0; i < 6000; ++i) hub.edges.push_back({i % 1500, 1499});
    rows_are_the_same("a hub in the last row", hub);
}

TEST_F(PreparedInputs, AGraphFileIsReadByEachThread) {
    const std::string path = folder_.path("g.sg");
    std::string bytes(1, '\0');
    const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    constexpr int64_t kVertices = 50;
    put(int64_t{2 * kVertices});
    put(kVertices);
    for (int64_t v = 0; v <= kVertices; ++v) put(2 * v);
    for (int32_t v = 0; v < kVertices; ++v) put((v + 1) % int32_t{kVertices}), put((v * 7 + 3) % int32_t{kVertices});
    write_bytes_to(path, bytes);
    rows_are_the_same("file", GapFileEdges(path));
}

TEST_F(PreparedInputs, Graph500HasTheSameListAndRows) {
    const KroneckerEdges edge(12, 16 << 12, 5);
    const EdgeList built = generate(edge);
    for (const unsigned threads : kThreads) {
        const PreparedFile file = prepared(threads, [&](Preparation& p) { prepare_graph500(p, edge); });
        EXPECT_TRUE(same_bytes(load_edges(file, edge).edges, built.edges)) << threads;
        EXPECT_TRUE(same_rows(load_rows<int64_t>(file, "both", edge.vertices()), build_csr<int64_t>(built, Direction::both))) << threads;
    }
}

TEST_F(PreparedInputs, XsbenchHasTheSameGrids) {
    for (const uint64_t points : {2u, 3u, 77u}) {  // 136 to 5236 rows: less than a block, and some blocks
        const auto built = xsbench::make_data(68, points, 8);
        for (const unsigned threads : kThreads) {
            const PreparedFile file = prepared(threads, [&](Preparation& p) { xsbench::prepare_data(p, 68, points, 8); });
            const auto loaded = xsbench::load_data(file, 68, points, 8);
            EXPECT_TRUE(same_bytes(loaded.grid, built.grid)) << points << " " << threads;
            EXPECT_TRUE(same_bytes(loaded.energies, built.energies)) << points << " " << threads;
            EXPECT_TRUE(same_bytes(loaded.index, built.index)) << points << " " << threads;
        }
    }
}

TEST_F(PreparedInputs, EdgesOfAFileAreThoseOfTheGenerator) {
    const auto all = [](const auto& edges) {  // of a graph, sorted; self loops are not in rows
        std::vector<std::pair<int64_t, int64_t>> found;
        uint64_t fetched = 0;
        visit_edges(
            edges, [&](const Edge&) { ++fetched; },
            [&](const Edge& e, uint64_t) {
                if (e.from != e.to) found.emplace_back(e.from, e.to);
                return true;
            });
        EXPECT_EQ(fetched, edges.count());
        std::sort(found.begin(), found.end());
        return found;
    };
    const auto expect_same = [&](const auto& edge) {
        const PreparedFile file = prepared(2, [&](Preparation& p) { prepare_graph<int32_t>(p, edge); });
        for (const auto direction : {Direction::outgoing, Direction::incoming})
            EXPECT_EQ(all(PreparedEdges(file, direction, edge.vertices())), all(edge));
    };
    expect_same(KroneckerEdges(13, 40 << 13, 3));  // more than one piece of the file
    expect_same(HandMade{5, {{4, 0}, {4, 4}, {0, 4}, {4, 0}}});  // empty rows, a repeated edge
    expect_same(HandMade{3, {{1, 1}}});  // no entries
}

TEST_F(PreparedInputs, AVisitOfAFileEndsWhenItIsTold) {
    const PreparedFile file = prepared(1, [&](Preparation& p) { prepare_graph<int32_t>(p, KroneckerEdges(8, 8 << 8, 3)); });
    uint64_t visited = 0;
    visit_edges(
        PreparedEdges(file, Direction::incoming, 256), [](const Edge&) {},
        [&](const Edge&, uint64_t number) {
            EXPECT_EQ(number, visited);
            return ++visited < 100;
        });
    EXPECT_EQ(visited, 100u);
}

TEST_F(PreparedInputs, AWrongRowOfTheIndexIsSeen) {
    const auto data = xsbench::make_data(68, 50, 8);
    std::vector<uint32_t> row(data.index.data() + 1000 * 68, data.index.data() + 1001 * 68);
    const double energy = data.energies[1000];
    EXPECT_TRUE(xsbench::row_is_right(data.grid, 50, energy, row.data(), 68));
    const uint32_t right = row[40];
    for (const uint32_t wrong : {right + 1, right - 1, 49u, 4000000000u}) {
        row[40] = wrong;
        EXPECT_FALSE(xsbench::row_is_right(data.grid, 50, energy, row.data(), 68)) << wrong;
    }
}

TEST_F(PreparedInputs, OffsetsThatDoNotFitTheirEndsAreRefused) {
    const PreparedFile file = prepared(1, [&](Preparation& p) {
        p.writer.lay_out({{"outgoing-offsets", 8, 3}, {"outgoing-ends", 4, 2}});
        const uint64_t offsets[] = {0, 1, 5};
        const int32_t ends[] = {1, 0};
        p.writer.write(0, 0, offsets, 3);
        p.writer.write(1, 0, ends, 2);
    });
    EXPECT_THROW(load_rows<int32_t>(file, "outgoing", 2), Error);
    EXPECT_THROW(load_rows<int32_t>(file, "outgoing", 3), Error);
}

TEST(RowBuckets, TheSumOfRowsFollowsTheEdges) {
    const HandMade edge{4, {{0, 1}, {2, 3}, {3, 0}}};
    RowBuckets<int32_t> rows(4, 3, 2);
    rows.fill(edge, Direction::outgoing);
    EXPECT_EQ(rows.entries(), 3u);
    std::vector<int32_t> ends(3);
    EXPECT_TRUE(rows.emit([&](uint64_t, auto, uint64_t first, auto entries) {
        std::copy(entries.begin(), entries.end(), ends.begin() + static_cast<int64_t>(first));
    }));
    EXPECT_EQ(ends, (std::vector<int32_t>{1, 3, 0}));
}

}  // namespace
