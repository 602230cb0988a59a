// betweenness_oracle.h - betweenness by Brandes' algorithm as it was published, in double precision.
//
// It uses another representation than the kernel: rows of *incoming* edges, which are transposed here to get the
// outgoing edges; one queue; predecessors found along incoming edges instead of successor bits. It is slow and simple.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/csr.h"

namespace tessera::workloads {

class BetweennessOracle {
public:
    template <class EdgeSource>
    explicit BetweennessOracle(const EdgeSource& edge)
        : vertices_(edge.vertices()),
          incoming_(build_csr<int32_t>(edge, Direction::incoming)),
          starts_("oracle's starts", vertices_ + 2),
          targets_("oracle's targets", incoming_.targets.size()),
          score_("oracle's scores", vertices_) {
        const uint64_t arcs = incoming_.offsets[vertices_];
        for (uint64_t e = 0; e < arcs; ++e) ++starts_[incoming_.targets[e] + 2];
        for (uint64_t v = 2; v <= vertices_ + 1; ++v) starts_[v] += starts_[v - 1];
        for (uint64_t v = 0; v < vertices_; ++v)  // starts_[u + 1] moves from the start of row u to its end
            for (uint64_t e = incoming_.offsets[v]; e < incoming_.offsets[v + 1]; ++e)
                targets_[starts_[incoming_.targets[e] + 1]++] = static_cast<int32_t>(v);
    }

    /// Adds the dependencies of this source to the scores. Returns the sum of (distance - 1) over what it reaches.
    /// That is also the sum of all dependencies: each vertex inside a shortest path is counted once a path.
    uint64_t add(int32_t source) {
        AnonymousArray<int32_t> depth("oracle's depths", vertices_), order("oracle's queue", vertices_);
        AnonymousArray<double> paths("oracle's paths", vertices_), dependency("oracle's dependencies", vertices_);
        depth.fill(-1);
        depth[source] = 0;
        paths[source] = 1;
        uint64_t tail = 0, inner = 0;
        order[tail++] = source;
        for (uint64_t head = 0; head < tail; ++head) {
            const int32_t u = order[head];
            inner += depth[u] > 1 ? static_cast<uint64_t>(depth[u]) - 1 : 0;
            for (uint64_t e = starts_[u]; e < starts_[u + 1]; ++e) {
                const int32_t v = targets_[e];
                if (depth[v] < 0) {
                    depth[v] = depth[u] + 1;
                    order[tail++] = v;
                }
                if (depth[v] == depth[u] + 1) paths[v] += paths[u];
            }
        }
        while (tail > 0) {
            const int32_t v = order[--tail];
            const double share = (1 + dependency[v]) / paths[v];
            for (uint64_t e = incoming_.offsets[v]; e < incoming_.offsets[v + 1]; ++e) {
                const int32_t u = incoming_.targets[e];
                if (depth[u] >= 0 && depth[u] + 1 == depth[v]) dependency[u] += paths[u] * share;
            }
            if (v != source) score_[v] += dependency[v];
        }
        return inner;
    }

    const AnonymousArray<double>& scores() const { return score_; }  ///< not divided by the largest

    /// Largest difference of a normalised score from the oracle's, of its value or of 1e-6 of the largest.
    double largest_difference(const float* normalised) const {
        double largest = 0, difference = 0;
        for (uint64_t v = 0; v < vertices_; ++v) largest = std::max(largest, score_[v]);
        if (largest == 0) largest = 1;
        for (uint64_t v = 0; v < vertices_; ++v) {
            const double expected = score_[v] / largest;
            difference = std::max(difference, std::fabs(normalised[v] - expected) / std::max(expected, 1e-6));
        }
        return difference;
    }

private:
    uint64_t vertices_;
    Csr<int32_t> incoming_;
    AnonymousArray<uint64_t> starts_;  ///< of outgoing rows, once built
    AnonymousArray<int32_t> targets_;
    AnonymousArray<double> score_;
};

}  // namespace tessera::workloads
