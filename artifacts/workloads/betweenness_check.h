// betweenness_check.h - checks the results of bc from one source, by what must hold between neighbours.
//
// Brandes' numbers are fixed by equations over single edges u->v (J. Math. Sociology 25(2), 2001, section 3):
//   depth: no edge leads from depth d to beyond d + 1; every vertex but the source has an edge from one less deep;
//   paths(v) = sum of paths(u) over edges from depth(v) - 1;
//   dependency(u) = sum of paths(u) / paths(v) * (1 + dependency(v)) over edges to depth(u) + 1.
// By induction over the depth only one set of numbers satisfies them. So one pass over the edges in any order is enough,
// where computing them again (betweenness_oracle.h, for several sources) takes two searches in order of depth.
// Dependencies are judged with those of the kernel behind them, so that only the rounding of one row remains.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "betweenness.h"
#include "common/verifier_array.h"
#include "common/visit_edges.h"

namespace tessera::workloads {

class BetweennessCheck {
public:
    /// Reads the arrays of one number a vertex, after betweenness() from one source; the graph may be gone.
    BetweennessCheck(const BetweennessArrays& arrays, uint64_t vertices, int32_t source)
        : dependency_(arrays.dependency), score_(arrays.score), vertices_(vertices), source_(source), node_("expected numbers", vertices) {
        for (uint64_t v = 0; v < vertices; ++v) node_[v] = {arrays.paths[v], 0, 0, arrays.depth[v], 0};
    }

    /// Empty if the numbers are right; otherwise what is wrong first.
    template <class EdgeSource>
    std::string complaint(const EdgeSource& edge) {
        std::string found;
        visit_edges(
            edge,
            [&](const Edge& e) {
                __builtin_prefetch(&node_[e.from], 1);
                __builtin_prefetch(&node_[e.to], 1);
                __builtin_prefetch(&dependency_[e.to]);
            },
            [&](const Edge& e, uint64_t) {
                if (!add(e))
                    found = "edge " + std::to_string(e.from) + "->" + std::to_string(e.to) + " leads from depth " +
                            std::to_string(node_[e.from].depth) + " to " + std::to_string(node_[e.to].depth);
                return found.empty();
            });
        for (uint64_t v = 0; v < vertices_ && found.empty(); ++v) found = judge(v);
        return found.empty() ? judge_scores() : found;
    }

    /// Of a dependency from the sum over its row, relative; after complaint().
    double largest_difference() const { return largest_difference_; }

private:
    struct Node {  ///< what an edge needs of one end, within a cache line
        double paths, expected_paths, expected_dependency;
        int32_t depth;
        uint32_t terms;  ///< of the dependency
    };

    bool add(const Edge& e) {
        Node& from = node_[e.from];
        Node& to = node_[e.to];
        if (e.from == e.to || from.depth < 0) return true;
        if (to.depth < 0 || to.depth > from.depth + 1) return false;
        if (to.depth != from.depth + 1) return true;
        to.expected_paths += from.paths;
        from.expected_dependency += from.paths / to.paths * (1 + static_cast<double>(dependency_[e.to]));
        ++from.terms;
        return true;
    }

    std::string judge(uint64_t v) {
        // Sums of doubles; the longest row here has some million terms, each side errs by 1e-16 a term.
        constexpr double kAllowedOfPaths = 1e-9;
        const Node& node = node_[v];
        const float dependency = dependency_[v];
        const std::string name = "vertex " + std::to_string(v) + ": ";
        const bool is_source = v == static_cast<uint64_t>(source_);
        if (is_source != (node.depth == 0)) return name + "depth " + std::to_string(node.depth);
        if (node.depth < 0) return node.paths == 0 && dependency == 0 ? "" : name + "it was not reached, but has paths or a dependency";
        const double paths = is_source ? 1 : node.expected_paths;
        if (!(paths > 0 && std::fabs(node.paths - paths) <= kAllowedOfPaths * paths))
            return name + std::to_string(node.paths) + " paths, the edges give " + std::to_string(paths);
        // n terms, each rounded three times (quotient, 1 + dependency, product), then summed (Higham, 2nd ed., section 4.2).
        const double rounding = std::fmin(0.5, (node.terms + 3.0) * 0x1p-24), expected = node.expected_dependency;
        const double difference = std::fabs(dependency - expected);
        if (expected > 0) largest_difference_ = std::fmax(largest_difference_, difference / expected);
        if (!(difference <= expected * rounding / (1 - rounding)))
            return name + "dependency " + std::to_string(dependency) + ", its edges give " + std::to_string(expected);
        return "";
    }

    /// Scores are the dependencies of all but the source, divided by the largest.
    std::string judge_scores() const {
        float largest = 0;
        for (uint64_t v = 0; v < vertices_; ++v)
            if (v != static_cast<uint64_t>(source_)) largest = std::fmax(largest, dependency_[v]);
        for (uint64_t v = 0; v < vertices_; ++v) {
            const float own = v == static_cast<uint64_t>(source_) ? 0 : dependency_[v];
            if (const float expected = largest > 0 ? own / largest : 0; score_[v] != expected)
                return "vertex " + std::to_string(v) + ": score " + std::to_string(score_[v]) + ", its dependency gives " +
                       std::to_string(expected);
        }
        return "";
    }

    const float* dependency_;
    const float* score_;
    uint64_t vertices_;
    int32_t source_;
    VerifierArray<Node> node_;
    double largest_difference_ = 0;
};

}  // namespace tessera::workloads
