// prepared_graph.h - the graphs of the GAPBS kernels (graph_input.h) from prepared files.
//
// A file depends on the graph's own arguments alone, so programs share it: without weights it holds the outgoing and
// the incoming rows, for bc, bfs and pr; with weights the outgoing rows, for sssp. A program reads only what it uses.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "common/graph_input.h"
#include "common/prepared_rows.h"

namespace tessera::workloads {

enum class Weights { no, yes };

/// What shapes the rows. A file of GAPBS is known by its name and size.
inline Shape graph_shape_of(const Arguments& arguments, Weights weights) {
    const std::string& graph = arguments.text("graph");
    Shape shape{{"input", "graph"}, {"weights", weights == Weights::yes ? "yes" : "no"}};
    if (graph.starts_with("file:")) {
        const std::string path = graph.substr(5);
        struct stat status{};
        const bool there = stat(path.c_str(), &status) == 0;  // opening it refuses a missing file
        shape.emplace_back("graph", "file:" + path.substr(path.rfind('/') + 1));
        shape.emplace_back("file-bytes", std::to_string(there ? status.st_size : 0));
        return shape;
    }
    shape.emplace_back("graph", graph);
    shape.emplace_back("scale", std::to_string(arguments.count("scale")));
    if (graph != "road") shape.emplace_back("degree", std::to_string(arguments.count("degree")));
    shape.emplace_back("seed", std::to_string(arguments.count("seed")));
    return shape;
}

/// Rows for a kernel: loaded if there is a file, otherwise built. `direction` is outgoing or incoming.
template <class Vertex, class EdgeSource>
Csr<Vertex> graph_rows(const std::optional<PreparedFile>& prepared, const EdgeSource& edge, Direction direction) {
    if (!prepared) return build_csr<Vertex>(edge, direction);
    return load_rows<Vertex>(*prepared, direction == Direction::outgoing ? "outgoing" : "incoming", edge.vertices());
}

/// Writes a graph's rows.
template <class Vertex, class EdgeSource>
void prepare_graph(Preparation& preparation, const EdgeSource& edge) {
    constexpr bool kWeighted = !std::is_integral_v<Vertex>;
    RowBuckets<Vertex> rows(edge.vertices(), edge.count(), preparation.threads);
    rows.fill(edge, Direction::outgoing);
    std::vector<Section> sections;
    add_row_sections<Vertex>(sections, "outgoing", edge.vertices(), rows.entries());
    if (!kWeighted) add_row_sections<Vertex>(sections, "incoming", edge.vertices(), rows.entries());
    preparation.writer.lay_out(std::move(sections));
    write_rows(preparation, 0, rows);
    if (kWeighted || !preparation.complaint.empty()) return;
    rows.fill(edge, Direction::incoming);
    write_rows(preparation, 2, rows);
}

/// with_graph, for programs that can prepare: calls body(edge source, prepared file or nothing).
template <class Body>
Outcome run_on_graph(const std::string& program, const Arguments& arguments, Weights weights, Body&& body) {
    using Unweighted = int32_t;
    return with_graph(program, arguments, weights == Weights::yes, [&](const auto& edge) -> Outcome {
        const Shape shape = graph_shape_of(arguments, weights);
        const uint64_t entry = weights == Weights::yes ? sizeof(WeightedVertex) : 2 * sizeof(Unweighted);
        const uint64_t most_bytes = 18 * edge.vertices() + (entry + 1) * edge.count() + (1 << 20);
        auto done = prepare_or_check(program, arguments, shape, most_bytes, [&](Preparation& preparation) {
            if (weights == Weights::yes) prepare_graph<WeightedVertex>(preparation, edge);
            else prepare_graph<Unweighted>(preparation, edge);
        });
        if (done) return std::move(*done);
        return body(edge, open_prepared(program, arguments, shape));
    });
}

}  // namespace tessera::workloads
