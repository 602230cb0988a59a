// hierarchy.h - L1D, L2 and L3 of one layout, of any kind of cache: the oracle's (cache_level.h) or flat ones (engine/any_design/flat_cache.h).
//
// A reference reaches a level only if it missed the level above. If it misses here too, the level takes the line in, on reads and
// writes. No level includes or excludes another, and there is no back-invalidation. Lines have no dirty bit: write-backs are the clock's
// business (R only). Not modelled: other cores.
//
// A Cache has, for 64-byte lines:
//   Cache(CacheGeometry, Platform, slices)   slices as in slice_hash.h; 0: the set is the line modulo the number of sets (12288 are fine)
//   reference(line, holds, by)               true if present, as a hit; else the line is filled
//   fill(line, holds, by)                    the same, and it is what the line holds from now on
//   holds(LineNumber)                        changes nothing
//   watch(MemoryLevel, EvictionWatcher)      pre: it is empty
// What leaves a full set is the choice of the policy cache.*.replacement (replacement/replacement.h).
#pragma once

#include <memory>

#include "cache/eviction_watcher.h"

namespace tessera::sim {

/// The one for which a line is asked, which replacement policies may look at (LineReference).
struct Instruction {
    uint64_t pc = 0;
    bool is_store = false;
};
inline LineReference reference_of(LineNumber line, LineClass holds, const Instruction& by) { return {line, holds, by.is_store, by.pc}; }

template <class Cache>
class CacheLevels {
public:
    /// watcher: null: nobody is told of evictions.
    explicit CacheLevels(const Platform& p, EvictionWatcher* watcher = nullptr)
        : l1d_(p.l1d, p, 0), l2_(p.l2, p, 0), l3_(p.l3, p, p.l3_slices) {
        if (watcher == nullptr) return;
        for (const MemoryLevel level : {MemoryLevel::l1d, MemoryLevel::l2, MemoryLevel::l3}) of(level).watch(level, *watcher);
    }

    /// The level that serves a load or store.
    MemoryLevel reference(LineNumber line, LineClass holds = LineClass::data, const Instruction& by = {}) {
        return l1d_.reference(line, holds, by) ? MemoryLevel::l1d : reference_below_l1d(line, holds, by);
    }
    /// The level that serves a prefetch into L2.
    MemoryLevel reference_below_l1d(LineNumber line, LineClass holds = LineClass::data, const Instruction& by = {}) {
        return l2_.reference(line, holds, by) ? MemoryLevel::l2 : reference_l3(line, holds, by);
    }
    /// The level that serves a walker beside L3.
    MemoryLevel reference_l3(LineNumber line, LineClass holds = LineClass::data, const Instruction& by = {}) {
        return l3_.reference(line, holds, by) ? MemoryLevel::l3 : MemoryLevel::dram;
    }

    /// One level alone. pre: level is a cache.
    bool holds(MemoryLevel level, LineNumber line) const { return of(level).holds(line); }
    void fill(MemoryLevel level, LineNumber line, LineClass holds, const Instruction& by = {}) { of(level).fill(line, holds, by); }

    /// Host prefetches of sets, where a Cache has them: those of L2 and L3, as an L1D's are always near.
    void fetch_sets(LineNumber line) const {
        l2_.fetch_set(line);
        l3_.fetch_set(line);
    }
    void fetch_sets_unless_in_l1d(LineNumber line) const {
        if constexpr (requires { l2_.fetch_set(line); })
            if (!l1d_.holds(line)) fetch_sets(line);
    }

private:
    Cache& of(MemoryLevel level) { return level == MemoryLevel::l1d ? l1d_ : level == MemoryLevel::l2 ? l2_ : l3_; }
    const Cache& of(MemoryLevel level) const { return level == MemoryLevel::l1d ? l1d_ : level == MemoryLevel::l2 ? l2_ : l3_; }

    Cache l1d_, l2_, l3_;
};

/// The caches of walker and program. With walker.pollutes = 0 there is a second hierarchy without walker loads, which
/// serves the program. The walker still uses the hierarchy with both kinds of loads, so that C does not change; that one is watched.
template <class Cache>
class DataCaches {
public:
    explicit DataCaches(const Platform& p, EvictionWatcher* watcher = nullptr)
        : mixed_(p, watcher), clean_(p.walker_pollutes != 0 ? nullptr : std::make_unique<CacheLevels<Cache>>(p)) {}

    MemoryLevel walker(LineNumber line, const Instruction& by = {}) { return mixed_.reference(line, LineClass::page_table, by); }
    MemoryLevel walker_beside_l3(LineNumber line, const Instruction& by = {}) {
        return mixed_.reference_l3(line, LineClass::page_table, by);
    }
    /// Lines that translation hardware asks for or brings: like its loads, where both kinds of loads are.
    bool holds(MemoryLevel level, LineNumber line) const { return mixed_.holds(level, line); }
    void fill(MemoryLevel level, LineNumber line, const Instruction& by = {}) { mixed_.fill(level, line, LineClass::tlb_block, by); }
    MemoryLevel program(LineNumber line, const Instruction& by = {}) {
        const MemoryLevel level = mixed_.reference(line, LineClass::data, by);
        return clean_ == nullptr ? level : clean_->reference(line, LineClass::data, by);
    }
    MemoryLevel prefetch_into_l1d(LineNumber line, const Instruction& by = {}) { return program(line, by); }
    MemoryLevel prefetch_into_l2(LineNumber line, const Instruction& by = {}) {
        const MemoryLevel level = mixed_.reference_below_l1d(line, LineClass::data, by);
        return clean_ == nullptr ? level : clean_->reference_below_l1d(line, LineClass::data, by);
    }

    const CacheLevels<Cache>& mixed() const { return mixed_; }

private:
    CacheLevels<Cache> mixed_;
    std::unique_ptr<CacheLevels<Cache>> clean_;
};

}  // namespace tessera::sim
