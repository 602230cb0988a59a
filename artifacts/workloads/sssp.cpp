// sssp - shortest paths from one source by delta-stepping. Kernel and citations: delta_stepping.h; verifier:
// distance_check.h.
#include <algorithm>
#include <optional>

#include "common/anonymous_array.h"
#include "common/prepared_graph.h"
#include "common/sources.h"
#include "delta_stepping.h"
#include "distance_check.h"

using namespace tessera::workloads;

namespace {

template <class EdgeSource>
Outcome search(const Arguments& arguments, const EdgeSource& edge, const std::optional<PreparedFile>& prepared) {
    std::optional outgoing(graph_rows<WeightedVertex>(prepared, edge, Direction::outgoing));
    const uint64_t vertices = edge.vertices(), arcs = outgoing->offsets[vertices];
    const int32_t source = choose_sources("sssp", *outgoing, 1, arguments.count("seed"))[0];
    // A vertex is in the bins once for each time its distance fell; half as many entries at a time as
    // there are edges was enough for every graph and delta tried (a full pool is an error, not a wrong answer).
    std::optional<Bins> bins(std::max(arcs / 2, vertices));
    AnonymousArray<int32_t> distance("distances", vertices), frontier("frontier", bins->capacity());
    distance.prefault();
    frontier.prefault();
    const uint64_t footprint = outgoing->bytes() + distance.bytes() + frontier.bytes() + bins->bytes();

    uint64_t relaxed = 0;
    const uint64_t roi_ns = region_of_interest_ns([&] {
        relaxed =
            delta_stepping(*outgoing, source, static_cast<int32_t>(arguments.count("delta")), distance.data(), frontier.data(), *bins);
    });
    outgoing.reset();
    bins.reset();
    if (arguments.flag("self-test-corrupt")) distance[source] = 1;

    const std::string complaint = distance_complaint(edge, source, distance.data(), kUnreachable);
    uint64_t checksum = 0, reached = 0, farthest = 0;
    for (uint64_t v = 0; v < vertices; ++v) {
        if (distance[v] == kUnreachable) continue;
        ++reached;
        farthest = std::max<uint64_t>(farthest, distance[v]);
        checksum += mix64(0, v) * static_cast<uint64_t>(distance[v] + 1);
    }
    Result result("sssp");
    add_graph(result, arguments);
    result.add("delta", arguments.count("delta"))
        .add("vertices", vertices)
        .add("edges", arcs)
        .add("footprint_bytes", footprint)
        .add("roi_ns", roi_ns)
        .add("reached_vertices", reached)
        .add("relaxed_entries", relaxed)
        .add("largest_distance", farthest)
        .add("checksum", checksum);
    return {result, complaint};
}

Outcome run(const Arguments& arguments) {
    return run_on_graph("sssp", arguments, Weights::yes,
                        [&](const auto& edge, const auto& prepared) { return search(arguments, edge, prepared); });
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Parameter> table = graph_parameters("21", "8");
    table.push_back({"delta", Kind::count, "2", 1, 1e9, "width of a bin, in units of edge weight"});
    add_preparation(table);
    table.push_back(corrupt_parameter());
    return run_program("sssp", "compute shortest paths from one source by delta-stepping", table, argc, argv, run);
}
