// The stand-in graphs: connected roads with a long diameter, a web with near links and skewed degrees, random
// weights; each a function of seed and index.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/graph_shape.h"
#include "common/road.h"
#include "common/web.h"
#include "common/weights.h"

using namespace tessera::workloads;

namespace {

TEST(Road, NumbersAreABijection) {
    for (const unsigned scale : {2u, 3u, 5u, 8u, 13u, 15u}) {
        const RoadEdges road(scale, 7);
        std::vector<bool> seen(road.vertices(), false);
        const uint64_t width = uint64_t{1} << ((scale + 1) / 2);
        for (uint64_t place = 0; place < road.vertices(); ++place) {
            const uint64_t number = road.number(place % width, place / width);
            ASSERT_LT(number, road.vertices()) << scale;
            ASSERT_FALSE(seen[number]) << scale;
            seen[number] = true;
        }
    }
}

TEST(Road, HasOneComponentAndMoreThanATree) {
    for (const unsigned scale : {2u, 6u, 11u, 16u}) {
        const GraphShape shape = shape_of(RoadEdges(scale, 3), 1);
        EXPECT_EQ(shape.reached, shape.vertices) << scale;
        EXPECT_GE(shape.arcs, 2 * (shape.vertices - 1)) << scale;
    }
}

// The USA network has 57.7 M arcs between 23.9 M vertices: 2.41 a vertex.
TEST(Road, HasTheDegreesAndTheDiameterOfARoadNetwork) {
    const GraphShape shape = shape_of(RoadEdges(16, 1), 1);
    EXPECT_NEAR(static_cast<double>(shape.arcs) / static_cast<double>(shape.vertices), 2.41, 0.05);
    EXPECT_LE(shape.largest_out_degree, 9u);
    EXPECT_GT(shape.pseudo_diameter, 256u);  // the side of the map
    EXPECT_LT(shape.pseudo_diameter, 4 * 256u);
    EXPECT_GT(shape.near_arcs, 0.8);  // within half a county
}

TEST(Road, ArcsComeInPairsOfTheSameWeight) {
    const RoadEdges road(10, 5);
    int different = 0;
    for (uint64_t k = 0; k < road.count(); k += 2) {
        const auto [a, b] = road(k);
        EXPECT_EQ(road(k + 1).from, b);
        EXPECT_EQ(road(k + 1).to, a);
        EXPECT_EQ(road.weight(k), road.weight(k + 1));
        EXPECT_GE(road.weight(k), 1);
        different += road.weight(k) != road.weight(0);
    }
    EXPECT_GT(different, 1000);
}

TEST(Web, MostLinksAreNearAndDegreesAreSkewed) {
    const GraphShape shape = shape_of(WebEdges(17, 8 << 17, 1), 1);
    EXPECT_GT(shape.near_arcs, 0.6);
    EXPECT_GT(shape.in_arcs_of_top_percent, 0.25);
    EXPECT_GT(shape.out_arcs_of_top_percent, 0.15);
    EXPECT_GT(shape.largest_in_degree, 1000u);
    EXPECT_GT(shape.pseudo_diameter, 2 * WebEdges::kArchivePages - 10);  // into and out of an archive
    EXPECT_LT(shape.pseudo_diameter, 100u);
}

TEST(Web, EveryEndIsAPage) {
    for (const unsigned scale : {2u, 5u, 7u, 9u, 14u, 16u}) {
        const WebEdges web(scale, 8u << scale, 2);
        for (uint64_t k = 0; k < web.count(); ++k) {
            const auto [from, to] = web(k);
            ASSERT_LT(static_cast<uint64_t>(from), web.vertices()) << scale;
            ASSERT_LT(static_cast<uint64_t>(to), web.vertices()) << scale;
        }
    }
}

TEST(Twitter, AKroneckerGraphIsSkewedAndSmallAcross) {
    const GraphShape shape = shape_of(KroneckerEdges(16, 16 << 16, 1), 1);
    EXPECT_GT(shape.in_arcs_of_top_percent, 0.3);
    EXPECT_LT(shape.pseudo_diameter, 15u);
}

TEST(Generators, AreFunctionsOfSeedAndIndex) {
    const RoadEdges road(12, 1), other_road(12, 2);
    const WebEdges web(15, 4 << 15, 1), other_web(15, 4 << 15, 2);
    const RandomWeights weighted(web, 1), reseeded(web, 2);
    uint64_t roads = 0, links = 0, weights = 0;
    for (uint64_t k = 0; k < 16384; ++k) {
        const uint64_t again = 16383 - k;
        EXPECT_EQ(road(again).to, RoadEdges(12, 1)(again).to);
        EXPECT_EQ(web(again).to, WebEdges(15, 4 << 15, 1)(again).to);
        roads += road(k).to != other_road(k).to;
        links += web(k).to != other_web(k).to;
        weights += weighted.weight(k) != reseeded.weight(k);
        EXPECT_GE(weighted.weight(k), 1);
        EXPECT_LE(weighted.weight(k), 255);
    }
    EXPECT_GT(roads, 8000u);
    EXPECT_GT(links, 15000u);
    EXPECT_GT(weights, 15000u);
}

// A directed path 0-1-..-9 and a hub: degrees and diameter can be counted by hand.
TEST(GraphShape, OfAPathIsKnown) {
    struct Path {
        uint64_t vertices() const { return 10; }
        uint64_t count() const { return 10; }
        Edge operator()(uint64_t k) const { return {static_cast<int64_t>(k), static_cast<int64_t>(k < 8 ? k + 1 : k)}; }
    };
    const GraphShape shape = shape_of(Path{}, 1);  // 8->8 and 9->9 are self loops: 9 is alone
    EXPECT_EQ(shape.arcs, 8u);
    EXPECT_EQ(shape.isolated, 1u);
    EXPECT_EQ(shape.largest_out_degree, 1u);
    EXPECT_GE(shape.pseudo_diameter, 5u);  // from the best of four random starts
    EXPECT_LE(shape.pseudo_diameter, 8u);
}

}  // namespace
