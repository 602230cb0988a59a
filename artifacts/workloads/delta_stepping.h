// delta_stepping.h - the kernel of sssp: shortest paths from one source by delta-stepping.
//
// Meyer, Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (J. Algorithms 49(1), 2003), with the
// bins of the GAP Benchmark Suite (arXiv:1508.03619): vertices whose distance fell are put into the bin of
// distance / delta and stay in their old bin too (lazily; an entry that is no longer due is skipped); light and
// heavy edges are not told apart; the lowest bin is copied into a frontier array and relaxed, again as long as
// it refills. (The suite's bucket fusion saves barriers of threads and changes nothing for one.)
// Bins are lists of fixed chunks in one array, prefaulted, where GAPBS has a growing vector a bin: a growing
// vector would fault pages inside the region of interest.
// Not modelled: threads, atomic minimum.
#pragma once

#include <cstdint>
#include <string>

#include "common/anonymous_array.h"
#include "common/csr.h"
#include "common/error.h"
#include "common/measure.h"

namespace tessera::workloads {

inline constexpr int32_t kUnreachable = INT32_MAX / 2;  // plus a weight, at most as large, it fits 32 bits

/// Bins of vertices over one pool of chunks. Invariant: a bin's last chunk has room, or the bin has none.
class Bins {
public:
    static constexpr uint64_t kChunkEntries = 1024, kBins = uint64_t{1} << 18;
    static constexpr uint32_t kNone = UINT32_MAX;

    /// Room for `entries` at a time, besides one chunk begun in each of some thousand bins.
    explicit Bins(uint64_t entries)
        : chunks_(entries / kChunkEntries + 4096),
          entry_("bin entries", chunks_ * kChunkEntries),
          below_("chunk links", chunks_),
          top_("bins", kBins),
          filled_("bins' fill", kBins) {
        entry_.prefault();
        top_.fill(kNone);
        filled_.prefault();
        for (uint64_t i = 0; i < chunks_; ++i) below_[i] = static_cast<uint32_t>(i + 1 < chunks_ ? i + 1 : kNone);
    }

    void push(uint64_t bin, int32_t vertex) {
        if (bin >= kBins) refuse("distances need more than " + std::to_string(kBins) + " bins", "choose a larger --delta");
        if (top_[bin] == kNone || filled_[bin] == kChunkEntries) begin_chunk(bin);
        entry_[top_[bin] * kChunkEntries + filled_[bin]++] = vertex;
        if (bin > highest_) highest_ = bin;
    }

    bool empty(uint64_t bin) const { return top_[bin] == kNone; }

    /// The first bin at or after `bin` that holds something; kBins if there is none.
    uint64_t next(uint64_t bin) const {
        for (; bin <= highest_; ++bin)
            if (!empty(bin)) return bin;
        return kBins;
    }

    /// Moves a bin's entries to `out` and gives its chunks back. Returns their number.
    uint64_t take(uint64_t bin, int32_t* out) {
        uint64_t count = 0;
        for (uint32_t chunk = top_[bin]; chunk != kNone;) {
            const uint64_t entries = chunk == top_[bin] ? filled_[bin] : kChunkEntries;
            for (uint64_t i = 0; i < entries; ++i) out[count++] = entry_[chunk * kChunkEntries + i];
            const uint32_t under = below_[chunk];
            below_[chunk] = free_;
            free_ = chunk;
            chunk = under;
        }
        top_[bin] = kNone;
        return count;
    }

    uint64_t capacity() const { return chunks_ * kChunkEntries; }  ///< no bin holds more
    uint64_t bytes() const { return entry_.bytes() + below_.bytes() + top_.bytes() + filled_.bytes(); }

private:
    [[noreturn]] static void refuse(const std::string& found, const std::string& remedy) { throw Error("sssp: bins", found, remedy); }

    void begin_chunk(uint64_t bin) {
        if (free_ == kNone) refuse("all " + std::to_string(capacity()) + " entries are in use", "choose another --delta");
        const uint32_t chunk = free_;
        free_ = below_[chunk];
        below_[chunk] = top_[bin];
        top_[bin] = chunk;
        filled_[bin] = 0;
    }

    uint64_t chunks_;
    AnonymousArray<int32_t> entry_;
    AnonymousArray<uint32_t> below_;   ///< next chunk of the same bin, or of the free list
    AnonymousArray<uint32_t> top_;     ///< chunk being filled, kNone if the bin is empty
    AnonymousArray<uint32_t> filled_;  ///< entries in it
    uint32_t free_ = 0;
    uint64_t highest_ = 0;
};

namespace detail {

inline void relax(const Csr<WeightedVertex>& graph, int32_t u, int32_t delta, int32_t* distance, Bins& bins) {
    for (uint64_t e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
        const WeightedVertex to = graph.targets[e];
        const int32_t candidate = distance[u] + to.weight;
        if (candidate >= distance[to.vertex]) continue;
        distance[to.vertex] = candidate;
        bins.push(static_cast<uint64_t>(candidate / delta), to.vertex);
    }
}

}  // namespace detail

/// `distance` gets kUnreachable where no path leads; `frontier` has room for bins.capacity(). Returns entries relaxed.
TESSERA_KERNEL inline uint64_t delta_stepping(const Csr<WeightedVertex>& graph, int32_t source, int32_t delta, int32_t* distance,
                                              int32_t* frontier, Bins& bins) {
    const uint64_t vertices = graph.vertices();
    for (uint64_t v = 0; v < vertices; ++v) distance[v] = kUnreachable;
    distance[source] = 0;
    bins.push(0, source);
    uint64_t relaxed = 0;
    for (uint64_t bin = 0; (bin = bins.next(bin)) != Bins::kBins;) {
        const int64_t due = static_cast<int64_t>(bin) * delta;  // an entry below was relaxed from a lower bin
        const uint64_t count = bins.take(bin, frontier);
        for (uint64_t i = 0; i < count; ++i) {
            if (distance[frontier[i]] < due) continue;
            detail::relax(graph, frontier[i], delta, distance, bins);
            ++relaxed;
        }
    }
    return relaxed;
}

}  // namespace tessera::workloads
