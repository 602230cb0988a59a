// flat_cache.h - the caches of cache/hierarchy.h in flat arrays: the same rules, a few nanoseconds a reference.
//
// A set is its lines in recency order, most recent first; empty ways hold a line number that no address has. Move to
// front shifts at most `ways` values, and most references find their line in front. Where it is else cannot be predicted, so sets of
// eight ways (L1D and L2 of most processors) are moved without branches.
#pragma once

#include <algorithm>
#include <vector>

#include "base/remainder.h"
#include "cache/memory_level.h"
#include "cache/slice_hash.h"

namespace tessera::sim::scalar {

class FlatCache {
public:
    /// slices 0: no hash.
    explicit FlatCache(const CacheGeometry& g, uint64_t slices = 0)
        : ways_(g.ways),
          slices_(slices),
          sets_of_a_slice_(g.sets() / std::max<uint64_t>(slices, 1)),
          modulo_(sets_of_a_slice_),
          lines_(g.sets() * g.ways, nothing) {}

    /// True when present; the line is then (or was filled as) the most recently used of its set.
    bool reference(LineNumber line) {
        uint64_t* const first = &lines_[set_of(line.value) * ways_];
        if (*first == line.value) return true;
        if (ways_ == 8) return move_to_front<8>(first, line.value);
        uint64_t* const end = first + ways_;
        uint64_t* const found = std::find(first + 1, end, line.value);
        const bool hit = found != end;
        std::copy_backward(first, hit ? found : end - 1, hit ? found + 1 : end);
        *first = line.value;
        return hit;
    }

    bool holds(LineNumber line) const {
        const uint64_t* const first = &lines_[set_of(line.value) * ways_];
        return std::find(first, first + ways_, line.value) != first + ways_;
    }

    /// Brings the line's set towards this processor; changes nothing.
    void fetch_set(LineNumber line) const {
        const uint64_t* const first = &lines_[set_of(line.value) * ways_];
        for (uint64_t way = 0; way < ways_; way += 8) __builtin_prefetch(first + way);
    }

private:
    static constexpr uint64_t nothing = ~uint64_t{0};

    /// pre: the line is not in front. True if it was behind, else the last one leaves.
    template <size_t ways>
    static bool move_to_front(uint64_t* lines, uint64_t line) {
        uint64_t before = lines[0];
        bool passed = false;
        lines[0] = line;
#pragma GCC unroll 8
        for (size_t way = 1; way < ways; ++way) {
            const uint64_t here = lines[way];
            lines[way] = passed ? here : before;
            passed |= here == line;
            before = here;
        }
        return passed;
    }
    uint64_t set_of(uint64_t line) const { return slices_ == 0 ? modulo_(line) : sliced_set(line, slices_, sets_of_a_slice_, modulo_); }

    uint64_t ways_, slices_, sets_of_a_slice_;
    Remainder modulo_;
    std::vector<uint64_t> lines_;
};

class FlatHierarchy {
public:
    explicit FlatHierarchy(const Platform& p) : l1d_(p.l1d), l2_(p.l2), l3_(p.l3, p.l3_slices) {}
    MemoryLevel reference(LineNumber line) { return l1d_.reference(line) ? MemoryLevel::l1d : reference_below_l1d(line); }
    MemoryLevel reference_below_l1d(LineNumber line) {
        if (l2_.reference(line)) return MemoryLevel::l2;
        return reference_l3(line);
    }
    MemoryLevel reference_l3(LineNumber line) { return l3_.reference(line) ? MemoryLevel::l3 : MemoryLevel::dram; }

    /// One level alone. pre: level is a cache.
    bool holds(MemoryLevel level, LineNumber line) const {
        return (level == MemoryLevel::l1d ? l1d_ : level == MemoryLevel::l2 ? l2_ : l3_).holds(line);
    }
    void fill(MemoryLevel level, LineNumber line) {
        (level == MemoryLevel::l1d ? l1d_ : level == MemoryLevel::l2 ? l2_ : l3_).reference(line);
    }

    /// Of L2 and L3; an L1D's sets are always near.
    void fetch_sets(LineNumber line) const {
        l2_.fetch_set(line);
        l3_.fetch_set(line);
    }
    void fetch_sets_unless_in_l1d(LineNumber line) const {
        if (!l1d_.holds(line)) fetch_sets(line);
    }

private:
    FlatCache l1d_, l2_, l3_;
};

}  // namespace tessera::sim::scalar
