// range_array.h - the ranges that a redundant memory mapping holds in hardware: fully associative, LRU.
//
// Ranges are disjoint: one that enters replaces those that it overlaps. So at most one holds a page, and the array is kept sorted by
// first page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::sim {

class RangeArray {
public:
    /// 0: it never hits.
    explicit RangeArray(size_t most) : most_(most) {}

    /// True if a range holds the page; it is then the most recent one.
    bool lookup(uint64_t page) {
        const size_t at = behind(page);
        if (at == 0 || page >= ranges_[at - 1].end) return false;
        ranges_[at - 1].used = ++now_;
        return true;
    }

    /// Drops the ranges that overlap these pages.
    void forget(uint64_t begin, uint64_t end) {
        size_t from = behind(begin);
        if (from > 0 && ranges_[from - 1].end > begin) --from;
        size_t to = from;
        while (to < ranges_.size() && ranges_[to].begin < end) ++to;
        ranges_.erase(ranges_.begin() + long(from), ranges_.begin() + long(to));
    }

    /// The range enters as the most recent one; if the array is full, the least recent one leaves.
    void enter(uint64_t begin, uint64_t end) {
        if (most_ == 0) return;
        size_t at = behind(begin);
        if ((at > 0 && ranges_[at - 1].end > begin) || (at < ranges_.size() && ranges_[at].begin < end)) {
            forget(begin, end);
            at = behind(begin);
        }
        size_t from = ranges_.size();  // the place that becomes free
        if (from < most_) ranges_.emplace_back();
        else from = oldest();
        if (from < at) --at;
        // The ranges between the two places move by one.
        Range* const first = ranges_.data();
        if (from < at) std::copy(first + from + 1, first + at + 1, first + from);
        else std::copy_backward(first + at, first + from, first + from + 1);
        first[at] = {begin, end, ++now_};
    }

private:
    struct Range {
        uint64_t begin, end;  ///< pages of 4KB
        uint64_t used;        ///< when
    };
    static constexpr size_t few = 64;  ///< so many are counted without branches, which could not be predicted

    /// How many ranges begin at or before the page.
    size_t behind(uint64_t page) const {
        if (ranges_.size() > few) {
            const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), page, [](uint64_t p, const Range& r) { return p < r.begin; });
            return size_t(after - ranges_.begin());
        }
        size_t count = 0;
        for (const Range& range : ranges_) count += range.begin <= page;
        return count;
    }
    size_t oldest() const {
        size_t found = 0;
        uint64_t when = ranges_[0].used;
        for (size_t i = 1; i < ranges_.size(); ++i) {
            const bool older = ranges_[i].used < when;
            found = older ? i : found;
            when = older ? ranges_[i].used : when;
        }
        return found;
    }

    size_t most_;
    uint64_t now_ = 0;
    std::vector<Range> ranges_;  ///< sorted by page
};

}  // namespace tessera::sim
