// first_level.h - a first-level TLB array of all layouts, with a filter for references that change nothing.
//
// A page that was the last to be referenced in its set is hit in every lane that refers to it, and touching the entry touched
// last changes nothing under LRU and tree-PLRU (under SRRIP from the third time on). Consecutive references to one page
// are the commonest case.
#pragma once

#include "engine/lanes/lane_array.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LaneFirstLevel {
public:
    explicit LaneFirstLevel(const ArrayShape& shape)
        : array_(shape), last_(shape.sets), once_(shape.replacement == Replacement::srrip ? 1u << 31 : 0) {}

    bool wide() const { return array_.wide(); }

    /// Returns the lanes that missed.
    LANES_INLINE_MEMBER uint64_t reference(uint64_t page, uint32_t item, uint64_t lanes) {
        const uint32_t set = array_.index()(page);
        uint32_t& last = last_[set];
        if (last == item) return 0;
        last = last == (item | once_) ? item : item | once_;
        return array_.reference(item, set, lanes);
    }

    /// Arrays of the most common shapes have a specialised loop.
    static constexpr unsigned plain_ways = 4;
    bool is_plain() const { return array_.is_plain() && array_.ways() == plain_ways; }
    struct View {
        LaneArray::View array;
        uint32_t* last;
        /// As reference(); `found` is false, and nothing has happened, where LaneArray::View finds no place. pre: is_plain().
        LANES_INLINE_MEMBER uint64_t reference(uint64_t page, uint32_t item, uint64_t lanes, uint8_t* guess, bool& found) const {
            const uint32_t set = uint32_t(page & array.set_mask);
            found = true;
            if (last[set] == item) return 0;
            const uint64_t missed = array.reference<plain_ways>(item, set, lanes, guess, found);
            if (__builtin_expect(found, 1)) last[set] = item;
            return missed;
        }
    };
    View view() { return {array_.view(), last_.data()}; }

private:
    LaneArray array_;
    Array<uint32_t> last_;  ///< [set]: the item referenced last
    uint32_t once_;         ///< under SRRIP, set in `last_` until the item has been referenced twice
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
