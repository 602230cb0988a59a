#include "core/free_list.h"

#include <cstring>

namespace mosalloc {

void FreeList::init(Range* storage, size_t capacity, uint64_t bytes) {
    ranges_ = storage;
    capacity_ = capacity;
    count_ = 0;
    free_bytes_ = bytes;
    if (bytes != 0) ranges_[count_++] = {0, bytes};
}

size_t FreeList::first_ending_after(uint64_t offset) const {
    size_t low = 0, high = count_;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranges_[middle].end > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

void FreeList::replace(size_t from, size_t to, const Range* with, size_t with_count) {
    for (size_t i = from; i < to; ++i) free_bytes_ -= ranges_[i].bytes();
    for (size_t i = 0; i < with_count; ++i) free_bytes_ += with[i].bytes();
    memmove(ranges_ + from + with_count, ranges_ + to, (count_ - to) * sizeof(Range));
    for (size_t i = 0; i < with_count; ++i) ranges_[from + i] = with[i];
    count_ = count_ - (to - from) + with_count;
}

bool FreeList::take_first_fit(uint64_t bytes, uint64_t* start) {
    for (size_t i = 0; i < count_; ++i) {
        if (ranges_[i].bytes() < bytes) continue;
        *start = ranges_[i].start;
        const Range rest{*start + bytes, ranges_[i].end};
        replace(i, i + 1, &rest, rest.empty() ? 0 : 1);
        return true;
    }
    return false;
}

void FreeList::take(Range range) {
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

void FreeList::give(Range range) {
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

bool FreeList::is_free(Range range) const {
    const size_t i = first_ending_after(range.start);
    return i < count_ && ranges_[i].contains(range);
}

bool FreeList::is_taken(Range range) const {
    const size_t i = first_ending_after(range.start);
    return i == count_ || ranges_[i].start >= range.end;
}

}  // namespace mosalloc
