// sources.h - the vertices that searches start from: distinct, drawn evenly among those with an outgoing edge.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/csr.h"
#include "common/error.h"
#include "common/rng.h"

namespace tessera::workloads {

template <class Entry>
std::vector<int32_t> choose_sources(const std::string& program, const Csr<Entry>& outgoing, uint64_t count, uint64_t seed) {
    std::vector<int32_t> sources;
    const uint64_t draws = 64 * outgoing.vertices();  // enough unless almost every vertex is isolated
    for (uint64_t k = 0; k < draws && sources.size() < count; ++k) {
        const auto v = static_cast<int32_t>(below(mix64(~seed, k), outgoing.vertices()));
        if (outgoing.degree(v) > 0 && std::ranges::find(sources, v) == sources.end()) sources.push_back(v);
    }
    if (sources.size() < count)
        throw Error(program + ": --sources " + std::to_string(count),
                    "the graph has only " + std::to_string(sources.size()) + " vertices with an outgoing edge",
                    "choose fewer sources or a larger graph");
    return sources;
}

}  // namespace tessera::workloads
