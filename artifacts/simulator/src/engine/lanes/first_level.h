// first_level.h - a first-level TLB array of all layouts, behind a filter for what cannot change anything.
//
// A page that was the last to be referenced in its set is hit in every lane that refers to it, and touching the entry touched
// last changes nothing under LRU and tree-PLRU (under SRRIP from the third time on). Consecutive references to one page
// are the commonest case.
#pragma once

#include "engine/lanes/lane_array.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class FirstLevel {
public:
    explicit FirstLevel(const ArrayShape& shape)
        : array_(shape), last_(shape.sets), once_(shape.replacement == Replacement::srrip ? 1u << 31 : 0) {}

    /// True while reference<true>() may be called: the arrays of most processors.
    bool is_plain() const { return array_.is_plain_lru(4); }
    bool wide() const { return array_.wide(); }

    /// Returns the lanes that missed.
    template <bool plain>
    LANES_INLINE_MEMBER uint64_t reference(uint64_t page, uint32_t item, uint64_t lanes) {
        const uint32_t set = array_.index()(page);
        uint32_t& last = last_[set];
        if (last == item) return 0;
        if constexpr (plain) {
            last = item;
            return array_.lru_reference<4>(item, set, lanes);
        }
        last = last == (item | once_) ? item : item | once_;
        return array_.reference(item, set, lanes);
    }

private:
    LaneArray array_;
    Array<uint32_t> last_;  ///< [set]: the item referenced last
    uint32_t once_;         ///< under SRRIP, set in `last_` until the item has been referenced twice
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
