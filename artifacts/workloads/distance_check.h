// distance_check.h - checks that distances from a source are shortest, from the edge source alone.
//
// They are, exactly if (1) the source has distance 0, (2) no edge u->v of weight w leads to a distance above
// distance(u) + w, and (3) every other vertex with a distance has an edge into it where (2) is an equality.
// (2) bounds distances from above; weights are positive, so following (3) backwards ends at the source and
// shows a path of that length. One pass over the edges; no graph is built.
#pragma once

#include <cstdint>
#include <string>

#include "common/verifier_array.h"
#include "common/visit_edges.h"

namespace tessera::workloads {

template <class EdgeSource>
std::string distance_complaint(const EdgeSource& edge, int32_t source, const int32_t* distance, int32_t unreachable) {
    const uint64_t vertices = edge.vertices();
    const auto name = [&](int64_t v) { return "distance " + std::to_string(distance[v]) + " of " + std::to_string(v); };
    if (distance[source] != 0) return name(source) + ", the source, is not 0";
    VerifierArray<uint8_t> tight("vertices with a tight edge", vertices);
    std::string complaint;
    visit_edges(
        edge,
        [&](const Edge& e) {
            __builtin_prefetch(distance + e.from);
            __builtin_prefetch(distance + e.to);
        },
        [&](const Edge& e, uint64_t k) {
            const auto [u, v] = e;
            if (u == v || distance[u] == unreachable) return true;
            const int64_t bound = int64_t{distance[u]} + edge.weight(k);
            if (distance[v] == bound) tight[v] = 1;
            if (distance[v] > bound) complaint = name(v) + " is above " + std::to_string(bound) + ", by the edge from " + std::to_string(u);
            return complaint.empty();
        });
    if (!complaint.empty()) return complaint;
    for (uint64_t v = 0; v < vertices; ++v)
        if (static_cast<int64_t>(v) != source && distance[v] != unreachable && !tight[v])
            return name(static_cast<int64_t>(v)) + ": no edge gives it";
    return "";
}

}  // namespace tessera::workloads
