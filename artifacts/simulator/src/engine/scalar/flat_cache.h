// flat_cache.h - the caches of cache/hierarchy.h in flat arrays: the same rules, a few nanoseconds a reference.
//
// Under LRU, a set is its lines in recency order, most recent first; empty ways hold a line number that no address has. Move to
// front shifts at most `ways` values, and most references find their line in front. Where it is else cannot be predicted, so sets of
// eight ways (L1D and L2 of most processors) are moved without branches.
//
// Under another policy, or where a design watches evictions, lines stay in their ways, and the policy is called.
#pragma once

#include <algorithm>
#include <vector>

#include "base/remainder.h"
#include "cache/hierarchy.h"
#include "cache/slice_hash.h"

namespace tessera::sim::scalar {

/// A Cache of cache/hierarchy.h.
class FlatCache {
public:
    FlatCache(const CacheGeometry& g, const Platform& platform, uint64_t slices)
        : ways_(g.ways),
          slices_(slices),
          sets_of_a_slice_(g.sets() / std::max<uint64_t>(slices, 1)),
          modulo_(sets_of_a_slice_),
          lines_(g.sets() * g.ways, nothing),
          platform_(platform) {
        if (!(g.replacement == "lru")) keep_ways(g.replacement);
    }

    bool reference(LineNumber line, LineClass holds, const Instruction& by) {
        if (by_way_ != nullptr) [[unlikely]]
            return reference_by_way(line, holds, by);
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
    void fill(LineNumber line, LineClass holds, const Instruction& by) {
        reference(line, holds, by);
        if (by_way_ == nullptr) return;
        const size_t first_place = set_of(line.value) * ways_;
        by_way_->held[first_place + way_of(first_place, line.value)] = holds;
    }
    bool holds(LineNumber line) const {
        const size_t first_place = set_of(line.value) * ways_;
        return way_of(first_place, line.value) != ways_;
    }
    void watch(MemoryLevel level, EvictionWatcher& watcher) {
        if (by_way_ == nullptr) keep_ways("lru");
        by_way_->level = level, by_way_->watcher = &watcher;
    }

    /// Brings the line's set towards this processor; changes nothing.
    void fetch_set(LineNumber line) const {
        const uint64_t* const first = &lines_[set_of(line.value) * ways_];
        for (uint64_t way = 0; way < ways_; way += 8) __builtin_prefetch(first + way);
    }

private:
    static constexpr uint64_t nothing = ~uint64_t{0};

    struct ByWay {
        std::unique_ptr<Replacement> policy;
        std::vector<LineClass> held;  ///< [set][way]
        MemoryLevel level = MemoryLevel::l1d;
        EvictionWatcher* watcher = nullptr;
    };

    void keep_ways(const Chosen& replacement) {
        by_way_ = std::make_unique<ByWay>();
        by_way_->policy = replacements().make(replacement, lines_.size() / ways_, ways_, platform_);
        by_way_->held.resize(lines_.size());
    }
    size_t way_of(size_t first_place, uint64_t line) const {
        const uint64_t* const first = &lines_[first_place];
        return size_t(std::find(first, first + ways_, line) - first);
    }
    __attribute__((noinline)) bool reference_by_way(LineNumber line, LineClass holds, const Instruction& instruction) {
        const LineReference by = reference_of(line, holds, instruction);
        const size_t set = set_of(line.value), first_place = set * ways_;
        size_t way = way_of(first_place, line.value);
        if (way != ways_) {
            by_way_->policy->hit(set, way, by);
            return true;
        }
        way = way_of(first_place, nothing);
        if (way == ways_) {
            way = by_way_->policy->victim(set, by);
            if (by_way_->watcher != nullptr)
                by_way_->watcher->evicted(by_way_->level, LineNumber(lines_[first_place + way]), by_way_->held[first_place + way]);
        }
        lines_[first_place + way] = line.value;
        by_way_->held[first_place + way] = holds;
        by_way_->policy->fill(set, way, by);
        return false;
    }

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
    const Platform& platform_;
    std::unique_ptr<ByWay> by_way_;  ///< null: lines are in recency order
};

using FlatHierarchy = CacheLevels<FlatCache>;

}  // namespace tessera::sim::scalar
