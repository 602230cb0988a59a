// directed_tree_check.h - checks that parent arrays are breadth-first trees of a directed graph.
//
// Reads the edge source and the parents only, never the rows that the search used. Depths come from climbing the
// parents to the source; they are shortest distances exactly if (1) no edge u->v leads from depth d
// to beyond d + 1, or to a vertex that was not reached, and (2) each vertex's edge from its parent is
// in the graph. (1) bounds distances from above, (2) shows a path of that length.
// All trees are checked in one pass over the edges; depths of a vertex lie together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/verifier_array.h"
#include "common/visit_edges.h"

namespace tessera::workloads {

class DirectedTreeCheck {
public:
    static constexpr int32_t kFar = -1;

    /// `parents` holds one array of `vertices` per source, one after the other.
    DirectedTreeCheck(const std::vector<int32_t>& sources, const int32_t* parents, uint64_t vertices)
        : sources_(sources),
          parents_(parents),
          vertices_(vertices),
          depth_("depths", vertices * sources.size()),
          seen_("tree edges seen", vertices * sources.size()) {}

    /// Empty if the parents are right; otherwise what is wrong first.
    template <class EdgeSource>
    std::string complaint(const EdgeSource& edge) {
        depth_.fill(kFar);
        for (uint64_t tree = 0; tree < sources_.size(); ++tree) {
            const std::string wrong = climb(tree);
            if (!wrong.empty()) return name(tree) + wrong;
        }
        std::string found;
        visit_edges(
            edge,
            [&](const Edge& e) {
                __builtin_prefetch(&depth_[e.from * sources_.size()]);
                __builtin_prefetch(&depth_[e.to * sources_.size()]);
            },
            [&](const Edge& e, uint64_t) {
                for (uint64_t tree = 0; tree < sources_.size() && found.empty(); ++tree) found = judge(e, tree);
                return found.empty();
            });
        if (!found.empty()) return found;
        for (uint64_t tree = 0; tree < sources_.size(); ++tree)
            for (uint64_t v = 0; v < vertices_; ++v)
                if (depth(v, tree) > 0 && !seen_[v * sources_.size() + tree])
                    return name(tree) + "the edge to " + std::to_string(v) + " from its parent is not in the graph";
        return "";
    }

    /// Edges on the path from the source of `tree` to v; kFar if there is none. After complaint().
    int32_t depth(uint64_t v, uint64_t tree) const { return depth_[v * sources_.size() + tree]; }

private:
    std::string name(uint64_t tree) const { return "source " + std::to_string(sources_[tree]) + ": "; }

    /// Rule (1) for one edge; notes the edge for rule (2).
    std::string judge(const Edge& e, uint64_t tree) {
        const auto [u, v] = e;
        const int32_t from = depth(u, tree), to = depth(v, tree);
        if (u == v || from == kFar) return "";
        if (to == kFar || to > from + 1)
            return name(tree) + "edge " + std::to_string(u) + "->" + std::to_string(v) + " leads from depth " + std::to_string(from) +
                   (to == kFar ? " to a vertex not reached" : " to " + std::to_string(to));
        if (to == from + 1 && parents_[tree * vertices_ + v] == u) seen_[v * sources_.size() + tree] = 1;
        return "";
    }

    /// Depths of one tree, by climbing to the first ancestor whose depth is known.
    std::string climb(uint64_t tree) {
        const int32_t* parent = parents_ + tree * vertices_;
        const auto depth_of = [&](int64_t v) -> int32_t& { return depth_[v * sources_.size() + tree]; };
        if (parent[sources_[tree]] != sources_[tree]) return "it is not its own parent";
        depth_of(sources_[tree]) = 0;
        std::vector<int32_t> path;
        for (uint64_t v = 0; v < vertices_; ++v) {
            if (parent[v] < 0) continue;
            path.clear();
            for (auto at = static_cast<int32_t>(v); depth_of(at) == kFar; at = parent[at]) {
                path.push_back(at);
                const int64_t above = parent[at];
                if (above < 0 || above >= static_cast<int64_t>(vertices_) || path.size() > vertices_)
                    return "the parents of " + std::to_string(v) + " form a cycle or leave the tree";
            }
            for (size_t i = path.size(); i-- > 0;) depth_of(path[i]) = depth_of(parent[path[i]]) + 1;
        }
        return "";
    }

    std::vector<int32_t> sources_;
    const int32_t* parents_;
    uint64_t vertices_;
    VerifierArray<int32_t> depth_;
    VerifierArray<uint8_t> seen_;
};

}  // namespace tessera::workloads
