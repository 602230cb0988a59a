// hierarchy.h - L1D, L2 and L3 as an oracle sees them: sets of std::list, most recently used first.
//
// Models: true LRU at each level, set index = line number modulo the number of sets (12288 sets are fine), or in a sliced L3 what
// slice_hash.h says; 64-byte lines, allocation on reads and writes. A reference reaches a level only if it missed the level above. If it misses here too, the
// level inserts the line as its most recent one and drops its least recent one. No level includes or excludes another, and
// there is no back-invalidation. Lines have no dirty bit: write-backs are the clock's business (R only). Not modelled: other cores.
#pragma once

#include <algorithm>
#include <list>
#include <vector>

#include "cache/memory_level.h"
#include "cache/slice_hash.h"

namespace tessera::sim {

class CacheLevel {
public:
    /// slices 0: no hash.
    explicit CacheLevel(const CacheGeometry& geometry, uint64_t slices = 0)
        : ways_(geometry.ways), slices_(slices), sets_(geometry.sets()) {}

    /// True when present; the line is then (or was filled as) the most recently used of its set.
    bool reference(LineNumber line) {
        auto& set = sets_[set_of(line.value)];
        const auto entry = std::find(set.begin(), set.end(), line);
        if (entry != set.end()) {
            set.splice(set.begin(), set, entry);
            return true;
        }
        set.push_front(line);
        if (set.size() > ways_) set.pop_back();
        return false;
    }
    bool holds(LineNumber line) const {
        const auto& set = sets_[set_of(line.value)];
        return std::find(set.begin(), set.end(), line) != set.end();
    }

private:
    uint64_t set_of(uint64_t line) const {
        if (slices_ == 0) return line % sets_.size();
        const uint64_t of_a_slice = sets_.size() / slices_;
        return sliced_set(line, slices_, of_a_slice, [=](uint64_t number) { return number % of_a_slice; });
    }

    uint64_t ways_, slices_;
    std::vector<std::list<LineNumber>> sets_;
};

class Hierarchy {
public:
    explicit Hierarchy(const Platform& p) : l1d_(p.l1d), l2_(p.l2), l3_(p.l3, p.l3_slices) {}

    /// The level that serves a load or store.
    MemoryLevel reference(LineNumber line) { return l1d_.reference(line) ? MemoryLevel::l1d : reference_below_l1d(line); }
    /// The level that serves a prefetch into L2.
    MemoryLevel reference_below_l1d(LineNumber line) {
        if (l2_.reference(line)) return MemoryLevel::l2;
        return reference_l3(line);
    }
    /// The level that serves a walker beside L3.
    MemoryLevel reference_l3(LineNumber line) { return l3_.reference(line) ? MemoryLevel::l3 : MemoryLevel::dram; }

    /// One level alone. pre: level is a cache.
    bool holds(MemoryLevel level, LineNumber line) const {
        return (level == MemoryLevel::l1d ? l1d_ : level == MemoryLevel::l2 ? l2_ : l3_).holds(line);
    }
    void fill(MemoryLevel level, LineNumber line) {
        (level == MemoryLevel::l1d ? l1d_ : level == MemoryLevel::l2 ? l2_ : l3_).reference(line);
    }

private:
    CacheLevel l1d_, l2_, l3_;
};

/// The caches of walker and program. With walker.pollutes = 0 there is a second hierarchy without walker loads, which
/// serves the program. The walker still uses the hierarchy with both kinds of loads, so that C does not change.
class DataCaches {
public:
    explicit DataCaches(const Platform& p) : pollutes_(p.walker_pollutes != 0), mixed_(p), clean_(p) {}

    MemoryLevel walker(LineNumber line) { return mixed_.reference(line); }
    MemoryLevel walker_beside_l3(LineNumber line) { return mixed_.reference_l3(line); }
    /// Lines that translation hardware asks for or brings: like its loads, where both kinds of loads are.
    bool holds(MemoryLevel level, LineNumber line) const { return mixed_.holds(level, line); }
    void fill(MemoryLevel level, LineNumber line) { mixed_.fill(level, line); }
    MemoryLevel program(LineNumber line) {
        const MemoryLevel level = mixed_.reference(line);
        return pollutes_ ? level : clean_.reference(line);
    }
    MemoryLevel prefetch_into_l1d(LineNumber line) { return program(line); }
    MemoryLevel prefetch_into_l2(LineNumber line) {
        const MemoryLevel level = mixed_.reference_below_l1d(line);
        return pollutes_ ? level : clean_.reference_below_l1d(line);
    }

private:
    bool pollutes_;
    Hierarchy mixed_, clean_;
};

}  // namespace tessera::sim
