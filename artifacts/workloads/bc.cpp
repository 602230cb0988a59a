// bc - betweenness centrality of a directed graph from a few sources. Kernel and citations: betweenness.h;
// verifiers: betweenness_check.h (one source), betweenness_oracle.h (several).
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "betweenness.h"
#include "betweenness_check.h"
#include "betweenness_oracle.h"
#include "common/anonymous_array.h"
#include "common/prepared_edges.h"
#include "common/prepared_graph.h"
#include "common/sources.h"

using namespace tessera::workloads;

namespace {

// Single-precision sums over a row of n entries err by about sqrt(n) * 6e-8 at random, and rows follow rows
// through the levels. A wrong edge changes some score by far more.
constexpr double kAllowedDifference = 2e-3;

struct Verdict {
    double largest_difference;
    std::string complaint;
};

/// From one source, the kernel's own arrays say enough.
template <class EdgeSource>
Verdict checked(const BetweennessArrays& arrays, int32_t source, const EdgeSource& edge) {
    BetweennessCheck check(arrays, edge.vertices(), source);
    std::string complaint = check.complaint(edge);
    return {check.largest_difference(), std::move(complaint)};
}

/// From several, scores are sums, and the arrays hold the last source only.
template <class EdgeSource>
Verdict compared(const float* score, const std::vector<int32_t>& sources, const EdgeSource& edge) {
    BetweennessOracle oracle(edge);
    for (const int32_t source : sources) oracle.add(source);
    const double difference = oracle.largest_difference(score);
    if (difference <= kAllowedDifference) return {difference, ""};
    return {difference, "a score differs from the oracle's by " + std::to_string(difference) + " of its value, allowed " +
                            std::to_string(kAllowedDifference)};
}

template <class EdgeSource>
Outcome rank(const Arguments& arguments, const EdgeSource& edge, const std::optional<PreparedFile>& prepared) {
    std::optional outgoing(graph_rows<int32_t>(prepared, edge, Direction::outgoing));
    const uint64_t vertices = edge.vertices(), arcs = outgoing->offsets[vertices];
    const std::vector<int32_t> sources = choose_sources("bc", *outgoing, arguments.count("sources"), arguments.count("seed"));
    AnonymousArray<int32_t> depth("depths", vertices), queue("queue", vertices);
    AnonymousArray<double> paths("path counts", vertices);
    AnonymousArray<float> dependency("dependencies", vertices), score("scores", vertices);
    AnonymousArray<uint64_t> successor("successor bits", BetweennessArrays::successor_words(arcs));
    depth.prefault();
    queue.prefault();
    paths.prefault();
    dependency.prefault();
    score.prefault();
    successor.prefault();
    std::vector<uint64_t> level_starts;
    level_starts.reserve(65536);  // more levels than any graph here has; a vector may grow
    const uint64_t footprint =
        outgoing->bytes() + depth.bytes() + queue.bytes() + paths.bytes() + dependency.bytes() + score.bytes() + successor.bytes();

    const BetweennessArrays arrays{*outgoing, depth.data(), paths.data(), dependency.data(), score.data(), queue.data(), successor.data()};
    uint64_t reached = 0;
    const uint64_t roi_ns = region_of_interest_ns([&] { reached = betweenness(arrays, sources, level_starts); });
    outgoing.reset();
    if (arguments.flag("self-test-corrupt")) score[queue[0]] += 0.5f;  // the last source

    const auto [difference, complaint] =
        sources.size() == 1
            ? on_edges(prepared, Direction::incoming, edge, [&](const auto& edges) { return checked(arrays, sources[0], edges); })
            : compared(score.data(), sources, edge);
    double sum = 0;
    for (uint64_t v = 0; v < vertices; ++v) sum += score[v];

    Result result("bc");
    add_graph(result, arguments);
    result.add("sources", uint64_t{sources.size()})
        .add("vertices", vertices)
        .add("edges", arcs)
        .add("footprint_bytes", footprint)
        .add("roi_ns", roi_ns)
        .add("reached_vertices", reached)
        .add("checksum", sum)
        .add("largest_difference", difference);
    return {result, complaint};
}

Outcome run(const Arguments& arguments) {
    return run_on_graph("bc", arguments, Weights::no,
                        [&](const auto& edge, const auto& prepared) { return rank(arguments, edge, prepared); });
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Parameter> table = graph_parameters("20", "16");
    table.push_back({"sources", Kind::count, "4", 1, 64, "number of random source vertices"});
    add_preparation(table);
    table.push_back(corrupt_parameter());
    return run_program("bc", "compute betweenness centrality of a directed graph", table, argc, argv, run);
}
