#include "core/range_set.h"

#include <cstring>

namespace mosalloc {

void RangeSet::init(Range* storage, size_t capacity) {
    ranges_ = storage;
    capacity_ = capacity;
    count_ = 0;
}

size_t RangeSet::first_ending_after(uint64_t offset) const {
    size_t low = 0, high = count_;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranges_[middle].end > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

void RangeSet::replace(size_t from, size_t to, const Range* with, size_t with_count) {
    memmove(ranges_ + from + with_count, ranges_ + to, (count_ - to) * sizeof(Range));
    for (size_t i = 0; i < with_count; ++i) ranges_[from + i] = with[i];
    count_ = count_ - (to - from) + with_count;
}

void RangeSet::take(Range range) {
    const size_t from = first_ending_after(range.start);
    size_t to = from;
    while (to < count_ && ranges_[to].start < range.end) ++to;
    if (from == to) return;
    Range rest[2];
    size_t rests = 0;
    if (ranges_[from].start < range.start) rest[rests++] = {ranges_[from].start, range.start};
    if (ranges_[to - 1].end > range.end) rest[rests++] = {range.end, ranges_[to - 1].end};
    replace(from, to, rest, rests);
}

void RangeSet::give(Range range) {
    if (range.empty()) return;
    // A range that ends exactly at the start touches the new range, so search from one byte below.
    const size_t from = first_ending_after(range.start == 0 ? 0 : range.start - 1);
    size_t to = from;
    while (to < count_ && ranges_[to].start <= range.end) ++to;
    if (from != to) {
        if (ranges_[from].start < range.start) range.start = ranges_[from].start;
        if (ranges_[to - 1].end > range.end) range.end = ranges_[to - 1].end;
    }
    replace(from, to, &range, 1);
}

bool RangeSet::is_taken(Range range) const {
    const size_t i = first_ending_after(range.start);
    return i == count_ || ranges_[i].start >= range.end;
}

uint64_t RangeSet::bytes_in(Range range) const {
    uint64_t bytes = 0;
    for (size_t i = first_ending_after(range.start); i < count_ && ranges_[i].start < range.end; ++i)
        bytes += ranges_[i].clip(range).bytes();
    return bytes;
}

}  // namespace mosalloc
