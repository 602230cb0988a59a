// pr - PageRank of a directed graph. Kernel, oracle and citation: pagerank.h.
//
// The oracle reads the edges again, from their generator or from the outgoing rows of a prepared file. So it shares
// nothing with the kernel, which reads incoming rows. The CSR is freed before the oracle allocates memory: otherwise the
// pools and the layouts would span arrays that the region of interest never touches.
#include <algorithm>
#include <optional>

#include "common/anonymous_array.h"
#include "common/prepared_edges.h"
#include "common/prepared_graph.h"
#include "pagerank.h"

using namespace tessera::workloads;

namespace {

/// An edge u->v is one entry "u" of the incoming rows.
void count_out_degrees(const Csr<int32_t>& incoming, AnonymousArray<float>& degree) {
    const uint64_t edges = incoming.offsets[incoming.vertices()];
    for (uint64_t e = 0; e < edges; ++e) degree[incoming.targets[e]] += 1;
}

/// The same numbers from the outgoing offsets of the file: counting entries takes minutes under emulation.
void load_out_degrees(const PreparedFile& file, AnonymousArray<float>& degree) {
    constexpr uint64_t kMostCounted = 1 << 24;  // where adding 1 to a float stops
    constexpr uint64_t kRoom = kSumBytes / sizeof(uint64_t);
    static uint64_t buffer[kRoom];  // not in the pools, which hold only what the region uses
    uint64_t before = 0;
    file.stream("outgoing-offsets", buffer, kRoom, [&](uint64_t first, const uint64_t* offsets, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            const uint64_t row = first + i;  // its offset ends the row before it
            if (row > degree.size() || (row > 0 && offsets[i] < before)) file.damaged("its outgoing offsets do not ascend");
            if (row > 0) degree[row - 1] = static_cast<float>(std::min(offsets[i] - before, kMostCounted));
            before = offsets[i];
        }
    });
}

template <class EdgeSource>
Outcome rank(const Arguments& arguments, const EdgeSource& edge, const std::optional<PreparedFile>& prepared) {
    std::optional graph(graph_rows<int32_t>(prepared, edge, Direction::incoming));
    const Csr<int32_t>& incoming = *graph;
    const uint64_t vertices = incoming.vertices();
    AnonymousArray<float> inverse_out_degree("out degrees", vertices);
    AnonymousArray<float> score("scores", vertices);
    AnonymousArray<float> contribution("contributions", vertices);
    inverse_out_degree.prefault();
    contribution.prefault();
    score.fill(1.0f / static_cast<float>(vertices));
    const uint64_t edges = incoming.offsets[vertices];
    if (prepared) load_out_degrees(*prepared, inverse_out_degree);
    else count_out_degrees(incoming, inverse_out_degree);
    for (uint64_t v = 0; v < vertices; ++v)
        if (inverse_out_degree[v] > 0) inverse_out_degree[v] = 1 / inverse_out_degree[v];

    uint64_t iterations = 0;
    const uint64_t roi_ns = region_of_interest_ns([&] {
        iterations = pagerank({incoming, inverse_out_degree.data(), score.data(), contribution.data()}, arguments.count("iterations"),
                              arguments.real("tolerance"));
    });
    const uint64_t footprint = incoming.bytes() + inverse_out_degree.bytes() + score.bytes() + contribution.bytes();
    graph.reset();
    if (arguments.flag("self-test-corrupt")) score[0] *= 1.01f;

    const PageRankDifference difference = on_edges(prepared, Direction::outgoing, edge, [&](const auto& again) {
        return difference_from(pagerank_oracle(again, iterations), score.data());
    });
    double sum = 0;
    for (uint64_t v = 0; v < vertices; ++v) sum += score[v];

    Result result("pr");
    add_graph(result, arguments);
    result.add("iterations", iterations)
        .add("edges", edges)
        .add("footprint_bytes", footprint)
        .add("roi_ns", roi_ns)
        .add("checksum", sum)
        .add("largest_difference", difference.largest);
    return {result, difference.complaint};
}

Outcome run(const Arguments& arguments) {
    return run_on_graph("pr", arguments, Weights::no,
                        [&](const auto& edge, const auto& prepared) { return rank(arguments, edge, prepared); });
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Parameter> table = graph_parameters("22", "8");
    table.push_back({"iterations", Kind::count, "20", 1, 1000, "most iterations"});
    table.push_back({"tolerance", Kind::real, "0.0001", 0, 1, "stop when the sum of the score changes is at most this"});
    add_preparation(table);
    table.push_back(corrupt_parameter());
    return run_program("pr", "compute PageRank of a directed graph", table, argc, argv, run);
}
