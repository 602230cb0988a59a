// csr.h - compressed sparse rows: neighbours of v are targets[offsets[v] .. offsets[v+1]).
//
// Built in two passes over an edge source (a function of k with vertices() and count()): count, then
// place. Self loops are dropped, repeated edges are kept, as the Graph 500 specification allows.
// `Vertex` is int64_t for graph500 (as its reference code) and int32_t for pr (as GAPBS).
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/anonymous_array.h"
#include "common/kronecker.h"

namespace tessera::workloads {

enum class Direction {
    both,      ///< undirected: an edge is in the rows of both ends
    incoming,  ///< directed: row v holds the sources of the edges that enter v
};

template <class Vertex>
struct Csr {
    AnonymousArray<uint64_t> offsets;  ///< vertices + 1
    AnonymousArray<Vertex> targets;

    uint64_t vertices() const { return offsets.size() - 1; }
    uint64_t degree(uint64_t v) const { return offsets[v + 1] - offsets[v]; }
    uint64_t bytes() const { return offsets.bytes() + targets.bytes(); }
};

template <class Vertex, class EdgeSource>
Csr<Vertex> build_csr(const EdgeSource& edge, Direction direction) {
    const uint64_t vertices = edge.vertices();
    AnonymousArray<uint64_t> offsets("CSR offsets", vertices + 1);
    offsets.prefault();
    uint64_t entries = 0;
    for (uint64_t k = 0; k < edge.count(); ++k) {
        const auto [from, to] = edge(k);
        if (from == to) continue;
        ++offsets[to];
        if (direction == Direction::both) ++offsets[from];
        entries += direction == Direction::both ? 2 : 1;
    }
    // Running sums: offsets[v] becomes the end of row v; placing an entry moves it down, so that it
    // is the start of row v when all are placed.
    uint64_t end = 0;
    for (uint64_t v = 0; v <= vertices; ++v) {
        end += offsets[v];
        offsets[v] = end;
    }
    // A graph of self loops only has no entries; the array keeps one unused element.
    AnonymousArray<Vertex> targets("CSR targets", entries == 0 ? 1 : entries);
    targets.prefault();
    // In blocks, each prefetched before it is placed: single stores to random places waited for memory one
    // by one (67 M entries in 11 s, 2.6 s with the prefetch).
    constexpr uint64_t kBlock = 32;
    Edge block[kBlock];
    for (uint64_t first = 0; first < edge.count(); first += kBlock) {
        const uint64_t filled = std::min(kBlock, edge.count() - first);
        for (uint64_t i = 0; i < filled; ++i) {
            block[i] = edge(first + i);
            __builtin_prefetch(targets.data() + offsets[block[i].to], 1);
            if (direction == Direction::both)
                __builtin_prefetch(targets.data() + offsets[block[i].from], 1);
        }
        for (uint64_t i = 0; i < filled; ++i) {
            const auto [from, to] = block[i];
            if (from == to) continue;
            targets[--offsets[to]] = static_cast<Vertex>(from);
            if (direction == Direction::both) targets[--offsets[from]] = static_cast<Vertex>(to);
        }
    }
    return {std::move(offsets), std::move(targets)};
}

}  // namespace tessera::workloads
