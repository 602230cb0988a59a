// pagerank.h - the kernel of pr: PageRank by pulling, Jacobi iteration, and its oracle.
//
// The GAP Benchmark Suite's formulation (Beamer, Asanovic, Patterson, arXiv:1508.03619), with damping
// 0.85 and single-precision scores: score'(v) = (1 - d)/n + d * sum over edges u->v of
// score(u)/outdegree(u). Jacobi: an iteration reads only the one before. Vertices without outgoing edges
// give nothing away (their share is lost, as in GAPBS). Not modelled: their redistribution.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "common/csr.h"
#include "common/measure.h"
#include "common/verifier_array.h"
#include "common/visit_edges.h"

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

/// Scores in double precision, and how far single precision may be away from each.
struct PageRankOracle {
    VerifierArray<double> score;
    VerifierArray<double> allowed;  ///< absolute
};

/// The same number of iterations by pushing along the edges in double precision; no CSR.
///
/// `allowed` follows the rounding of pagerank(): a sum of n single-precision terms has a relative error of at most
/// n u / (1 - n u) with u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), and an
/// error of a score passes to its targets with its share. Terms of a hub's sum are lost against the sum: a hub with a
/// million of them was found 0.55% low, where one with twenty is right to 1e-6.
template <class EdgeSource>
PageRankOracle pagerank_oracle(const EdgeSource& edge, uint64_t iterations) {
    struct Share {
        double value, error;
    };
    struct Sum {
        double value, error, terms;
    };
    constexpr double kRounding = 0x1p-24;
    const uint64_t vertices = edge.vertices();
    const double base = (1.0 - kDamping) / static_cast<double>(vertices);
    VerifierArray<uint32_t> out_degree("oracle's out degrees", vertices);
    visit_edges(
        edge, [&](const Edge& e) { __builtin_prefetch(&out_degree[e.from], 1); },
        [&](const Edge& e, uint64_t) {
            out_degree[e.from] += e.from != e.to;
            return true;
        });
    PageRankOracle found{{"oracle's scores", vertices}, {"oracle's rounding", vertices}};
    VerifierArray<Share> share("oracle's shares", vertices);
    VerifierArray<Sum> sum("oracle's sums", vertices);
    found.score.fill(1.0 / static_cast<double>(vertices));
    for (uint64_t v = 0; v < vertices; ++v) found.allowed[v] = found.score[v] * kRounding;
    for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
        for (uint64_t v = 0; v < vertices; ++v) {
            const double part = kDamping / std::fmax(out_degree[v], 1), value = found.score[v] * part;
            share[v] = {value, found.allowed[v] * part + value * 3 * kRounding};  // 1/degree, its product, the damping
        }
        sum.fill({0, 0, 0});
        visit_edges(
            edge,
            [&](const Edge& e) {
                __builtin_prefetch(&share[e.from]);
                __builtin_prefetch(&sum[e.to], 1);
            },
            [&](const Edge& e, uint64_t) {
                if (e.from == e.to) return true;
                Sum& target = sum[e.to];
                target.value += share[e.from].value;
                target.error += share[e.from].error;
                target.terms += 1;
                return true;
            });
        for (uint64_t v = 0; v < vertices; ++v) {
            const double rounding = (sum[v].terms + 3) * kRounding;  // the sum, the damping, base and adding it
            found.score[v] = base + sum[v].value;
            found.allowed[v] = sum[v].error + found.score[v] * rounding / (1 - std::fmin(rounding, 0.5));
        }
    }
    return found;
}

/// How scores differ from the oracle's.
struct PageRankDifference {
    double largest = 0;  ///< of all, relative to the oracle's score
    std::string complaint;  ///< the first score that rounding does not explain
};

inline PageRankDifference difference_from(const PageRankOracle& oracle, const float* score) {
    PageRankDifference found;
    for (uint64_t v = 0; v < oracle.score.size(); ++v) {
        const double expected = oracle.score[v], difference = std::fabs(score[v] - expected);
        found.largest = std::fmax(found.largest, difference / expected);
        if (!(difference <= oracle.allowed[v]) && found.complaint.empty())
            found.complaint = "the score of vertex " + std::to_string(v) + " differs from the oracle's by " +
                              std::to_string(difference / expected) + " of its value, rounding explains " +
                              std::to_string(oracle.allowed[v] / expected);
    }
    return found;
}

}  // namespace tessera::workloads
