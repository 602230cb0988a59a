// lru_rows.h - true LRU on rows: row[way] holds, for each lane, the name of what its way-th most recent entry is.
//
// A reference moves its name to the front in some lanes: what each way held moves one way down until the lane's old copy is
// met, so a miss needs no second step: the last way falls out. A name of two bytes takes two rows a way (low bytes first).
#pragma once

#include "engine/lanes/deferred_sets.h"
#include "engine/lanes/rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// References `name` in `lanes`; returns those that missed. fixed_ways 0: any number.
template <unsigned planes, unsigned fixed_ways>
LANES_INLINE uint64_t move_to_front(Row* rows, unsigned ways, uint32_t name, uint64_t lanes) {
    const unsigned count = fixed_ways != 0 ? fixed_ways : ways;
    const Part low_tag = splat(name), high_tag = splat(name >> 8);
    uint64_t missed = 0;
    for (unsigned part = 0; part < parts; ++part) {
        if (parts > 2 && bits_of_part(lanes, part) == 0) continue;
        PartLanes pending = lanes_of(lanes, part);
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

/// Makes a set's deferred references with its rows in registers.
template <unsigned ways>
LANES_INLINE void move_all_to_front(Row* rows, const Deferred& references, unsigned count, Tally& tally) {
    Row hit, missed;
    for (unsigned part = 0; part < parts; ++part) {
        Part row[ways], referenced = splat(0), misses = splat(0);
#pragma GCC unroll 16
        for (unsigned way = 0; way < ways; ++way) row[way] = load(rows + way, part);
#pragma GCC unroll 1
        for (unsigned i = 0; i < count; ++i) {
            if (parts > 2 && bits_of_part(references.lanes[i], part) == 0) continue;
            const PartLanes chosen = lanes_of(references.lanes[i], part);
            const Part tag = splat(references.name[i]);
            PartLanes pending = chosen;
            Part carry = tag;
#pragma GCC unroll 16
            for (unsigned way = 0; way < ways; ++way) {
                const Part old = row[way];
                row[way] = select(pending, carry, old);
                carry = old;
                pending = differing(pending, old, tag);
            }
            referenced = lanes::TESSERA_ISA::count(referenced, chosen);
            misses = lanes::TESSERA_ISA::count(misses, pending);
        }
#pragma GCC unroll 16
        for (unsigned way = 0; way < ways; ++way) store(rows + way, part, row[way]);
        store(&hit, part, difference(referenced, misses));
        store(&missed, part, misses);
    }
    tally.hits.add_counts(hit, count);
    tally.misses.add_counts(missed, count);
}

}  // namespace tessera::sim::lanes::TESSERA_ISA
