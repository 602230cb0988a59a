// bfs - direction-optimising breadth-first searches of a directed graph. Kernel and citation:
// direction_optimising_bfs.h; verifier: directed_tree_check.h.
//
// The region of interest is only the searches. Each has its own parent array, as in the trials of GAPBS.
// Both directions of the graph are kept, since a step may go either way.
#include <algorithm>
#include <optional>

#include "common/anonymous_array.h"
#include "common/prepared_edges.h"
#include "common/prepared_graph.h"
#include "common/sources.h"
#include "direction_optimising_bfs.h"
#include "directed_tree_check.h"

using namespace tessera::workloads;

namespace {

template <class EdgeSource>
Outcome search(const Arguments& arguments, const EdgeSource& edge, const std::optional<PreparedFile>& prepared) {
    std::optional outgoing(graph_rows<int32_t>(prepared, edge, Direction::outgoing));
    std::optional incoming(graph_rows<int32_t>(prepared, edge, Direction::incoming));
    const uint64_t vertices = edge.vertices(), arcs = outgoing->offsets[vertices];
    const std::vector<int32_t> sources = choose_sources("bfs", *outgoing, arguments.count("sources"), arguments.count("seed"));
    AnonymousArray<int32_t> parents("parents", vertices * sources.size()), queue("queue", vertices);
    AnonymousArray<uint64_t> front("frontier", BfsArrays::bitmap_words(vertices));
    AnonymousArray<uint64_t> next("next frontier", BfsArrays::bitmap_words(vertices));
    parents.prefault();
    queue.prefault();
    front.prefault();
    next.prefault();
    const uint64_t footprint = outgoing->bytes() + incoming->bytes() + parents.bytes() + queue.bytes() + front.bytes() + next.bytes();

    const BfsArrays arrays{*outgoing, *incoming, queue.data(), front.data(), next.data()};
    uint64_t bottom_up_steps = 0;
    const uint64_t roi_ns = region_of_interest_ns([&] {
        for (size_t i = 0; i < sources.size(); ++i)
            bottom_up_steps += direction_optimising_bfs(arrays, sources[i], parents.data() + i * vertices);
    });
    outgoing.reset();
    incoming.reset();
    if (arguments.flag("self-test-corrupt")) parents[sources[0]] = -1;  // the source loses itself

    DirectedTreeCheck check(sources, parents.data(), vertices);
    const std::string complaint = on_edges(prepared, Direction::outgoing, edge, [&](const auto& edges) { return check.complaint(edges); });
    uint64_t checksum = 0, reached = 0, deepest = 0;
    for (uint64_t v = 0; v < vertices; ++v)  // depths, unlike parents, have one right answer
        for (uint64_t tree = 0; tree < sources.size(); ++tree) {
            const auto level = static_cast<uint64_t>(check.depth(v, tree) + 1);
            checksum += mix64(tree, v) * level;
            reached += level > 0;
            deepest = std::max(deepest, level);
        }

    Result result("bfs");
    add_graph(result, arguments);
    result.add("sources", uint64_t{sources.size()})
        .add("vertices", vertices)
        .add("edges", arcs)
        .add("footprint_bytes", footprint)
        .add("roi_ns", roi_ns)
        .add("reached_vertices", reached)
        .add("deepest_level", deepest == 0 ? 0 : deepest - 1)
        .add("bottom_up_steps", bottom_up_steps)
        .add("checksum", checksum);
    return {result, complaint};
}

Outcome run(const Arguments& arguments) {
    return run_on_graph("bfs", arguments, Weights::no,
                        [&](const auto& edge, const auto& prepared) { return search(arguments, edge, prepared); });
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Parameter> table = graph_parameters("22", "8");
    table.push_back({"sources", Kind::count, "1", 1, 64, "number of searches, each from a different random vertex"});
    add_preparation(table);
    table.push_back(corrupt_parameter());
    return run_program("bfs", "search a directed graph breadth-first (direction-optimising)", table, argc, argv, run);
}
