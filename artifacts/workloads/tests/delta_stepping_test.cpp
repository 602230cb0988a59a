// Delta-stepping: distances by hand, against Dijkstra for every width of bin, and each rule of the check broken.
#include "delta_stepping.h"

#include <gtest/gtest.h>

#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "common/road.h"
#include "common/weights.h"
#include "distance_check.h"
#include "hand_made.h"

using namespace tessera::workloads;

namespace {

struct Weighted : HandMade {
    // An aggregate's temporaries look uninitialised to GCC 12.
    Weighted(uint64_t count, std::vector<Edge> list, std::vector<int32_t> lengths)
        : HandMade{count, std::move(list)}, weights(std::move(lengths)) {}

    std::vector<int32_t> weights;
    int32_t weight(uint64_t k) const { return weights[k]; }
};

// The direct edge 0->2 is longer than the way over 1; 3 is reached from nowhere.
const Weighted kGraph{4, {{0, 1}, {1, 2}, {0, 2}, {3, 0}}, {2, 3, 9, 1}};

template <class EdgeSource>
std::vector<int32_t> distances(const EdgeSource& edge, int32_t source, int32_t delta) {
    const auto graph = build_csr<WeightedVertex>(edge, Direction::outgoing);
    Bins bins(edge.count());
    std::vector<int32_t> distance(edge.vertices()), frontier(bins.capacity());
    delta_stepping(graph, source, delta, distance.data(), frontier.data(), bins);
    return distance;
}

template <class EdgeSource>
std::vector<int32_t> dijkstra(const EdgeSource& edge, int32_t source) {
    std::vector<std::vector<std::pair<int32_t, int32_t>>> rows(edge.vertices());
    for (uint64_t k = 0; k < edge.count(); ++k) rows[edge(k).from].emplace_back(static_cast<int32_t>(edge(k).to), edge.weight(k));
    std::vector<int32_t> distance(edge.vertices(), kUnreachable);
    using Entry = std::pair<int32_t, int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> due;
    due.emplace(distance[source] = 0, source);
    while (!due.empty()) {
        const auto [at, u] = due.top();
        due.pop();
        if (at > distance[u]) continue;
        for (const auto& [v, weight] : rows[u])
            if (at + weight < distance[v]) due.emplace(distance[v] = at + weight, v);
    }
    return distance;
}

TEST(DeltaStepping, FindsTheShorterWay) {
    for (const int32_t delta : {1, 2, 100}) EXPECT_EQ(distances(kGraph, 0, delta), (std::vector<int32_t>{0, 2, 5, kUnreachable})) << delta;
}

TEST(DeltaStepping, AgreesWithDijkstraForEveryDelta) {
    const RandomWeights kronecker(KroneckerEdges(10, 8 << 10, 3), 3);
    const RoadEdges road(10, 3);
    const auto kronecker_expected = dijkstra(kronecker, static_cast<int32_t>(kronecker(0).from));
    const auto road_expected = dijkstra(road, 9);
    for (const int32_t delta : {1, 2, 50, 1000, 50000}) {
        EXPECT_EQ(distances(kronecker, static_cast<int32_t>(kronecker(0).from), delta), kronecker_expected) << delta;
        EXPECT_EQ(distances(road, 9, delta), road_expected) << delta;
    }
}

TEST(DeltaStepping, RefusesADeltaThatNeedsTooManyBins) {
    const Weighted far{2, {{0, 1}}, {1 << 18}};
    EXPECT_EQ(distances(far, 0, 2)[1], 1 << 18);
    EXPECT_THROW(distances(far, 0, 1), Error);
}

TEST(Bins, GiveBackWhatWasPutInAndRefuseMore) {
    Bins bins(1);
    std::vector<int32_t> out(bins.capacity());
    for (uint64_t i = 0; i < bins.capacity(); ++i) bins.push(7, static_cast<int32_t>(i));
    EXPECT_THROW(bins.push(7, 0), Error);
    EXPECT_EQ(bins.next(0), 7u);
    EXPECT_EQ(bins.take(7, out.data()), bins.capacity());
    std::vector<bool> seen(bins.capacity(), false);
    for (const int32_t entry : out) seen[entry] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<int64_t>(bins.capacity()));
    EXPECT_EQ(bins.next(0), Bins::kBins);
    for (uint64_t i = 0; i < Bins::kChunkEntries + 1; ++i) bins.push(3, 1);  // its chunks can be used again
    EXPECT_EQ(bins.take(3, out.data()), Bins::kChunkEntries + 1);
    EXPECT_THROW(bins.push(Bins::kBins, 0), Error);
}

TEST(DistanceCheck, FindsEachBreach) {
    const int32_t far = kUnreachable;
    const struct {
        const char* name;
        std::vector<int32_t> distance;
        const char* said;
    } cases[] = {
        {"source", {1, 2, 5, far}, "the source, is not 0"},
        {"too long", {0, 2, 9, far}, "above 5, by the edge from 1"},
        {"too short", {0, 2, 4, far}, "distance 4 of 2: no edge gives it"},
        {"missed", {0, 2, far, far}, "above 5"},
        {"reached from nowhere", {0, 2, 5, 7}, "distance 7 of 3: no edge gives it"},
    };
    for (const auto& breach : cases) {
        const std::string said = distance_complaint(kGraph, 0, breach.distance.data(), far);
        EXPECT_NE(said.find(breach.said), std::string::npos) << breach.name << ": '" << said << "'";
    }
    const std::vector<int32_t> right{0, 2, 5, far};
    EXPECT_EQ(distance_complaint(kGraph, 0, right.data(), far), "");
}

}  // namespace
