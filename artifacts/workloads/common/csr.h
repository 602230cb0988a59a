// csr.h - compressed sparse rows: neighbours of v are targets[offsets[v] .. offsets[v+1]).
//
// Built in two passes over an edge source (a function of k with vertices() and count()): count, then
// place. Self loops are dropped, repeated edges are kept, as the Graph 500 specification allows.
// `Vertex` is int64_t for graph500 (as its reference code), int32_t for the GAPBS kernels and WeightedVertex
// for sssp; both as in GAPBS. Rows are in the edge source's order, not sorted as GAPBS's builder leaves them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/anonymous_array.h"
#include "common/kronecker.h"

namespace tessera::workloads {

enum class Direction {
    both,      ///< undirected: an edge is in the rows of both ends
    incoming,  ///< directed: row v holds the sources of the edges that enter v
    outgoing,  ///< directed: row v holds the targets of the edges that leave v
};

/// An entry of a weighted row; the edge source has weight(k) then.
struct WeightedVertex {
    int32_t vertex;
    int32_t weight;
};

template <class Vertex>
struct Csr {
    AnonymousArray<uint64_t> offsets;  ///< vertices + 1
    AnonymousArray<Vertex> targets;

    uint64_t vertices() const { return offsets.size() - 1; }
    uint64_t degree(uint64_t v) const { return offsets[v + 1] - offsets[v]; }
    uint64_t bytes() const { return offsets.bytes() + targets.bytes(); }
};

/// What the row of one end of edge k holds about the other end.
template <class Vertex, class EdgeSource>
Vertex csr_entry(const EdgeSource& edge, uint64_t k, int64_t other) {
    if constexpr (std::is_integral_v<Vertex>) return static_cast<Vertex>(other);
    else return {static_cast<int32_t>(other), edge.weight(k)};
}

template <class Vertex, class EdgeSource>
Csr<Vertex> build_csr(const EdgeSource& edge, Direction direction) {
    const uint64_t vertices = edge.vertices();
    const bool to_rows = direction != Direction::outgoing;    // row `to` holds `from`
    const bool from_rows = direction != Direction::incoming;  // row `from` holds `to`
    AnonymousArray<uint64_t> offsets("CSR offsets", vertices + 1);
    offsets.prefault();
    // In blocks, with the places fetched before they are touched: single accesses to random places waited for
    // memory one by one (placing 67 M entries took 11 s, 2.6 s with the prefetch).
    constexpr uint64_t kBlock = 32;
    Edge block[kBlock];
    const auto draw_block = [&](uint64_t first) {  // and ask for the offsets that it needs
        const uint64_t filled = std::min(kBlock, edge.count() - first);
        for (uint64_t i = 0; i < filled; ++i) {
            block[i] = edge(first + i);
            if (to_rows) __builtin_prefetch(offsets.data() + block[i].to, 1);
            if (from_rows) __builtin_prefetch(offsets.data() + block[i].from, 1);
        }
        return filled;
    };
    uint64_t entries = 0;
    for (uint64_t first = 0; first < edge.count(); first += kBlock) {
        const uint64_t filled = draw_block(first);
        for (uint64_t i = 0; i < filled; ++i) {
            const auto [from, to] = block[i];
            if (from == to) continue;
            if (to_rows) ++offsets[to];
            if (from_rows) ++offsets[from];
            entries += direction == Direction::both ? 2 : 1;
        }
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
    for (uint64_t first = 0; first < edge.count(); first += kBlock) {
        const uint64_t filled = draw_block(first);
        for (uint64_t i = 0; i < filled; ++i) {
            if (to_rows) __builtin_prefetch(targets.data() + offsets[block[i].to], 1);
            if (from_rows) __builtin_prefetch(targets.data() + offsets[block[i].from], 1);
        }
        for (uint64_t i = 0; i < filled; ++i) {
            const auto [from, to] = block[i];
            if (from == to) continue;
            if (to_rows) targets[--offsets[to]] = csr_entry<Vertex>(edge, first + i, from);
            if (from_rows) targets[--offsets[from]] = csr_entry<Vertex>(edge, first + i, to);
        }
    }
    return {std::move(offsets), std::move(targets)};
}

}  // namespace tessera::workloads
