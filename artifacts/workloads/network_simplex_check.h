// network_simplex_check.h - checks that a flow is feasible and optimal and that the basis is sound; shares no code with
// the pivots.
//
// Optimality is proved by complementary slackness (Ahuja, Magnanti, Orlin, theorem 9.4): a feasible flow is
// optimal if potentials exist for which every arc with a positive reduced cost is empty and every arc with
// a negative one is full. The final potentials of the solver are such a proof, independent of its pivots.
#pragma once

#include <string>
#include <vector>

#include "network_simplex.h"

namespace tessera::workloads {

__extension__ typedef __int128 int128;

/// Cost of the real arcs; wide, because an intermediate sum may not fit 64 bits.
inline int128 flow_cost(const NetworkSimplex& network) {
    int128 sum = 0;
    for (uint64_t a = 0; a < network.arcs(); ++a) sum += static_cast<int128>(network.arc(a).cost) * network.arc(a).flow;
    return sum;
}

/// Conservation in each node and bounds on each arc; `artificial` flow counts too. Empty: nothing wrong.
inline std::string feasibility_complaint(const NetworkSimplex& network) {
    std::vector<int64_t> balance(network.nodes());
    const FlowNode* first = &network.node(0);
    for (uint64_t a = 0; a < network.arcs(); ++a) {
        const FlowArc& arc = network.arc(a);
        if (arc.flow < 0 || arc.flow > arc.capacity)
            return "arc " + std::to_string(a) + " carries " + std::to_string(arc.flow) + ", outside its bounds";
        balance[arc.tail - first] -= arc.flow;
        balance[arc.head - first] += arc.flow;
    }
    for (uint64_t i = 0; i < network.nodes(); ++i) {
        const FlowArc& arc = network.artificial_arc(i);
        if (arc.flow < 0) return "artificial arc " + std::to_string(i) + " carries a negative flow";
        const int64_t outside = arc.tail == &network.node(i) ? -arc.flow : arc.flow;
        if (balance[i] + network.node(i).supply + outside != 0) return "flow is not conserved in node " + std::to_string(i);
    }
    return "";
}

/// Complementary slackness, and no artificial flow.
inline std::string optimality_complaint(const NetworkSimplex& network) {
    for (uint64_t i = 0; i < network.nodes(); ++i)
        if (network.artificial_arc(i).flow != 0) return "node " + std::to_string(i) + " has artificial flow";
    for (uint64_t a = 0; a < network.arcs(); ++a) {
        const FlowArc& arc = network.arc(a);
        const int64_t cost = arc.cost + arc.tail->potential - arc.head->potential;
        if ((cost > 0 && arc.flow != 0) || (cost < 0 && arc.flow != arc.capacity))
            return "arc " + std::to_string(a) + " breaks complementary slackness";
    }
    return "";
}

/// The tree spans all nodes in preorder with true depths, its arcs have no reduced cost, the others lie at a bound.
inline std::string basis_complaint(const NetworkSimplex& network) {
    const FlowNode* root = &network.node(network.nodes());
    uint64_t visited = 1;
    const FlowNode* last = root;
    for (const FlowNode* node = root->thread; node != root; last = node, node = node->thread) {
        const std::string name = "node " + std::to_string(node - &network.node(0));
        if (++visited > network.nodes() + 1) return "the thread does not come back to the root";
        const FlowArc& arc = *node->basic;
        const bool joins = node->upward != 0 ? arc.tail == node && arc.head == node->parent : arc.head == node && arc.tail == node->parent;
        if (!joins || arc.state != ArcState::basic) return name + " has a wrong basic arc";
        if (node->back != last) return name + " breaks the thread";
        if (node->depth != node->parent->depth + 1) return name + " has a wrong depth";
        // In preorder a node follows its parent, or the subtree of a sibling: an ancestor of `last` is the parent.
        const FlowNode* ancestor = last;
        while (ancestor->depth > node->parent->depth) ancestor = ancestor->parent;
        if (ancestor != node->parent) return name + " is not in preorder";
        if (arc.cost + arc.tail->potential != arc.head->potential) return name + " has a wrong potential";
        if (node->upward == 0 ? arc.flow == 0 : arc.flow == arc.capacity)
            return name + " cannot send flow to the root: the tree is not strongly feasible";
    }
    if (visited != network.nodes() + 1) return "the tree does not span the network";
    uint64_t basic = 0;
    for (uint64_t a = 0; a < network.arcs() + network.nodes(); ++a) {
        const FlowArc& arc = network.arc(a);
        if (arc.state == ArcState::basic) ++basic;
        else if (arc.flow != (arc.state == ArcState::at_lower ? 0 : arc.capacity))
            return "arc " + std::to_string(a) + " is outside the tree and not at its bound";
    }
    return basic == network.nodes() ? "" : "the number of basic arcs is not the number of nodes";
}

}  // namespace tessera::workloads
