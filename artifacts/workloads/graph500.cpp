// graph500 - Kronecker graph, compression, breadth-first searches from random roots, validation.
//
// Graph 500 specification 2.1 (Bader et al.): kernels bfs.h and bfs_validation.h, generator
// common/kronecker.h. The region of interest is the searches alone; generation, compression and
// validation lie outside. One parent array per root, so that all searches are one region without a
// validation in between. The edge list is kept, as in the specification: the validation needs it.
#include <algorithm>
#include <optional>
#include <vector>

#include "bfs.h"
#include "bfs_validation.h"
#include "common/anonymous_array.h"
#include "common/program.h"
#include "prepared_graph500.h"

using namespace tessera::workloads;

namespace {

/// Distinct vertices that have a neighbour, in random order (specification, section 7).
std::vector<int64_t> choose_roots(const Csr<int64_t>& graph, uint64_t count, uint64_t seed) {
    std::vector<int64_t> roots;
    const uint64_t draws = 64 * graph.vertices();  // enough unless almost every vertex is isolated
    for (uint64_t k = 0; k < draws && roots.size() < count; ++k) {
        const auto v = static_cast<int64_t>(below(mix64(~seed, k), graph.vertices()));
        if (graph.degree(v) > 0 && std::ranges::find(roots, v) == roots.end()) roots.push_back(v);
    }
    if (roots.size() < count)
        throw Error("graph500: --roots " + std::to_string(count),
                    "the graph has only " + std::to_string(roots.size()) + " vertices with a neighbour",
                    "choose fewer roots or a larger --scale");
    return roots;
}

Outcome run(const Arguments& arguments) {
    const auto scale = static_cast<unsigned>(arguments.count("scale"));
    const uint64_t degree = arguments.count("edge-factor");
    const uint64_t seed = arguments.count("seed");
    const KroneckerEdges edge(scale, degree << scale, seed);
    const Shape shape = graph500_shape(scale, degree, seed);
    const bool files = arguments.given("prepare") || arguments.given("prepared") || arguments.given("check-prepared");
    if (files && scale > kMostPreparedScale)
        throw Error("graph500: --scale " + std::to_string(scale), "prepared files have at most 2^31 vertices",
                    "choose --scale 31 or less, or let the program build the graph");
    if (auto done = prepare_or_check("graph500", arguments, shape, (48 * degree + 17) << scale,
                                     [&](Preparation& preparation) { prepare_graph500(preparation, edge); }))
        return std::move(*done);
    const auto prepared = open_prepared("graph500", arguments, shape);
    const EdgeList list = prepared ? load_edges(*prepared, edge) : generate(edge);
    std::optional csr(prepared ? load_rows<int64_t>(*prepared, "both", edge.vertices()) : build_csr<int64_t>(list, Direction::both));
    const Csr<int64_t>& graph = *csr;
    const std::vector<int64_t> roots = choose_roots(graph, arguments.count("roots"), seed);

    const uint64_t vertices = graph.vertices();
    AnonymousArray<int64_t> parents("parents", vertices * roots.size());
    AnonymousArray<int64_t> queue("queue", vertices);
    parents.fill(kUnreached);
    queue.prefault();
    const uint64_t footprint = list.edges.bytes() + graph.bytes() + parents.bytes() + queue.bytes();

    uint64_t reached = 0;
    const uint64_t roi_ns = region_of_interest_ns([&] {
        for (size_t i = 0; i < roots.size(); ++i)
            reached += breadth_first_search(graph, roots[i], parents.data() + i * vertices, queue.data());
    });
    csr.reset();  // before the validation takes memory: see pr.cpp
    if (arguments.flag("self-test-corrupt")) parents[queue[1]] = queue[1];  // a vertex beside the root becomes its own parent: a cycle

    uint64_t checksum = 0, traversed = 0;
    std::string complaint;
    for (size_t i = 0; i < roots.size() && complaint.empty(); ++i) {
        const Validation found = validate_bfs(list, roots[i], parents.data() + i * vertices);
        complaint = found.complaint;
        traversed += found.edges_in_component;
        for (uint64_t v = 0; v < vertices; ++v)  // levels, unlike parents, have one right answer
            checksum += mix64(i, v) * static_cast<uint64_t>(found.level[v] + 1);
    }

    Result result("graph500");
    result.add("scale", uint64_t{scale})
        .add("edge_factor", degree)
        .add("roots", uint64_t{roots.size()})
        .add("seed", seed)
        .add("footprint_bytes", footprint)
        .add("roi_ns", roi_ns)
        .add("reached_vertices", reached)
        .add("traversed_edges", traversed)
        .add("checksum", checksum);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Parameter> table{{"scale", Kind::count, "21", 2, 40, "log2 of the number of vertices"},
                                 {"edge-factor", Kind::count, "16", 1, 1024, "edges per vertex"},
                                 {"roots", Kind::count, "1", 1, 64, "number of searches, each from a different random root"},
                                 seed_parameter()};
    add_preparation(table);
    table.push_back(corrupt_parameter());
    return run_program("graph500", "search a Kronecker graph breadth-first", table, argc, argv, run);
}
