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
        if (at == 0 || page >= ends_[at - 1]) return false;
        used_[at - 1] = ++now_;
        return true;
    }

    /// Drops the ranges that overlap these pages.
    void forget(uint64_t begin, uint64_t end) {
        size_t at = behind(begin);
        if (at > 0 && ends_[at - 1] > begin) --at;
        while (at < begins_.size() && begins_[at] < end) erase(at);
    }

    /// The range enters as the most recent one; if the array is full, the least recent one leaves.
    void enter(uint64_t begin, uint64_t end) {
        if (most_ == 0) return;
        size_t at = behind(begin);
        if ((at > 0 && ends_[at - 1] > begin) || (at < begins_.size() && begins_[at] < end)) {
            forget(begin, end);
            at = behind(begin);
        }
        size_t from = begins_.size();  // the place that becomes free
        if (from < most_) {
            for (std::vector<uint64_t>* column : {&begins_, &ends_, &used_}) column->push_back(0);
        } else {
            from = oldest();
        }
        if (from < at) --at;
        move(begins_, from, at, begin);
        move(ends_, from, at, end);
        move(used_, from, at, ++now_);
    }

private:
    static constexpr size_t few = 64;  ///< so many are counted without branches, which could not be predicted

    /// How many ranges begin at or before the page.
    size_t behind(uint64_t page) const {
        if (begins_.size() > few) return size_t(std::upper_bound(begins_.begin(), begins_.end(), page) - begins_.begin());
        size_t count = 0;
        for (const uint64_t begin : begins_) count += begin <= page;
        return count;
    }
    size_t oldest() const {
        size_t found = 0;
        uint64_t when = used_[0];
        for (size_t i = 1; i < used_.size(); ++i) {
            const bool older = used_[i] < when;
            found = older ? i : found;
            when = older ? used_[i] : when;
        }
        return found;
    }
    /// The values between the places `from` and `to` move by one, and `value` is at `to`.
    static void move(std::vector<uint64_t>& column, size_t from, size_t to, uint64_t value) {
        for (; from < to; ++from) column[from] = column[from + 1];
        for (; from > to; --from) column[from] = column[from - 1];
        column[to] = value;
    }
    void erase(size_t at) {
        for (std::vector<uint64_t>* column : {&begins_, &ends_, &used_}) column->erase(column->begin() + long(at));
    }

    size_t most_;
    uint64_t now_ = 0;
    std::vector<uint64_t> begins_, ends_;  ///< pages of 4KB, sorted
    std::vector<uint64_t> used_;           ///< when
};

}  // namespace tessera::sim
