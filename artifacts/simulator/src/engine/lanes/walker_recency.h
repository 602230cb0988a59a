// walker_recency.h - the page-table lines that each lane's walkers used last, per cache set, as times only.
//
// A line's identity is not needed: its last time in a lane (kept per line by the caller) says where it stands.
// Rows of a set are in recency order in each lane; row k holds the time of the lane's k-th most recent
// page-table line of the set, 0 when there are fewer. A set gets rows only as page-table lines that fall into it
// appear, because a large L3 has room for many that never come.
#pragma once

#include "engine/lanes/machine.h"
#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class WalkerRecency {
    struct Set {
        uint32_t first = 0;
        uint16_t rows = 0, capacity = 0;
        uint32_t newest = 0;  ///< time of the last reference in any lane
        uint32_t unused = 0;  ///< a set's record never straddles a host cache line
    };

public:
    WalkerRecency(uint64_t sets, uint64_t ways) : ways_(unsigned(ways)), sets_(sets), rows_(64) {}

    TimeSpan newest_span() { return {&sets_.data()->newest, 1, sizeof(Set) / sizeof(uint32_t), sets_.size()}; }
    TimeSpan row_span() { return {reinterpret_cast<uint32_t*>(rows_.data()), used_ * lane_count, used_ * lane_count, 1}; }
    void prefetch(uint32_t set) const { __builtin_prefetch(&sets_[set], 1); }
    void prefetch_rows(uint32_t set) const {
        const Set& s = sets_[set];
        for (unsigned k = 0; k < s.rows; ++k) __builtin_prefetch(rows_.data() + s.first + k, 1);
    }

    /// A page-table line that falls into this set is referenced for the first time in any lane.
    void add_line(uint32_t set) {
        Set& s = sets_[set];
        if (s.rows == ways_) return;
        if (s.rows == s.capacity) {
            const unsigned wanted = s.capacity == 0 ? 2 : s.capacity * 2;
            rows_.grow(grown(used_ + wanted));
            for (unsigned k = 0; k < s.rows; ++k) store(&rows_[used_ + k], load(&rows_[s.first + k]));
            s.first = uint32_t(used_);
            s.capacity = uint16_t(wanted);
            used_ += wanted;
        }
        ++s.rows;
    }

    /// Lanes in which a program line last used at `time`, with `above` program lines used since, is still in the set.
    LANES_INLINE_MEMBER Mask keeps(uint32_t set, unsigned above, uint32_t time, Mask all) const {
        const Set& s = sets_[set];
        const unsigned room = ways_ - 1 - above;  // page-table lines that may have been used since
        if (s.newest < time || s.rows <= room) return all;
        return gt(broadcast(time), load(&rows_[s.first + room]));
    }

    /// References in `lanes` a page-table line whose last times are `last`. Returns for each lane the number of
    /// page-table lines of the set used since (meaningless where last is 0).
    LANES_INLINE_MEMBER V reference(uint32_t set, V last, uint32_t now, Mask lanes) {
        Set& s = sets_[set];
        s.newest = now;
        V* row = rows_.data() + s.first;
        return s.rows == 8 ? insert<8>(row, last, now, lanes) : insert(row, s.rows, last, now, lanes);
    }

private:
    /// Unrolled for the eight ways of L1D and L2.
    template <unsigned rows>
    LANES_INLINE_MEMBER static V insert(V* row, V last, uint32_t now, Mask pending) {
        const V one = broadcast(1);
        V old[rows], above = zero();
        for (unsigned k = 0; k < rows; ++k) old[k] = load(row + k);
        store(row, select(pending, broadcast(now), old[0]));
        for (unsigned k = 1; k < rows; ++k) {
            pending = without(pending, eq(old[k - 1], last));
            above = add_if(pending, above, one);
            store(row + k, select(pending, old[k - 1], old[k]));
        }
        return add_if(without(pending, eq(old[rows - 1], last)), above, one);
    }

    LANES_INLINE_MEMBER static V insert(V* row, unsigned rows, V last, uint32_t now, Mask pending) {
        V carry = broadcast(now), above = zero();
        const V one = broadcast(1);
        for (unsigned k = 0; k < rows; ++k) {
            const V old = load(row + k);
            store(row + k, select(pending, carry, old));
            pending = without(pending, eq(old, last));
            above = add_if(pending, above, one);
            carry = old;
        }
        return above;
    }

    /// Growth in large steps, so that copying stays rare.
    size_t grown(size_t wanted) const {
        const size_t now = rows_.size();
        return wanted <= now ? now : wanted + now / 2;
    }

    unsigned ways_;
    Array<Set> sets_;
    Array<V> rows_;
    size_t used_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
