// bfs_validation.h - checks that a parent array is a breadth-first tree of an edge list.
//
// The checks of the Graph 500 specification 2.1, section 8 (validation): 1 no cycles, 2 a tree edge
// joins levels that differ by one, 3 every input edge joins levels that differ by at most one, 4 both of
// its ends were reached or neither, 5 every tree edge is an input edge. They read the edge list and the
// parents only, never the CSR that the search used, so a wrong CSR is found too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bfs.h"

namespace tessera::workloads {

struct Validation {
    explicit Validation(uint64_t vertices) : level("levels", vertices) {}

    std::string complaint;            ///< empty: a breadth-first tree
    AnonymousArray<int32_t> level;    ///< -1 where unreached
    uint64_t edges_in_component = 0;  ///< input edges with both ends reached (the specification's m)
};

namespace detail {

/// Levels by climbing to the first ancestor whose level is known; false on a cycle or a stray parent.
inline bool find_levels(int64_t root, const int64_t* parent, AnonymousArray<int32_t>& level) {
    const uint64_t vertices = level.size();
    level.fill(-1);
    level[root] = 0;
    std::vector<int64_t> path;
    for (uint64_t v = 0; v < vertices; ++v) {
        path.clear();
        for (int64_t at = static_cast<int64_t>(v); level[at] < 0; at = parent[at]) {
            if (parent[at] == kUnreached && path.empty()) break;  // v itself was not reached
            const bool stray = parent[at] < 0 || parent[at] >= static_cast<int64_t>(vertices);
            if (stray || path.size() >= vertices) return false;  // longer than any simple path
            path.push_back(at);
        }
        for (size_t i = path.size(); i-- > 0;) level[path[i]] = level[parent[path[i]]] + 1;
    }
    return true;
}

}  // namespace detail

template <class EdgeSource>
Validation validate_bfs(const EdgeSource& edge, int64_t root, const int64_t* parent) {
    const uint64_t vertices = edge.vertices();
    Validation found(vertices);
    const auto complain = [&](const std::string& text) {
        found.complaint = "root " + std::to_string(root) + ": " + text;
        return std::move(found);
    };
    if (parent[root] != root) return complain("the root is not its own parent");
    if (!detail::find_levels(root, parent, found.level)) return complain("the parents form a cycle or leave the graph");

    const AnonymousArray<int32_t>& level = found.level;
    AnonymousArray<bool> tree_edge_seen("tree edges seen", vertices);  // false: a fresh mapping is zero
    tree_edge_seen[root] = true;
    for (uint64_t k = 0; k < edge.count(); ++k) {
        const auto [u, v] = edge(k);
        const auto name = [u = u, v = v] { return "edge " + std::to_string(u) + "-" + std::to_string(v); };
        if ((level[u] < 0) != (level[v] < 0)) return complain(name() + " has only one end reached");
        if (level[u] < 0) continue;
        ++found.edges_in_component;
        if (level[u] - level[v] > 1 || level[v] - level[u] > 1) return complain(name() + " joins levels that differ by more than one");
        // parent == neighbour is a tree edge; its levels differ by exactly one by construction of
        // `level`, except for a self loop, which cannot be one.
        if (u != v && parent[u] == v) tree_edge_seen[u] = true;
        if (u != v && parent[v] == u) tree_edge_seen[v] = true;
    }
    for (uint64_t v = 0; v < vertices; ++v)
        if (level[v] >= 0 && !tree_edge_seen[v]) return complain("tree edge of vertex " + std::to_string(v) + " is not in the graph");
    return found;
}

}  // namespace tessera::workloads
