// byte_counters.h - events counted in each lane: a row of bytes, emptied into 64-bit totals before one can overflow.
#pragma once

#include "engine/lanes/rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LaneCounter {
public:
    LANES_INLINE_MEMBER void add(uint64_t lanes) {
        if (lanes == 0) return;
        if (__builtin_expect(pending_ == 255, 0)) empty();
        ++pending_;
        for (unsigned part = 0; part < parts; ++part) store(&row_, part, count(load(&row_, part), lanes_of(lanes, part)));
    }
    /// Adds a row of counts, each at most `events` <= 255.
    LANES_INLINE_MEMBER void add_counts(const Row& counts, unsigned events) {
        if (pending_ + events > 255) empty();
        pending_ += events;
        for (unsigned part = 0; part < parts; ++part) store(&row_, part, sum(load(&row_, part), load(&counts, part)));
    }
    /// Adds the events since the last call to `total`.
    void drain(uint64_t total[64]) {
        empty();
        for (unsigned lane = 0; lane < 64; ++lane) total[lane] += total_[lane], total_[lane] = 0;
    }

private:
    __attribute__((noinline)) void empty() {
        for (unsigned lane = 0; lane < 64; ++lane) total_[lane] += row_.byte[lane], row_.byte[lane] = 0;
        pending_ = 0;
    }

    Row row_ = {};
    uint64_t total_[64] = {};
    unsigned pending_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
