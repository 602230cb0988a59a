// prepared_graph500.h - the edge list and the rows of graph500 in a prepared file.
//
// The file depends on scale, edge factor and seed; searches from any number of roots share it. The edge list is drawn
// block by block, the rows by row_buckets.h; neither is ever whole in memory.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/prepared_rows.h"

namespace tessera::workloads {

inline constexpr unsigned kMostPreparedScale = 31;  ///< RowBuckets

struct EdgeList {
    AnonymousArray<Edge> edges;
    uint64_t vertex_count;

    uint64_t vertices() const { return vertex_count; }
    uint64_t count() const { return edges.size(); }
    const Edge& operator()(uint64_t k) const { return edges[k]; }
};

/// `edge` may be any edge source.
template <class EdgeSource>
EdgeList generate(const EdgeSource& edge) {
    EdgeList list{AnonymousArray<Edge>("edge list", edge.count()), edge.vertices()};
    list.edges.prefault();
    for (uint64_t k = 0; k < edge.count(); ++k) list.edges[k] = edge(k);
    return list;
}

inline EdgeList load_edges(const PreparedFile& file, const KroneckerEdges& edge) {
    return {file.load<Edge>("edge list", "edges", edge.count()), edge.vertices()};
}

inline Shape graph500_shape(unsigned scale, uint64_t edge_factor, uint64_t seed) {
    return {{"input", "graph500"},
            {"scale", std::to_string(scale)},
            {"edge-factor", std::to_string(edge_factor)},
            {"seed", std::to_string(seed)}};
}

inline void prepare_graph500(Preparation& preparation, const KroneckerEdges& edge) {
    RowBuckets<int64_t> rows(edge.vertices(), 2 * edge.count(), preparation.threads);
    rows.fill(edge, Direction::both);
    std::vector<Section> sections{{"edges", sizeof(Edge), edge.count()}};
    add_row_sections<int64_t>(sections, "both", edge.vertices(), rows.entries());
    preparation.writer.lay_out(std::move(sections));

    constexpr uint64_t kBlock = kSumBytes / sizeof(Edge);
    claim_in_parallel(preparation.threads, (edge.count() + kBlock - 1) / kBlock, [&](uint64_t block) {
        const uint64_t first = block * kBlock;
        std::vector<Edge> drawn(std::min(kBlock, edge.count() - first));
        for (uint64_t i = 0; i < drawn.size(); ++i) drawn[i] = edge(first + i);
        preparation.writer.write(0, first, drawn.data(), drawn.size());
    });
    write_rows(preparation, 1, rows);
}

}  // namespace tessera::workloads
