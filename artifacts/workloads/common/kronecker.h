// kronecker.h - random graphs as functions: edge k of a graph is computed from (seed, k) alone.
//
// Kronecker: the recursive quadrant choice of the Graph 500 specification (version 2.1, section 3.3;
// A, B, C = 0.57, 0.19, 0.19), by quadrant_table.h, then a bijection on the labels so that a vertex's
// number tells nothing about its degree. Integers only: floating point is slow when emulated.
// Uniform: both ends drawn evenly. No memory is needed, so a verifier can generate the edges again.
#pragma once

#include <cstdint>

#include "common/quadrant_table.h"
#include "common/rng.h"

namespace tessera::workloads {

struct Edge {
    int64_t from;
    int64_t to;
};

/// A bijection on [0, 2^bits): each step (odd multiply, xor of higher bits, add) can be undone.
inline uint64_t scramble(uint64_t vertex, unsigned bits, uint64_t seed) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    const unsigned half = bits / 2 + 1;
    vertex = (vertex * 0xd1342543de82ef95u + seed) & mask;
    vertex ^= vertex >> half;
    vertex = (vertex * 0xaf251af3b0f025b5u + (seed >> 7)) & mask;
    return vertex ^ (vertex >> half);
}

class KroneckerEdges {
public:
    KroneckerEdges(unsigned scale, uint64_t edges, uint64_t seed) : scale_(scale), edges_(edges), seed_(seed) {}

    uint64_t vertices() const { return uint64_t{1} << scale_; }
    uint64_t count() const { return edges_; }

    Edge operator()(uint64_t k) const {
        constexpr unsigned kLevels = QuadrantTable::kLevels;
        uint64_t from = 0, to = 0, bits = 0;
        unsigned levels = 0;
        for (; levels < scale_; levels += kLevels) {
            // 64 bits serve two draws; 8 numbers an edge are enough for a scale of 64.
            bits = levels % (2 * kLevels) == 0 ? mix64(seed_, k * 8 + levels / (2 * kLevels)) : bits >> 32;
            const unsigned outcome = table_.draw(static_cast<uint32_t>(bits));
            from = from << kLevels | outcome >> kLevels;
            to = to << kLevels | (outcome & 15);
        }
        const unsigned surplus = levels - scale_;  // levels are independent: dropping some is exact
        return {static_cast<int64_t>(scramble(from >> surplus, scale_, seed_)),
                static_cast<int64_t>(scramble(to >> surplus, scale_, seed_))};
    }

private:
    unsigned scale_;
    uint64_t edges_;
    uint64_t seed_;
    QuadrantTable table_;
};

class UniformEdges {
public:
    UniformEdges(unsigned scale, uint64_t edges, uint64_t seed) : vertices_(uint64_t{1} << scale), edges_(edges), seed_(seed) {}

    uint64_t vertices() const { return vertices_; }
    uint64_t count() const { return edges_; }
    Edge operator()(uint64_t k) const {
        return {static_cast<int64_t>(below(mix64(seed_, 2 * k), vertices_)),
                static_cast<int64_t>(below(mix64(seed_, 2 * k + 1), vertices_))};
    }

private:
    uint64_t vertices_;
    uint64_t edges_;
    uint64_t seed_;
};

}  // namespace tessera::workloads
