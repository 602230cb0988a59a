// graph - prints the shape of an input graph. docs/howto/datasets.md quotes its output for the stand-in graphs.
//
// It is not a benchmark, and nothing records it. Definitions: common/graph_shape.h.
#include "common/graph_input.h"
#include "common/graph_shape.h"

using namespace tessera::workloads;

namespace {

Outcome run(const Arguments& arguments) {
    const GraphShape shape =
        with_graph("graph", arguments, false, [&](const auto& edge) { return shape_of(edge, arguments.count("seed")); });
    Result result("graph");
    add_graph(result, arguments);
    const uint64_t connected = shape.vertices - shape.isolated;
    result.add("vertices", shape.vertices)
        .add("edges", shape.arcs)
        .add("isolated_vertices", shape.isolated)
        .add("edges_per_connected_vertex", connected == 0 ? 0 : static_cast<double>(shape.arcs) / static_cast<double>(connected))
        .add("largest_out_degree", shape.largest_out_degree)
        .add("largest_in_degree", shape.largest_in_degree)
        .add("out_edges_of_top_percent", shape.out_arcs_of_top_percent)
        .add("in_edges_of_top_percent", shape.in_arcs_of_top_percent)
        .add("near_edges", shape.near_arcs)
        .add("reached_vertices", shape.reached)
        .add("pseudo_diameter", shape.pseudo_diameter);
    return {result, shape.arcs == 0 ? "the graph has no edges" : ""};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("graph", "print degrees and diameter of an input graph", graph_parameters("20", "16"), argc, argv, run);
}
