// hierarchy.h - L1D, L2 and L3 as an oracle sees them: sets of std::list, most recently used first.
//
// Models: true LRU at each level, set index = line number modulo the number of sets (12288 sets are fine), lines
// of 64 bytes, allocate on read and write. Recency is global: every reference refreshes its line at all three
// levels, also when L1 serves it, so that each level holds the lines of its sets that the program and the
// walker used last. Where a level's sets refine the level above and it has no fewer ways (all three paper platforms)
// the hierarchy is inclusive by construction, without back-invalidations. README.md says why this rule was
// chosen. Not modelled: prefetchers, write-back traffic, other cores, slices and their address hash.
#pragma once

#include <algorithm>
#include <list>
#include <vector>

#include "base/platform.h"
#include "base/types.h"

namespace tessera::sim {

enum class MemoryLevel : uint8_t { l1d = 0, l2 = 1, l3 = 2, dram = 3 };

class CacheLevel {
public:
    explicit CacheLevel(const CacheGeometry& geometry) : ways_(geometry.ways), sets_(geometry.sets()) {}

    /// True when present; the line is then (or was filled as) the most recently used of its set.
    bool reference(LineNumber line) {
        auto& set = sets_[line.value % sets_.size()];
        const auto entry = std::find(set.begin(), set.end(), line);
        if (entry != set.end()) {
            set.splice(set.begin(), set, entry);
            return true;
        }
        set.push_front(line);
        if (set.size() > ways_) set.pop_back();
        return false;
    }

private:
    uint64_t ways_;
    std::vector<std::list<LineNumber>> sets_;
};

class Hierarchy {
public:
    explicit Hierarchy(const Platform& p) : l1d_(p.l1d), l2_(p.l2), l3_(p.l3) {}

    /// The level that serves this reference: the first that holds the line.
    MemoryLevel reference(LineNumber line) {
        const bool in_l1d = l1d_.reference(line), in_l2 = l2_.reference(line), in_l3 = l3_.reference(line);
        return in_l1d ? MemoryLevel::l1d : in_l2 ? MemoryLevel::l2 : in_l3 ? MemoryLevel::l3 : MemoryLevel::dram;
    }

private:
    CacheLevel l1d_, l2_, l3_;
};

inline Cycles load_cycles(const Platform& p, MemoryLevel level) {
    switch (level) {
        case MemoryLevel::l1d: return Cycles(p.l1d.load_cycles);
        case MemoryLevel::l2: return Cycles(p.l2.load_cycles);
        case MemoryLevel::l3: return Cycles(p.l3.load_cycles);
        case MemoryLevel::dram: break;
    }
    return Cycles(p.memory_load_cycles);
}

}  // namespace tessera::sim
