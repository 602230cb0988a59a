// canneal - simulated annealing of a synthetic netlist. Kernel and citation: canneal.h; netlist: netlist.h.
//
// The region of interest is the annealing. The verifier recomputes the routing cost from the generator of
// the netlist. It checks that the cost changed by exactly the sum that the kernel kept, and that no two
// cells share a place.
#include "canneal.h"

#include "common/program.h"
#include "netlist.h"

using namespace tessera::workloads;
using namespace tessera::workloads::canneal;

namespace {

Outcome run(const Arguments& arguments) {
    const uint64_t width = arguments.count("width"), height = arguments.count("height");
    const uint64_t seed = arguments.count("seed");
    const Inputs input{arguments.count("elements"), arguments.count("inputs"), seed};
    const Schedule schedule{arguments.count("temperatures"), arguments.count("swaps"), arguments.count("start-temperature")};
    if (width * height < input.cells)
        throw Error("canneal: --elements " + std::to_string(input.cells), "the grid has only " + std::to_string(width * height) + " places",
                    "choose a larger --width or --height");

    Netlist netlist = build_netlist(input, width, height);
    const int64_t cost_before = routing_cost(input, netlist, width);
    const Boltzmann boltzmann;
    Annealed done;
    const uint64_t roi_ns = region_of_interest_ns([&] { done = anneal(netlist.cells.data(), input.cells, schedule, boltzmann, seed); });
    if (arguments.flag("self-test-corrupt")) netlist.cells[0].place = netlist.cells[1].place;

    const int64_t cost = routing_cost(input, netlist, width);
    std::string complaint;
    if (cost != cost_before + done.cost_difference)
        complaint =
            "the cost is " + std::to_string(cost) + ", but the kernel's sum is " + std::to_string(cost_before + done.cost_difference);
    else if (!places_are_distinct(netlist)) complaint = "two elements have the same place";
    uint64_t checksum = 0;
    for (uint64_t i = 0; i < input.cells; ++i) checksum += mix64(i, static_cast<uint64_t>(netlist.cells[i].place - netlist.places.data()));

    Result result("canneal");
    result.add("elements", input.cells)
        .add("swaps", schedule.temperatures * schedule.swaps_per_temperature)
        .add("seed", seed)
        .add("footprint_bytes", netlist.bytes())
        .add("roi_ns", roi_ns)
        .add("accepted_swaps", done.accepted)
        .add("cost_before", static_cast<uint64_t>(cost_before))
        .add("cost", static_cast<uint64_t>(cost))
        .add("checksum", checksum);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("canneal", "place a netlist by simulated annealing",
                       {{"elements", Kind::count, "2000000", 2, 4e9, "number of elements in the netlist"},
                        {"width", Kind::count, "2048", 1, 1e6, "number of places in a row of the grid"},
                        {"height", Kind::count, "1024", 1, 1e6, "number of rows of the grid"},
                        {"inputs", Kind::count, "5", 1, 64, "number of inputs of an element, each from another element"},
                        {"swaps", Kind::count, "15000", 1, 1e12, "number of swaps to try at each temperature"},
                        {"temperatures", Kind::count, "64", 1, 10000, "number of temperatures"},
                        {"start-temperature", Kind::count, "2000", 0, 1e8, "first temperature, in units of distance"},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
