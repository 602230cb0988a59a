// pagerank.h - the kernel of pr: PageRank by pulling, Jacobi iteration, and its oracle.
//
// The GAP Benchmark Suite's formulation (Beamer, Asanovic, Patterson, arXiv:1508.03619), with damping
// 0.85 and single-precision scores: score'(v) = (1 - d)/n + d * sum over edges u->v of
// score(u)/outdegree(u). Jacobi: an iteration reads only the one before. Vertices without outgoing edges
// give nothing away (their share is lost, as in GAPBS). Not modelled: their redistribution.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/csr.h"
#include "common/measure.h"

namespace tessera::workloads {

inline constexpr double kDamping = 0.85;

struct PageRankArrays {
    const Csr<int32_t>& incoming;
    const float* inverse_out_degree;  ///< 0 for vertices without outgoing edges
    float* score;                     ///< in: start; out: result
    float* contribution;              ///< scratch, one per vertex
};

/// Iterates until the scores change by at most `tolerance` in sum or `limit` is reached. Returns the
/// number of iterations done.
TESSERA_KERNEL inline uint64_t pagerank(const PageRankArrays& arrays, uint64_t limit, double tolerance) {
    const uint64_t vertices = arrays.incoming.vertices();
    const uint64_t* offsets = arrays.incoming.offsets.data();
    const int32_t* sources = arrays.incoming.targets.data();
    float* const score = arrays.score;
    float* const contribution = arrays.contribution;
    const float base = static_cast<float>((1.0 - kDamping) / static_cast<double>(vertices));
    for (uint64_t iteration = 0; iteration < limit; ++iteration) {
        for (uint64_t v = 0; v < vertices; ++v) contribution[v] = score[v] * arrays.inverse_out_degree[v];
        double change = 0;
        for (uint64_t v = 0; v < vertices; ++v) {
            float sum = 0;
            for (uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) sum += contribution[sources[e]];
            const float updated = base + static_cast<float>(kDamping) * sum;
            change += std::fabs(updated - score[v]);
            score[v] = updated;
        }
        if (change <= tolerance) return iteration + 1;
    }
    return limit;
}

/// The same number of iterations by pushing along the edge source in double precision; no CSR.
template <class EdgeSource>
AnonymousArray<double> pagerank_oracle(const EdgeSource& edge, uint64_t iterations) {
    const uint64_t vertices = edge.vertices();
    AnonymousArray<double> out_degree("oracle's out degrees", vertices);
    for (uint64_t k = 0; k < edge.count(); ++k) {
        const auto [from, to] = edge(k);
        if (from != to) out_degree[from] += 1;
    }
    AnonymousArray<double> score("oracle's scores", vertices), next("oracle's next scores", vertices);
    score.fill(1.0 / static_cast<double>(vertices));
    for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
        for (uint64_t v = 0; v < vertices; ++v) score[v] *= kDamping / std::fmax(out_degree[v], 1);
        next.fill((1.0 - kDamping) / static_cast<double>(vertices));
        for (uint64_t k = 0; k < edge.count(); ++k) {
            const auto [from, to] = edge(k);
            if (from != to) next[to] += score[from];
        }
        score.swap(next);
    }
    return score;
}

/// Largest relative difference of a score from the oracle's.
inline double largest_difference(const float* score, const AnonymousArray<double>& expected) {
    double largest = 0;
    for (uint64_t v = 0; v < expected.size(); ++v)
        largest = std::fmax(largest, std::fabs(score[v] - expected[v]) / expected[v]);
    return largest;
}

}  // namespace tessera::workloads
