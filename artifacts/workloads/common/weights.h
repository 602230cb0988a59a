// weights.h - random integer weights for the edges of a graph that has none.
//
// GAPBS gives unweighted graphs weights from 1 to 255, drawn evenly. Here the weight of edge k is a function
// of (seed, k), as the edge itself, so a verifier can ask for it again.
#pragma once

#include <cstdint>

#include "common/rng.h"

namespace tessera::workloads {

template <class EdgeSource>
class RandomWeights : public EdgeSource {
public:
    static constexpr int32_t kMost = 255;

    RandomWeights(const EdgeSource& edges, uint64_t seed) : EdgeSource(edges), seed_(~seed) {}

    int32_t weight(uint64_t k) const { return 1 + static_cast<int32_t>(below(mix64(seed_, k), kMost)); }

private:
    uint64_t seed_;
};

}  // namespace tessera::workloads
