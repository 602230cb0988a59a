// masked_hierarchy.h - L1D, L2 and L3 of up to 64 layouts, shared by programs and page walkers.
//
// Rule: L1D is referenced; L2 only in the lanes that missed L1D; L3 only in those that missed L2. A level that misses takes
// the line in as its most recent. No inclusion, no back-invalidation; lines have no dirty bit
// (write-backs are the clock's).
// Where walkers do not pollute (an ablation) there are two hierarchies: walker loads are served by `mixed`, which everything
// enters; the program by `clean`, which walker loads never enter.
#pragma once

#include "engine/lanes/masked_cache.h"

namespace tessera::sim::lanes::TESSERA_ISA {

struct HierarchyConfig {
    CacheShape l1d, l2, l3;
    bool walker_pollutes;
};

/// Lanes that missed each level: each a subset of the one before.
struct LevelMasks {
    uint64_t l1d_missed, l2_missed, l3_missed;
};

class MaskedLevels {
public:
    explicit MaskedLevels(const HierarchyConfig& config) : l1d_(config.l1d), l2_(config.l2), l3_(config.l3) {}

    LANES_INLINE_MEMBER LevelMasks reference(uint64_t line, uint64_t lanes) {
        const uint8_t name = name_of(line);
        const uint64_t missed = l1d_.reference(line, name, lanes);
        if (missed == 0) return {0, 0, 0};
        return below_l1d(line, name, missed);
    }
    /// pre: l1d_missed is not 0.
    __attribute__((noinline)) LevelMasks below_l1d(uint64_t line, uint8_t name, uint64_t l1d_missed) {
        fetches_left_ = fetches_a_miss;
        LevelMasks masks{l1d_missed, l2_.reference(line, name, l1d_missed), 0};
        if (masks.l2_missed != 0) masks.l3_missed = l3_.reference<may_be_sliced>(line, name, masks.l2_missed);
        return masks;
    }

    /// See MaskedHierarchy. Nothing while L1D serves everything: an L1D miss pays for the next few hundred.
    LANES_INLINE_MEMBER void fetch_heads(uint64_t line) {
        if (fetches_left_ == 0) return;
        --fetches_left_;
        __builtin_prefetch(&l2_.set_of(line), 1), __builtin_prefetch(&l3_.set_of<may_be_sliced>(line), 1);
    }
    LANES_INLINE_MEMBER void fetch_entries(uint64_t line) const {
        if (fetches_left_ == 0) return;
        const uint8_t name = name_of(line);
        MaskedCache::fetch_entries(l2_.set_of(line), name), MaskedCache::fetch_entries(l3_.set_of<may_be_sliced>(line), name);
    }

    const MaskedCache& level(unsigned l) const { return l == 0 ? l1d_ : l == 1 ? l2_ : l3_; }

private:
    static constexpr unsigned fetches_a_miss = 256;

    MaskedCache l1d_, l2_, l3_;
    unsigned fetches_left_ = 0;
};

/// Lines are physical line numbers (address / 64). An empty `lanes` is not referenced at all.
class MaskedHierarchy {
public:
    explicit MaskedHierarchy(const HierarchyConfig& config)
        : mixed_(config), clean_(config.walker_pollutes ? nullptr : new MaskedLevels(config)) {}
    MaskedHierarchy(const MaskedHierarchy&) = delete;
    MaskedHierarchy& operator=(const MaskedHierarchy&) = delete;
    ~MaskedHierarchy() { delete clean_; }

    LANES_INLINE_MEMBER LevelMasks program(uint64_t line, uint64_t lanes) {
        const LevelMasks masks = mixed_.reference(line, lanes);
        return clean_ == nullptr ? masks : clean_->reference(line, lanes);
    }
    LANES_INLINE_MEMBER LevelMasks walker(uint64_t line, uint64_t lanes) { return mixed_.reference(line, lanes); }
    LANES_INLINE_MEMBER LevelMasks prefetch_l1d(uint64_t line, uint64_t lanes) { return program(line, lanes); }
    /// L1D is left alone: it counts as missed in all lanes.
    LANES_INLINE_MEMBER LevelMasks prefetch_l2(uint64_t line, uint64_t lanes) {
        const uint8_t name = name_of(line);
        const LevelMasks masks = mixed_.below_l1d(line, name, lanes);
        return clean_ == nullptr ? masks : clean_->below_l1d(line, name, lanes);
    }

    /// Host prefetches, which change no simulated state: the heads of the line's sets some 30 accesses before it is referenced, what
    /// is read and written behind them some 15 before.
    LANES_INLINE_MEMBER void fetch_heads(uint64_t line) { mixed_.fetch_heads(line); }
    LANES_INLINE_MEMBER void fetch_entries(uint64_t line) const { mixed_.fetch_entries(line); }

    const MaskedLevels& mixed() const { return mixed_; }

private:
    MaskedLevels mixed_;
    MaskedLevels* clean_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
