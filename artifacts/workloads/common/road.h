// road.h - a synthetic road network as a function: arc k is computed from (seed, k) alone.
//
// Stands in for the USA road network of the 9th DIMACS challenge (GAPBS's `road`: 23.9 M vertices, 2.41 arcs a
// vertex, one strongly connected component, thousands of hops). The vertices are the crossings of a
// W x H grid. Each is joined to its left or its lower neighbour by a coin: that is a spanning tree (the
// "binary tree" way to make a maze), so the graph is connected however few roads it has. A fifth of the vertices
// have one road more: the neighbour that the coin left out or, now and then, a diagonal.
// Numbers: a county is a tile of 128 x 64 crossings with consecutive numbers; within it, runs of eight
// crossings along a street keep consecutive numbers and the runs lie in mixed order, as in files made from
// street records. Counties follow each other along the rows of the map.
// Weights: distances between crossings, which lie off the grid by up to half its pitch; the pitch is that of
// a town or of the country, by a coin per 32 x 32 tile. An arc that is not there is a self loop, which every
// reader of an edge source drops. Not modelled: one-way streets, bridges (the graph is planar but for
// crossing diagonals), the real map's outline.
#pragma once

#include <cstdint>

#include "common/kronecker.h"
#include "common/rng.h"

namespace tessera::workloads {

class RoadEdges {
public:
    static constexpr unsigned kCountyWidthBits = 7, kCountyHeightBits = 6, kRunBits = 3;

    RoadEdges(unsigned scale, uint64_t seed) : width_bits_((scale + 1) / 2), height_bits_(scale / 2), seed_(seed) {}

    uint64_t vertices() const { return uint64_t{1} << (width_bits_ + height_bits_); }
    /// Two roads a crossing, each an arc in both directions.
    uint64_t count() const { return 4 * vertices(); }

    Edge operator()(uint64_t k) const {
        const Segment road = segment(k >> 1);
        const auto a = static_cast<int64_t>(number(road.x, road.y));
        const auto b = static_cast<int64_t>(number(road.to_x, road.to_y));
        return k & 1 ? Edge{b, a} : Edge{a, b};
    }

    /// At least 1; about as long as the crossings are apart, diagonals included.
    int32_t weight(uint64_t k) const {
        const Segment road = segment(k >> 1);
        const int64_t dx = place(road.to_x, road.to_y, 0) - place(road.x, road.y, 0);
        const int64_t dy = place(road.to_x, road.to_y, 1) - place(road.x, road.y, 1);
        const uint64_t along = static_cast<uint64_t>(dx < 0 ? -dx : dx);
        const uint64_t up = static_cast<uint64_t>(dy < 0 ? -dy : dy);
        // The octagon that is within 4% of the circle: max + 3/8 min, without a square root.
        const uint64_t apart = (along > up ? along : up) + (along > up ? up : along) * 3 / 8;
        const bool country = mix64(seed_ + 3, (road.y >> 5) << 32 | road.x >> 5) & 1;
        return static_cast<int32_t>(1 + apart * (country ? 40 : 6) / 8);
    }

    /// The crossing's number; a bijection from [0, W) x [0, H).
    uint64_t number(uint64_t x, uint64_t y) const {
        const unsigned wide = width_bits_ < kCountyWidthBits ? width_bits_ : kCountyWidthBits;
        const unsigned high = height_bits_ < kCountyHeightBits ? height_bits_ : kCountyHeightBits;
        const uint64_t county = (y >> high) << (width_bits_ - wide) | x >> wide;
        const uint64_t inside = (y & ((1u << high) - 1)) << wide | (x & ((1u << wide) - 1));
        const unsigned run_bits = wide < kRunBits ? wide : kRunBits;
        const uint64_t run = scramble(inside >> run_bits, wide + high - run_bits, seed_ + county);
        return county << (wide + high) | run << run_bits | (inside & ((1u << run_bits) - 1));
    }

private:
    struct Segment {
        uint64_t x, y, to_x, to_y;
    };

    /// Road 2v is v's road of the tree, road 2v + 1 the one that a fifth of the vertices have besides.
    Segment segment(uint64_t road) const {
        const uint64_t vertex = road >> 1;
        const uint64_t x = vertex & ((uint64_t{1} << width_bits_) - 1), y = vertex >> width_bits_;
        const uint64_t bits = mix64(seed_, vertex);
        const bool left = x > 0 && (y == 0 || (bits & 1));
        if ((road & 1) == 0) return {x, y, x - (left ? 1 : 0), y - (!left && y > 0 ? 1 : 0)};
        const uint32_t draw = bits >> 32;
        constexpr uint32_t kOneInFive = UINT32_MAX / 5, kDiagonal = kOneInFive / 8;
        if (draw >= kOneInFive || x == 0 || y == 0) return {x, y, x, y};
        if (draw < kDiagonal) return {x, y, x - 1, y - 1};
        return {x, y, x - (left ? 0 : 1), y - (left ? 1 : 0)};
    }

    /// Coordinate of a crossing in 1/1024 of the pitch, axis 0 or 1.
    int64_t place(uint64_t x, uint64_t y, unsigned axis) const {
        const uint64_t bits = mix64(seed_ + 1 + axis, y << 32 | x);
        return static_cast<int64_t>((axis == 0 ? x : y) << 10) + static_cast<int64_t>(bits & 511) - 256;
    }

    unsigned width_bits_, height_bits_;
    uint64_t seed_;
};

}  // namespace tessera::workloads
