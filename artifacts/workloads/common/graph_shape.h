// graph_shape.h - what a directed graph looks like: degrees and how far across it is.
//
// The diameter is bounded from below by breadth-first searches along outgoing edges: the first from a vertex with
// edges, each next one from the farthest vertex found so far, until the depth no longer grows ("double sweep").
// Encoding of degrees: over vertices with any edge, as published statistics of crawls are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/anonymous_array.h"
#include "common/csr.h"
#include "common/sources.h"

namespace tessera::workloads {

struct GraphShape {
    uint64_t vertices = 0, arcs = 0;
    uint64_t isolated = 0;  ///< without incoming and outgoing arcs
    uint64_t largest_out_degree = 0, largest_in_degree = 0;
    double in_arcs_of_top_percent = 0;  ///< share of the arcs that enter the 1% of vertices with most
    double out_arcs_of_top_percent = 0;
    double near_arcs = 0;               ///< share of the arcs between vertices less than 4096 numbers apart
    uint64_t reached = 0;               ///< by the deepest search
    uint64_t pseudo_diameter = 0;       ///< edges; the diameter is at least this
};

namespace detail {

struct Sweep {
    uint64_t reached, depth;
    int32_t last;
};

inline Sweep sweep(const Csr<int32_t>& graph, int32_t source, AnonymousArray<int32_t>& depth, AnonymousArray<int32_t>& queue) {
    depth.fill(-1);
    uint64_t tail = 0;
    depth[source] = 0;
    queue[tail++] = source;
    for (uint64_t head = 0; head < tail; ++head) {
        const int32_t u = queue[head];
        for (uint64_t e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
            const int32_t v = graph.targets[e];
            if (depth[v] >= 0) continue;
            depth[v] = depth[u] + 1;
            queue[tail++] = v;
        }
    }
    return {tail, static_cast<uint64_t>(depth[queue[tail - 1]]), queue[tail - 1]};
}

inline double top_percent(std::vector<uint32_t>& degree, uint64_t arcs) {
    const size_t top = std::max<size_t>(1, degree.size() / 100);
    std::nth_element(degree.begin(), degree.begin() + static_cast<ptrdiff_t>(top - 1), degree.end(), std::greater<>());
    uint64_t entered = 0;
    for (size_t i = 0; i < top; ++i) entered += degree[i];
    return arcs == 0 ? 0 : static_cast<double>(entered) / static_cast<double>(arcs);
}

}  // namespace detail

template <class EdgeSource>
GraphShape shape_of(const EdgeSource& edge, uint64_t seed) {
    GraphShape shape;
    shape.vertices = edge.vertices();
    const auto outgoing = build_csr<int32_t>(edge, Direction::outgoing);
    shape.arcs = outgoing.offsets[shape.vertices];
    std::vector<uint32_t> in(shape.vertices), out(shape.vertices);
    uint64_t near = 0;
    for (uint64_t v = 0; v < shape.vertices; ++v) {
        out[v] = static_cast<uint32_t>(outgoing.degree(v));
        for (uint64_t e = outgoing.offsets[v]; e < outgoing.offsets[v + 1]; ++e) {
            const auto to = static_cast<uint64_t>(outgoing.targets[e]);
            ++in[to];
            near += (to > v ? to - v : v - to) < 4096;
        }
    }
    for (uint64_t v = 0; v < shape.vertices; ++v) shape.isolated += in[v] == 0 && out[v] == 0;
    shape.near_arcs = shape.arcs == 0 ? 0 : static_cast<double>(near) / static_cast<double>(shape.arcs);
    shape.largest_in_degree = *std::ranges::max_element(in);
    shape.largest_out_degree = *std::ranges::max_element(out);
    shape.in_arcs_of_top_percent = detail::top_percent(in, shape.arcs);
    shape.out_arcs_of_top_percent = detail::top_percent(out, shape.arcs);

    AnonymousArray<int32_t> depth("depths", shape.vertices), queue("queue", shape.vertices);
    constexpr uint64_t kStarts = 4;  // of a directed graph, one start may see little
    const auto with_edges = shape.vertices - static_cast<uint64_t>(std::ranges::count(out, 0u));
    for (const int32_t start : choose_sources("graph", outgoing, std::min(kStarts, with_edges), seed)) {
        detail::Sweep now = detail::sweep(outgoing, start, depth, queue);
        for (uint64_t best = 0; now.depth > best;) {
            best = now.depth;
            if (best > shape.pseudo_diameter) {
                shape.pseudo_diameter = best;
                shape.reached = now.reached;
            }
            now = detail::sweep(outgoing, now.last, depth, queue);
        }
    }
    return shape;
}

}  // namespace tessera::workloads
