// base.h - page sizes, ranges and rounding, used by everything above.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mosalloc {

constexpr uint64_t kPage4K = 4096;
constexpr uint64_t kPage2M = 2ull << 20;
constexpr uint64_t kPage1G = 1ull << 30;

/// Bytes [start, end) of a pool (offsets) or of the address space (addresses).
struct Range {
    uint64_t start = 0;
    uint64_t end = 0;

    uint64_t bytes() const { return end - start; }
    bool empty() const { return end <= start; }
    bool contains(const Range& o) const { return start <= o.start && o.end <= end; }
    bool overlaps(const Range& o) const { return start < o.end && o.start < end; }
    Range clip(const Range& o) const { return {start > o.start ? start : o.start, end < o.end ? end : o.end}; }
};

constexpr uint64_t align_down(uint64_t value, uint64_t unit) { return value / unit * unit; }
constexpr uint64_t align_up(uint64_t value, uint64_t unit) { return align_down(value + unit - 1, unit); }

}  // namespace mosalloc
