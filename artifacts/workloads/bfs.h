// bfs.h - the kernel of graph500: top-down breadth-first search that writes a parent for each vertex.
//
// Graph 500 specification 2.1, kernel 2; the plain queue algorithm of its sequential reference code.
// Encoding: parent[root] == root, parent[v] == kUnreached where the search did not come.
// Not modelled: direction switching, bitmaps (they change the access pattern the paper measured).
#pragma once

#include <cstdint>

#include "common/csr.h"
#include "common/measure.h"

namespace tessera::workloads {

inline constexpr int64_t kUnreached = -1;

/// `parent` holds kUnreached everywhere; `queue` has room for every vertex. Returns vertices reached.
TESSERA_KERNEL inline uint64_t breadth_first_search(const Csr<int64_t>& graph, int64_t root, int64_t* parent, int64_t* queue) {
    const uint64_t* offsets = graph.offsets.data();
    const int64_t* targets = graph.targets.data();
    uint64_t head = 0, tail = 0;
    parent[root] = root;
    queue[tail++] = root;
    while (head < tail) {
        const int64_t v = queue[head++];
        const uint64_t end = offsets[v + 1];
        for (uint64_t e = offsets[v]; e < end; ++e) {
            const int64_t neighbour = targets[e];
            if (parent[neighbour] != kUnreached) continue;
            parent[neighbour] = v;
            queue[tail++] = neighbour;
        }
    }
    return tail;
}

}  // namespace tessera::workloads
