// range_set.h - a set of bytes as one sorted array of disjoint ranges that never touch each other (touching ranges are
// merged). Another process can read the array as it is. A change costs O(n): FreeList is the fast one.
//
// `give` and `take` are set union and set difference. They are defined for ranges that are free or taken already, because
// munmap and MAP_FIXED are.
#pragma once

#include "core/base.h"

namespace mosalloc {

class RangeSet {
public:
    /// `storage` outlives the set, which is empty at first.
    void init(Range* storage, size_t capacity);

    void give(Range range);
    void take(Range range);

    /// Whether no byte of `range` is in the set.
    bool is_taken(Range range) const;
    /// How many bytes of `range` are in the set.
    uint64_t bytes_in(Range range) const;
    /// One `give` or `take` adds at most one range; callers ask before they change anything.
    bool has_room() const { return count_ < capacity_; }
    size_t count() const { return count_; }
    const Range& at(size_t i) const { return ranges_[i]; }

private:
    /// Index of the first range whose end is above `offset`.
    size_t first_ending_after(uint64_t offset) const;
    void replace(size_t from, size_t to, const Range* with, size_t with_count);

    Range* ranges_ = nullptr;
    size_t capacity_ = 0;
    size_t count_ = 0;
};

}  // namespace mosalloc
