// transpose.h - the same directed graph by its other ends: outgoing rows from incoming ones, or the reverse.
//
// A graph's second direction costs two passes over its edge source, and drawing an edge is what generating
// a graph under an emulator costs; turning the rows that are there draws none. Rows of the result are sorted.
#pragma once

#include <cstdint>
#include <utility>

#include "common/csr.h"

namespace tessera::workloads {

inline Csr<int32_t> transposed(const Csr<int32_t>& graph) {
    const uint64_t vertices = graph.vertices(), arcs = graph.offsets[vertices];
    AnonymousArray<uint64_t> offsets("transposed offsets", vertices + 1);
    offsets.prefault();
    for (uint64_t e = 0; e < arcs; ++e) ++offsets[graph.targets[e]];
    uint64_t end = 0;
    for (uint64_t v = 0; v <= vertices; ++v) {
        end += offsets[v];
        offsets[v] = end;  // the end of row v; placing moves it down to the start
    }
    AnonymousArray<int32_t> targets("transposed targets", graph.targets.size());
    targets.prefault();
    constexpr uint64_t kAhead = 16;  // places fetched before they are stored to, as in build_csr
    for (uint64_t v = vertices; v-- > 0;) {
        for (uint64_t e = graph.offsets[v + 1]; e-- > graph.offsets[v];) {
            if (e >= kAhead) __builtin_prefetch(targets.data() + offsets[graph.targets[e - kAhead]] - 1, 1);
            targets[--offsets[graph.targets[e]]] = static_cast<int32_t>(v);
        }
    }
    return {std::move(offsets), std::move(targets)};
}

}  // namespace tessera::workloads
