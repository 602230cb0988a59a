// network_simplex - vehicle scheduling by primal network simplex: an open stand-in for SPEC's mcf.
//
// Kernel and citations: network_simplex.h; the instance: timetable.h; the verifier: network_simplex_check.h.
// The region of interest is `--pivots` pivots after `--warm-pivots` others, because the first pivots meet a
// flat tree. A region that ends at the optimum is proved optimal; one that ends before is checked for a feasible
// flow, a sound basis and a cost (penalties included) that has fallen, and the result line says which.
#include <cmath>

#include "common/program.h"
#include "network_simplex.h"
#include "network_simplex_check.h"
#include "timetable.h"

using namespace tessera::workloads;

namespace {

/// The cost that the simplex method lowers: penalties of artificial arcs included.
double penalised_cost(const NetworkSimplex& network) {
    int128 sum = flow_cost(network);
    for (uint64_t i = 0; i < network.nodes(); ++i)
        sum += static_cast<int128>(network.artificial_arc(i).cost) * network.artificial_arc(i).flow;
    return static_cast<double>(sum);
}

/// What the generator put into the arcs: the solver must not have changed it.
uint64_t instance_checksum(const NetworkSimplex& network) {
    uint64_t sum = 0;
    for (uint64_t a = 0; a < network.arcs(); ++a) {
        const FlowArc& arc = network.arc(a);
        const auto ends = static_cast<uint64_t>(arc.tail - &network.node(0)) << 32 | static_cast<uint64_t>(arc.head - &network.node(0));
        sum += mix64(ends, static_cast<uint64_t>(arc.cost * 31 + arc.capacity) + a);
    }
    return sum;
}

uint64_t flow_checksum(const NetworkSimplex& network) {
    uint64_t sum = 0;
    for (uint64_t a = 0; a < network.arcs(); ++a) sum += mix64(a, 0) * static_cast<uint64_t>(network.arc(a).flow);
    return sum;
}

std::string verify(const NetworkSimplex& network, SimplexStatus status, double cost_before, uint64_t instance) {
    std::string complaint = feasibility_complaint(network);
    if (complaint.empty()) complaint = basis_complaint(network);
    if (complaint.empty() && instance_checksum(network) != instance) complaint = "the solver changed the instance";
    if (complaint.empty() && penalised_cost(network) > cost_before) complaint = "the cost increased";
    if (!complaint.empty() || status == SimplexStatus::pivot_limit) return complaint;
    if (status != SimplexStatus::optimal) return "the solver found no optimum, but every timetable has one";
    return optimality_complaint(network);
}

Outcome run(const Arguments& arguments) {
    const Timetable timetable{arguments.count("trips"), arguments.count("deadheads"), arguments.count("seed")};
    NetworkSimplex network = timetable.network();
    const uint64_t instance = instance_checksum(network);
    const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(network.arcs())));
    network.start(arguments.count("block") == 0 ? root : arguments.count("block"));
    SimplexStatus status = network.solve(arguments.count("warm-pivots"));
    if (status == SimplexStatus::optimal)
        throw Error("network_simplex: --warm-pivots " + std::to_string(arguments.count("warm-pivots")),
                    "the solver reached the optimum after " + std::to_string(network.pivots()) + " pivots, before the region",
                    "choose fewer warm pivots or more trips");
    const double cost_before = penalised_cost(network);

    const uint64_t roi_ns = region_of_interest_ns([&] { status = network.solve(arguments.count("pivots")); });

    if (arguments.flag("self-test-corrupt")) network.arc(0).flow ^= 1;
    const std::string complaint = verify(network, status, cost_before, instance);
    const bool optimal = status == SimplexStatus::optimal;
    Result result("network_simplex");
    result.add("trips", timetable.trips)
        .add("nodes", network.nodes())
        .add("arcs", network.arcs())
        .add("seed", timetable.seed)
        .add("footprint_bytes", network.bytes())
        .add("roi_ns", roi_ns)
        .add("pivots", network.pivots())
        .add("cost", static_cast<double>(flow_cost(network)))
        .add("checked", optimal ? "optimal by complementary slackness" : "feasible flow and sound basis; not optimal yet")
        .add("checksum", flow_checksum(network));
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("network_simplex", "schedule vehicles by the primal network simplex method",
                       {{"trips", Kind::count, "400000", 2, 1e9, "number of trips in the timetable (two nodes each)"},
                        {"deadheads", Kind::count, "12", 1, 1024, "number of connections per trip (one arc each)"},
                        {"warm-pivots", Kind::count, "0", 0, 1e12, "number of pivots before the region of interest"},
                        {"pivots", Kind::count, "1000000000000", 1, 1e12, "most pivots in the region of interest"},
                        {"block", Kind::count, "0", 0, 1e9, "arcs per pricing block; 0: square root of their number"},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
