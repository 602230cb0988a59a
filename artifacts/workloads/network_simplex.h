// network_simplex.h - the kernel of network_simplex: primal network simplex for minimum-cost flow.
//
// Ahuja, Magnanti, Orlin, "Network Flows" (1993), chapter 11: spanning-tree structure by parent, depth and
// thread (preorder list), strongly feasible trees and Cunningham's leaving rule against cycling. The entering
// arc is the best of the first block of arcs that has a candidate (block search; Kiraly, Kovacs,
// arXiv:1207.6381, section 4.2). As in Loebel's MCF, which SPEC's mcf is: arrays of structures
// connected by pointers, and pricing, which reads two random nodes per arc, takes most of the time.
//
// Encoding: node `nodes()` is an artificial root; arc arcs() + i joins node i to it at a prohibitive cost. The
// reduced cost of an arc is cost + potential(tail) - potential(head), and is 0 on tree arcs.
// Invariant: from each node some flow can still be sent to the root along the tree (strong feasibility).
// Not modelled: MCF's column generation and its multiple partial pricing; lower bounds other than 0.
#pragma once

#include <cstdint>
#include <limits>

#include "common/anonymous_array.h"
#include "common/measure.h"

namespace tessera::workloads {

inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();  ///< capacity of an unbounded arc

enum class ArcState : int64_t { at_upper = -1, basic = 0, at_lower = 1 };
enum class SimplexStatus { optimal, pivot_limit, infeasible, unbounded };

struct FlowArc;

struct FlowNode {
    int64_t potential;
    int64_t supply;     ///< positive: flow leaves the network's outside here
    FlowNode* parent;
    FlowArc* basic;     ///< tree arc to the parent
    FlowNode* thread;   ///< next in preorder; circular through the root
    FlowNode* back;     ///< the inverse of thread
    int64_t depth;
    int64_t upward;     ///< 1 if the basic arc leads to the parent, 0 if it comes from there
    int64_t unused[5];  ///< MCF's node has 104 bytes (adjacency, siblings): it sets how far apart nodes lie
};
static_assert(sizeof(FlowNode) == 104);

struct alignas(64) FlowArc {  // 64 bytes, as MCF's
    int64_t cost;
    FlowNode* tail;
    FlowNode* head;
    ArcState state;
    int64_t flow;
    int64_t capacity;
};

class NetworkSimplex {
public:
    /// Room for a network of isolated nodes without supply; fill nodes and arcs in, then call start().
    NetworkSimplex(uint64_t nodes, uint64_t arcs) : nodes_("nodes", nodes + 1), arcs_("arcs", arcs + nodes), arc_count_(arcs) {}

    uint64_t nodes() const { return nodes_.size() - 1; }
    uint64_t arcs() const { return arc_count_; }
    FlowNode& node(uint64_t i) { return nodes_[i]; }
    const FlowNode& node(uint64_t i) const { return nodes_[i]; }
    FlowArc& arc(uint64_t a) { return arcs_[a]; }
    const FlowArc& arc(uint64_t a) const { return arcs_[a]; }
    const FlowArc& artificial_arc(uint64_t i) const { return arcs_[arc_count_ + i]; }
    uint64_t bytes() const { return nodes_.bytes() + arcs_.bytes(); }
    uint64_t pivots() const { return pivots_; }

    void set_arc(uint64_t a, uint64_t tail, uint64_t head, int64_t capacity, int64_t cost) {
        arcs_[a] = {cost, &nodes_[tail], &nodes_[head], ArcState::at_lower, 0, capacity};
    }

    /// The first basis: every node hangs from the root by its artificial arc.
    void start(uint64_t block_arcs);

    /// Pivots until the flow is optimal (or proves unbounded), `limit` times at most.
    SimplexStatus solve(uint64_t limit);

private:
    struct Leaving {
        FlowNode* node = nullptr;  ///< its basic arc leaves; null: the entering arc goes to its other bound
        int64_t change = 0;        ///< flow sent around the cycle
        bool on_first_side = false;
    };

    FlowArc* entering_arc();
    static Leaving leaving_arc(const FlowArc& entering);
    static void send(FlowArc& entering, int64_t change);
    static void regraft(FlowNode* in, FlowNode* out, FlowNode* onto, FlowArc* entering, int64_t shift);
    void pivot(FlowArc* entering, const Leaving& leaving);
    bool artificial_flow() const;

    AnonymousArray<FlowNode> nodes_;
    AnonymousArray<FlowArc> arcs_;
    uint64_t arc_count_;
    uint64_t block_ = 1;
    uint64_t next_ = 0;  ///< where the next block begins
    uint64_t pivots_ = 0;
};

inline int64_t reduced_cost(const FlowArc& arc) { return arc.cost + arc.tail->potential - arc.head->potential; }

}  // namespace tessera::workloads

#include "network_simplex_pivot.h"
