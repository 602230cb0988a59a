// hand_made.h - a graph written down in a test, as an edge source.
#pragma once

#include <vector>

#include "common/kronecker.h"

namespace tessera::workloads {

struct HandMade {
    uint64_t vertex_count;
    std::vector<Edge> edges;

    uint64_t vertices() const { return vertex_count; }
    uint64_t count() const { return edges.size(); }
    Edge operator()(uint64_t k) const { return edges[k]; }
};

}  // namespace tessera::workloads
