// flat_cache.h - the caches of cache/hierarchy.h in flat arrays: the same rules, a few nanoseconds a reference.
//
// Under LRU, sets are those of lru_lines.h. Under another policy, or where a design watches evictions, lines stay in their ways, and the
// policy is called.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "base/remainder.h"
#include "cache/hierarchy.h"
#include "cache/slice_hash.h"
#include "engine/any_design/lru_lines.h"
#include "os/physical_map.h"

namespace tessera::sim::any_design {

/// A Cache of cache/hierarchy.h.
class FlatCache {
public:
    FlatCache(const CacheGeometry& g, const Platform& platform, uint64_t slices)
        : sets_(g.sets()),
          ways_(g.ways),
          slices_(slices),
          sets_of_a_slice_(sets_ / std::max<uint64_t>(slices, 1)),
          modulo_(sets_of_a_slice_),
          tag_shift_(std::min(int(std::bit_width(sets_of_a_slice_)) - 1, region_lines)),
          recent_(0, 1, 0),
          platform_(platform) {
        if (g.replacement == "lru" && ways_ <= LruLines::most_ways) recent_ = LruLines(sets_, ways_, line_bits - unsigned(tag_shift_));
        else keep_ways(g.replacement);
    }

    bool reference(LineNumber line, LineClass holds, const Instruction& by) {
        if (by_way_ != nullptr) [[unlikely]]
            return reference_by_way(line, holds, by);
        return recent_.use(set_of(line.value), tag_of(line.value));
    }
    void fill(LineNumber line, LineClass holds, const Instruction& by) {
        reference(line, holds, by);
        if (by_way_ == nullptr) return;
        const size_t first_place = set_of(line.value) * ways_;
        by_way_->held[first_place + by_way_->way_of(first_place, line.value, ways_)] = holds;
    }
    bool holds(LineNumber line) const {
        const size_t set = set_of(line.value);
        return by_way_ == nullptr ? recent_.holds(set, tag_of(line.value)) : by_way_->way_of(set * ways_, line.value, ways_) != ways_;
    }
    void watch(MemoryLevel level, EvictionWatcher& watcher) {
        if (by_way_ == nullptr) keep_ways("lru");
        by_way_->level = level, by_way_->watcher = &watcher;
    }

    /// Brings the line's set towards this processor; changes nothing.
    void fetch_set(LineNumber line) const {
        const size_t set = set_of(line.value);
        if (by_way_ == nullptr) return recent_.fetch(set);
        for (uint64_t way = 0; way < ways_; way += 8) __builtin_prefetch(&by_way_->lines[set * ways_ + way]);
    }

private:
    static constexpr uint64_t nothing = ~uint64_t{0};
    static constexpr int line_bits = 46, region_lines = 15;  ///< of a line's number; of its number in its 2MB region
    static_assert(physical::limit == uint64_t{1} << (line_bits + line_shift));

    struct ByWay {
        std::vector<uint64_t> lines;   ///< [set][way]
        std::vector<LineClass> held;   ///< [set][way]
        std::unique_ptr<Replacement> policy;
        MemoryLevel level = MemoryLevel::l1d;
        EvictionWatcher* watcher = nullptr;

        /// `ways` if none holds it.
        size_t way_of(size_t first_place, uint64_t line, size_t ways) const {
            const uint64_t* const first = &lines[first_place];
            return size_t(std::find(first, first + ways, line) - first);
        }
    };

    void keep_ways(const Chosen& replacement) {
        recent_ = LruLines(0, 1, 0);
        by_way_ = std::make_unique<ByWay>(std::vector<uint64_t>(sets_ * ways_, nothing), std::vector<LineClass>(sets_ * ways_),
                                          replacements().make(replacement, sets_, ways_, platform_));
    }
    __attribute__((noinline)) bool reference_by_way(LineNumber line, LineClass holds, const Instruction& instruction) {
        const LineReference by = reference_of(line, holds, instruction);
        const size_t set = set_of(line.value), first_place = set * ways_;
        ByWay& all = *by_way_;
        size_t way = all.way_of(first_place, line.value, ways_);
        if (way != ways_) {
            all.policy->hit(set, way, by);
            return true;
        }
        way = all.way_of(first_place, nothing, ways_);
        if (way == ways_) {
            way = all.policy->victim(set, by);
            if (all.watcher != nullptr)
                all.watcher->evicted(all.level, LineNumber(all.lines[first_place + way]), all.held[first_place + way]);
        }
        all.lines[first_place + way] = line.value;
        all.held[first_place + way] = holds;
        all.policy->fill(set, way, by);
        return false;
    }
    uint64_t set_of(uint64_t line) const { return slices_ == 0 ? modulo_(line) : sliced_set(line, slices_, sets_of_a_slice_, modulo_); }

    /// Lines of a set that have equal tags are equal: they differ by less than 2^tag_shift_ <= sets of a slice, and their remainders are equal.
    uint64_t tag_of(uint64_t line) const { return line >> tag_shift_; }

    uint64_t sets_, ways_, slices_, sets_of_a_slice_;
    Remainder modulo_;
    int tag_shift_;
    LruLines recent_;
    const Platform& platform_;
    std::unique_ptr<ByWay> by_way_;  ///< null: all lines are in recent_
};

using FlatHierarchy = CacheLevels<FlatCache>;

}  // namespace tessera::sim::any_design
