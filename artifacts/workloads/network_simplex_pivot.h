// network_simplex_pivot.h - the parts of a pivot of network_simplex.h, in the order they happen.
#pragma once

#include <algorithm>

#include "network_simplex.h"

namespace tessera::workloads {

inline void NetworkSimplex::start(uint64_t block_arcs) {
    block_ = std::max<uint64_t>(block_arcs, 1);
    int64_t dearest = 0;
    for (uint64_t a = 0; a < arc_count_; ++a) dearest = std::max({dearest, arcs_[a].cost, -arcs_[a].cost});
    // Dearer than any path of real arcs, so that no artificial arc carries flow if that can be avoided.
    const int64_t prohibitive = (dearest + 1) * static_cast<int64_t>(nodes() + 1);
    FlowNode* root = &nodes_[nodes()];
    *root = {};
    root->thread = root->back = root;
    for (uint64_t i = 0; i < nodes(); ++i) {
        FlowNode& node = nodes_[i];
        FlowArc& arc = arcs_[arc_count_ + i];
        const bool up = node.supply >= 0;  // an arc without flow must lead up: strong feasibility
        arc = {prohibitive, up ? &node : root, up ? root : &node, ArcState::basic, up ? node.supply : -node.supply, kNoLimit};
        node.potential = up ? -prohibitive : prohibitive;
        node.parent = root;
        node.basic = &arc;
        node.depth = 1;
        node.upward = up;
        node.back = root->back;
        node.thread = root;
        node.back->thread = root->back = &node;
    }
}

inline FlowArc* NetworkSimplex::entering_arc() {
    FlowArc* best = nullptr;
    int64_t best_violation = 0;
    uint64_t left = block_;
    for (uint64_t seen = 0; seen < arc_count_; ++seen) {
        FlowArc& arc = arcs_[next_];
        if (++next_ == arc_count_) next_ = 0;
        const int64_t violation = -static_cast<int64_t>(arc.state) * reduced_cost(arc);
        if (violation > best_violation) {
            best_violation = violation;
            best = &arc;
        }
        if (--left == 0) {
            if (best != nullptr) return best;
            left = block_;
        }
    }
    return best;
}

/// Flow that the basic arc of `node` can still take in the direction of its parent, or from there.
inline int64_t room(const FlowNode& node, bool towards_parent) {
    const FlowArc& arc = *node.basic;
    if (towards_parent != (node.upward != 0)) return arc.flow;
    return arc.capacity == kNoLimit ? kNoLimit : arc.capacity - arc.flow;
}

/// The end of the entering arc that the flow enters first, and the other one.
inline FlowNode* first_end(const FlowArc& arc) { return arc.state == ArcState::at_lower ? arc.tail : arc.head; }
inline FlowNode* second_end(const FlowArc& arc) { return arc.state == ArcState::at_lower ? arc.head : arc.tail; }

// The cycle runs down from the apex to `first`, over the entering arc, and from `second` up to the apex.
// Of several blocking arcs the last one in that direction leaves: nearest to `first` on the way down
// (hence <), nearest to the apex on the way up (hence <=).
inline NetworkSimplex::Leaving NetworkSimplex::leaving_arc(const FlowArc& entering) {
    FlowNode *first = first_end(entering), *second = second_end(entering);
    Leaving down{nullptr, entering.capacity, true}, up{nullptr, kNoLimit, false};
    while (first != second) {
        if (first->depth >= second->depth) {
            if (const int64_t can = room(*first, false); can < down.change) down = {first, can, true};
            first = first->parent;
        } else {
            if (const int64_t can = room(*second, true); can <= up.change) up = {second, can, false};
            second = second->parent;
        }
    }
    return up.node != nullptr && up.change <= down.change ? up : down;
}

inline void NetworkSimplex::send(FlowArc& entering, int64_t change) {
    entering.flow += static_cast<int64_t>(entering.state) * change;
    FlowNode *first = first_end(entering), *second = second_end(entering);
    while (first != second) {
        if (first->depth >= second->depth) {
            first->basic->flow += first->upward != 0 ? -change : change;
            first = first->parent;
        } else {
            second->basic->flow += second->upward != 0 ? change : -change;
            second = second->parent;
        }
    }
}

// Hangs the subtree of `out` from `onto` by the entering arc, whose end in the subtree is `in`. The path from
// `in` up to `out` turns round. The new preorder is the subtree of `in`, then the rest of its old parent's
// subtree, and so on up to `out`: of each the piece before the subtree below it, and the piece behind.
inline void NetworkSimplex::regraft(FlowNode* in, FlowNode* out, FlowNode* onto, FlowArc* entering, int64_t shift) {
    FlowNode* left = in->back;  // what precedes and follows the pieces taken so far, in the old preorder
    FlowNode* right = in;
    FlowNode* end = nullptr;    // of the new preorder
    const auto take = [&](FlowNode* node, int64_t deeper) {
        node->depth += deeper;
        node->potential += shift;
        end = node;
    };
    int64_t depth = onto->depth + 1;
    FlowNode* new_parent = onto;
    FlowArc* new_basic = entering;
    int64_t new_upward = entering->tail == in;
    for (FlowNode* stem = in;; ++depth) {
        const int64_t old_depth = stem->depth, deeper = depth - old_depth;
        FlowNode* const old_parent = stem->parent;
        if (stem == in) {
            take(stem, deeper);
            right = stem->thread;
        } else {
            FlowNode* const before = stem->back;
            end->thread = stem;
            stem->back = end;
            for (FlowNode* node = stem;; node = node->thread) {
                take(node, deeper);
                if (node == left) break;
            }
            left = before;
            if (right->depth > old_depth) {
                end->thread = right;
                right->back = end;
            }
        }
        for (; right->depth > old_depth; right = right->thread) take(right, deeper);
        stem->parent = new_parent;
        std::swap(stem->basic, new_basic);
        std::swap(stem->upward, new_upward);
        new_upward = 1 - new_upward;  // the same arc, seen from its other end
        new_parent = stem;
        if (stem == out) break;
        stem = old_parent;
    }
    left->thread = right;
    right->back = left;
    FlowNode* const follower = onto->thread;
    onto->thread = in;
    in->back = onto;
    end->thread = follower;
    follower->back = end;
}

inline void NetworkSimplex::pivot(FlowArc* entering, const Leaving& leaving) {
    if (leaving.change != 0) send(*entering, leaving.change);
    if (leaving.node == nullptr) {
        entering->state = static_cast<ArcState>(-static_cast<int64_t>(entering->state));
        return;
    }
    FlowNode *in = first_end(*entering), *onto = second_end(*entering);
    if (!leaving.on_first_side) std::swap(in, onto);
    const int64_t violation = reduced_cost(*entering);
    FlowArc* out = leaving.node->basic;
    out->state = out->flow == 0 ? ArcState::at_lower : ArcState::at_upper;
    entering->state = ArcState::basic;
    regraft(in, leaving.node, onto, entering, entering->tail == in ? -violation : violation);
}

inline bool NetworkSimplex::artificial_flow() const {
    for (uint64_t i = 0; i < nodes(); ++i)
        if (artificial_arc(i).flow != 0) return true;
    return false;
}

TESSERA_KERNEL inline SimplexStatus NetworkSimplex::solve(uint64_t limit) {
    for (uint64_t done = 0; done < limit; ++done) {
        FlowArc* entering = entering_arc();
        if (entering == nullptr) return artificial_flow() ? SimplexStatus::infeasible : SimplexStatus::optimal;
        const Leaving leaving = leaving_arc(*entering);
        if (leaving.change == kNoLimit) return SimplexStatus::unbounded;
        pivot(entering, leaving);
        ++pivots_;
    }
    return SimplexStatus::pivot_limit;
}

}  // namespace tessera::workloads
