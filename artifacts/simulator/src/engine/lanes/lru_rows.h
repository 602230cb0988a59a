// lru_rows.h - true LRU on rows: row[way] holds, for each lane, the name of what its way-th most recent entry is.
//
// A reference moves its name to the front in some lanes: what each way held moves one way down until the lane's old copy is
// met, so a miss needs no second step: the last way falls out. A name of two bytes takes two rows a way (low bytes first).
#pragma once

#include "engine/lanes/rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// References `name`, which some lanes may hold, in `lanes`; returns those that missed. fixed_ways 0: any number.
template <unsigned planes, unsigned fixed_ways>
LANES_INLINE uint64_t move_to_front(Row* rows, unsigned ways, uint32_t name, uint64_t lanes) {
    const unsigned count = fixed_ways != 0 ? fixed_ways : ways;
    const Part low_tag = splat(name), high_tag = splat(name >> 8);
    uint64_t missed = 0;
    for (unsigned part = 0; part < parts; ++part) {
        const uint64_t bits = bits_of_part(lanes, part);
        if (parts > 1 && bits == 0) continue;
        PartLanes pending = lanes_of(bits);
        Part low_carry = low_tag, high_carry = high_tag;
        Row* row = rows;
#pragma GCC unroll 16
        for (unsigned way = 0; way < count; ++way, row += planes) {
            const Part low = load(row, part);
            store(row, part, select(pending, low_carry, low));
            low_carry = low;
            if (planes == 1) {
                pending = differing(pending, low, low_tag);  // one instruction where there are mask registers
                continue;
            }
            const Part high = load(row + 1, part);
            store(row + 1, part, select(pending, high_carry, high));
            high_carry = high;
            pending = without(pending, both(equal(low, low_tag), equal(high, high_tag)));
        }
        missed |= bits_of(pending) << (part * part_lanes % 64);
    }
    return missed;
}

/// The same for a name that no lane holds.
template <unsigned planes, unsigned fixed_ways>
LANES_INLINE void push_front(Row* rows, unsigned ways, uint32_t name, uint64_t lanes) {
    const unsigned count = fixed_ways != 0 ? fixed_ways : ways;
    for (unsigned part = 0; part < parts; ++part) {
        const uint64_t bits = bits_of_part(lanes, part);
        if (parts > 1 && bits == 0) continue;
        const PartLanes chosen = lanes_of(bits);
        for (unsigned plane = 0; plane < planes; ++plane) {
            Part carry = splat(name >> (8 * plane));
            Row* row = rows + plane;
#pragma GCC unroll 16
            for (unsigned way = 0; way < count; ++way, row += planes) {
                const Part old = load(row, part);
                store(row, part, select(chosen, carry, old));
                carry = old;
            }
        }
    }
}

}  // namespace tessera::sim::lanes::TESSERA_ISA
