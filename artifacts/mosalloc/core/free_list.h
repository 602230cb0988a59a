// free_list.h - which parts of a pool are free: a sorted array of disjoint ranges that never touch each other
// (touching ranges are merged, so coalescing is an invariant and not a pass). First fit = lowest address.
//
// `give` and `take` are set union and set difference. They are defined for ranges that are free or taken already, because
// munmap and MAP_FIXED are.
#pragma once

#include "core/base.h"

namespace mosalloc {

class FreeList {
public:
    /// `storage` outlives the list. Everything in [0, bytes) is free at first.
    void init(Range* storage, size_t capacity, uint64_t bytes);

    /// Takes the lowest free range of `bytes`; false when there is none.
    bool take_first_fit(uint64_t bytes, uint64_t* start);
    void take(Range range);
    void give(Range range);

    bool is_free(Range range) const;
    bool is_taken(Range range) const;
    /// One `give` or `take` adds at most one range; callers ask before they change anything.
    bool has_room() const { return count_ < capacity_; }
    size_t count() const { return count_; }
    uint64_t free_bytes() const { return free_bytes_; }
    const Range& at(size_t i) const { return ranges_[i]; }

private:
    /// Index of the first range whose end is above `offset`.
    size_t first_ending_after(uint64_t offset) const;
    void replace(size_t from, size_t to, const Range* with, size_t with_count);

    Range* ranges_ = nullptr;
    size_t capacity_ = 0;
    size_t count_ = 0;
    uint64_t free_bytes_ = 0;
};

}  // namespace mosalloc
