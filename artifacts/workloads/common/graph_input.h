// graph_input.h - the graphs of the GAPBS kernels, chosen on the command line.
//
// One table of parameters and one dispatch, so that every kernel takes the same graphs: a new generator is one
// header and one line here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/arguments.h"
#include "common/gap_file.h"
#include "common/kronecker.h"
#include "common/program.h"
#include "common/road.h"
#include "common/web.h"
#include "common/weights.h"

namespace tessera::workloads {

/// --graph, --scale, --degree and --seed, with the program's own defaults for size.
inline std::vector<Parameter> graph_parameters(const char* scale, const char* degree) {
    return {{"graph", Kind::text, "kronecker", 0, 0,
             "generator of the graph: kronecker, uniform, road, web; or file:PATH of a graph file of GAPBS"},
            {"scale", Kind::count, scale, 2, 30, "log2 of the number of vertices (ignored for a file)"},
            {"degree", Kind::count, degree, 1, 1024, "edges per vertex (ignored for road and for a file)"},
            seed_parameter()};
}

/// Calls body(edge source) with the chosen graph and returns its result. Every source has weights except a file
/// without weights, where weight(k) must not be called (`needs_weights` throws Error for such a file).
template <class Body>
auto with_graph(const std::string& program, const Arguments& arguments, bool needs_weights, Body&& body) {
    const std::string& graph = arguments.text("graph");
    const auto scale = static_cast<unsigned>(arguments.count("scale"));
    const uint64_t edges = arguments.count("degree") << scale, seed = arguments.count("seed");
    if (graph == "kronecker") return body(RandomWeights(KroneckerEdges(scale, edges, seed), seed));
    if (graph == "uniform") return body(RandomWeights(UniformEdges(scale, edges, seed), seed));
    if (graph == "road") return body(RoadEdges(scale, seed));
    if (graph == "web") return body(RandomWeights(WebEdges(scale, edges, seed), seed));
    if (!graph.starts_with("file:"))
        throw Error(program + ": --graph", "'" + graph + "' is not a known graph", "use one of: kronecker, uniform, road, web, file:PATH");
    const GapFileEdges file(graph.substr(5));
    if (needs_weights && !file.weighted())
        throw Error(program + ": --graph " + graph, "the file has no weights", "give a weighted graph (.wsg)");
    return body(file);
}

/// Adds the fields of the result line that describe the graph.
inline void add_graph(Result& result, const Arguments& arguments) {
    const std::string& graph = arguments.text("graph");
    result.add("graph", graph.substr(0, graph.find(':')))
        .add("scale", arguments.count("scale"))
        .add("degree", arguments.count("degree"))
        .add("seed", arguments.count("seed"));
}

}  // namespace tessera::workloads
