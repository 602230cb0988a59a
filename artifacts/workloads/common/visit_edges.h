// visit_edges.h - walks over an edge source in blocks, so that random places can be fetched before they are needed.
//
// A verifier reads two random vertices an edge. One by one each waits for memory; 32 at a time they overlap.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/kronecker.h"

namespace tessera::workloads {

/// Calls fetch(edge) for each edge of a block, then visit(edge, k) for each, in ascending k; stops when visit returns
/// false. `fetch` may only prefetch.
template <class EdgeSource, class Fetch, class Visit>
void visit_edges(const EdgeSource& edge, Fetch&& fetch, Visit&& visit) {
    constexpr uint64_t kBlock = 32;
    Edge block[kBlock];
    for (uint64_t first = 0; first < edge.count(); first += kBlock) {
        const uint64_t filled = std::min(kBlock, edge.count() - first);
        for (uint64_t i = 0; i < filled; ++i) {
            block[i] = edge(first + i);
            fetch(block[i]);
        }
        for (uint64_t i = 0; i < filled; ++i)
            if (!visit(block[i], first + i)) return;
    }
}

}  // namespace tessera::workloads
