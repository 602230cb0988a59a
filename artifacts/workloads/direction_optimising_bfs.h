// direction_optimising_bfs.h - the kernel of bfs: breadth-first search that changes direction.
//
// Beamer, Asanovic, Patterson, "Direction-Optimizing Breadth-First Search" (SC'12), with the alpha and beta of
// the GAP Benchmark Suite (arXiv:1508.03619). Top-down: vertices of the frontier look for unvisited targets.
// Bottom-up: unvisited vertices look for any source in the frontier and stop at the first. It goes bottom-up
// when the frontier's edges exceed 1/alpha of those left, and back when
// the frontier shrinks below 1/beta of the vertices.
// Encoding: parent[source] == source; a negative parent means unvisited, and its size is the vertex's out-degree
// (at least 1), so that a top-down step finds the edges of the next frontier without reading offsets.
// Frontiers: a queue top-down, a bitmap bottom-up. Not modelled: threads, and the suite's atomics for them.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "common/csr.h"
#include "common/measure.h"

namespace tessera::workloads {

struct BfsArrays {
    const Csr<int32_t>& outgoing;
    const Csr<int32_t>& incoming;
    int32_t* queue;   ///< room for every vertex
    uint64_t* front;  ///< bitmaps, a bit a vertex
    uint64_t* next;

    static uint64_t bitmap_words(uint64_t vertices) { return (vertices + 63) / 64; }
};

namespace detail {

/// Visits the targets of queue[head..tail); appends what is new at `tail`. Returns the edges that leave it.
inline uint64_t top_down_step(const BfsArrays& a, int32_t* parent, uint64_t head, uint64_t& tail) {
    uint64_t scouted = 0;
    const uint64_t end_of_frontier = tail;
    for (; head < end_of_frontier; ++head) {
        const int32_t u = a.queue[head];
        for (uint64_t e = a.outgoing.offsets[u]; e < a.outgoing.offsets[u + 1]; ++e) {
            const int32_t v = a.outgoing.targets[e];
            const int32_t was = parent[v];
            if (was >= 0) continue;
            parent[v] = u;
            a.queue[tail++] = v;
            scouted += static_cast<uint64_t>(-static_cast<int64_t>(was));
        }
    }
    return scouted;
}

/// Gives every unvisited vertex with a source in `front` that source as parent. Returns how many.
inline uint64_t bottom_up_step(const BfsArrays& a, int32_t* parent, const uint64_t* front, uint64_t* next) {
    const uint64_t vertices = a.outgoing.vertices();
    for (uint64_t word = 0; word < BfsArrays::bitmap_words(vertices); ++word) next[word] = 0;
    uint64_t awake = 0;
    for (uint64_t v = 0; v < vertices; ++v) {
        if (parent[v] >= 0) continue;
        for (uint64_t e = a.incoming.offsets[v]; e < a.incoming.offsets[v + 1]; ++e) {
            const int32_t u = a.incoming.targets[e];
            if ((front[u >> 6] >> (u & 63) & 1) == 0) continue;
            parent[v] = u;
            next[v >> 6] |= uint64_t{1} << (v & 63);
            ++awake;
            break;
        }
    }
    return awake;
}

}  // namespace detail

/// Fills `parent` (one per vertex). Returns the number of steps made bottom-up.
TESSERA_KERNEL inline uint64_t direction_optimising_bfs(const BfsArrays& a, int32_t source, int32_t* parent) {
    constexpr uint64_t kAlpha = 15, kBeta = 18;
    const uint64_t vertices = a.outgoing.vertices(), words = BfsArrays::bitmap_words(vertices);
    for (uint64_t v = 0; v < vertices; ++v) {
        const auto degree = static_cast<int32_t>(a.outgoing.degree(v));
        parent[v] = degree == 0 ? -1 : -degree;
    }
    parent[source] = source;
    uint64_t head = 0, tail = 0, bottom_up_steps = 0;
    a.queue[tail++] = source;
    uint64_t unexplored = a.outgoing.offsets[vertices], scouted = a.outgoing.degree(source);
    while (head < tail) {
        if (scouted <= unexplored / kAlpha) {
            unexplored -= scouted < unexplored ? scouted : unexplored;
            const uint64_t frontier = tail;
            scouted = detail::top_down_step(a, parent, head, tail);
            head = frontier;
            continue;
        }
        uint64_t *front = a.front, *next = a.next, awake = tail - head, before;
        for (uint64_t word = 0; word < words; ++word) front[word] = 0;
        for (; head < tail; ++head) front[a.queue[head] >> 6] |= uint64_t{1} << (a.queue[head] & 63);
        do {
            before = awake;
            awake = detail::bottom_up_step(a, parent, front, next);
            std::swap(front, next);
            ++bottom_up_steps;
        } while (awake >= before || awake > vertices / kBeta);
        for (uint64_t word = 0; word < words; ++word)
            for (uint64_t bits = front[word]; bits != 0; bits &= bits - 1)
                a.queue[tail++] = static_cast<int32_t>(word * 64 + static_cast<unsigned>(std::countr_zero(bits)));
        scouted = 1;
    }
    return bottom_up_steps;
}

}  // namespace tessera::workloads
