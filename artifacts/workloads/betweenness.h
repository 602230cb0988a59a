// betweenness.h - the kernel of bc: betweenness centrality from a few sources.
//
// Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology 25(2), 2001), in the form of the
// GAP Benchmark Suite (arXiv:1508.03619): unweighted, level by level, and instead of predecessor lists one
// successor bit an edge (Madduri et al., IPDPS'09), set when the edge lies on a shortest path. Scores are divided by
// the largest one at the end, as GAPBS does. Path counts are doubles, dependencies and scores floats.
// Not modelled: threads. Repeated edges count as several paths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/csr.h"
#include "common/measure.h"

namespace tessera::workloads {

struct BetweennessArrays {
    const Csr<int32_t>& outgoing;
    int32_t* depth;         ///< one a vertex, as all but `successor`
    double* paths;          ///< shortest paths from the source
    float* dependency;
    float* score;           ///< in: 0; out: the result
    int32_t* queue;         ///< vertices by level
    uint64_t* successor;    ///< a bit an edge

    static uint64_t successor_words(uint64_t edges) { return edges / 64 + 1; }
};

namespace detail {

inline void count_paths(const BetweennessArrays& a, int32_t source, std::vector<uint64_t>& level_starts) {
    const uint64_t vertices = a.outgoing.vertices();
    const uint64_t* offsets = a.outgoing.offsets.data();
    const int32_t* targets = a.outgoing.targets.data();
    for (uint64_t v = 0; v < vertices; ++v) a.depth[v] = -1;
    for (uint64_t v = 0; v < vertices; ++v) a.paths[v] = 0;
    for (uint64_t word = 0; word < BetweennessArrays::successor_words(offsets[vertices]); ++word) a.successor[word] = 0;
    a.depth[source] = 0;
    a.paths[source] = 1;
    uint64_t head = 0, tail = 0;
    a.queue[tail++] = source;
    for (int32_t level = 1; head < tail; ++level) {
        level_starts.push_back(head);
        for (const uint64_t end = tail; head < end; ++head) {
            const int32_t u = a.queue[head];
            for (uint64_t e = offsets[u]; e < offsets[u + 1]; ++e) {
                const int32_t v = targets[e];
                if (a.depth[v] < 0) {
                    a.depth[v] = level;
                    a.queue[tail++] = v;
                }
                if (a.depth[v] != level) continue;
                a.successor[e >> 6] |= uint64_t{1} << (e & 63);
                a.paths[v] += a.paths[u];
            }
        }
    }
    level_starts.push_back(tail);
}

}  // namespace detail

/// `level_starts` is scratch with room for the levels that are expected. Returns (source, vertex) pairs reached.
TESSERA_KERNEL inline uint64_t betweenness(const BetweennessArrays& a, const std::vector<int32_t>& sources,
                                           std::vector<uint64_t>& level_starts) {
    const uint64_t vertices = a.outgoing.vertices();
    const uint64_t* offsets = a.outgoing.offsets.data();
    const int32_t* targets = a.outgoing.targets.data();
    uint64_t reached = 0;
    for (const int32_t source : sources) {
        level_starts.clear();
        detail::count_paths(a, source, level_starts);
        reached += level_starts.back();
        for (uint64_t v = 0; v < vertices; ++v) a.dependency[v] = 0;
        for (size_t level = level_starts.size() - 1; level-- > 0;) {
            for (uint64_t i = level_starts[level]; i < level_starts[level + 1]; ++i) {
                const int32_t u = a.queue[i];
                float sum = 0;
                for (uint64_t e = offsets[u]; e < offsets[u + 1]; ++e) {
                    if ((a.successor[e >> 6] >> (e & 63) & 1) == 0) continue;
                    const int32_t v = targets[e];
                    sum += static_cast<float>(a.paths[u] / a.paths[v]) * (1 + a.dependency[v]);
                }
                a.dependency[u] = sum;
                if (u != source) a.score[u] += sum;
            }
        }
    }
    float largest = 0;
    for (uint64_t v = 0; v < vertices; ++v) largest = std::max(largest, a.score[v]);
    if (largest > 0)
        for (uint64_t v = 0; v < vertices; ++v) a.score[v] /= largest;
    return reached;
}

}  // namespace tessera::workloads
