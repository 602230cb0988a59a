// way_rows.h - arrays whose entries stay in their way until evicted, under any policy of tree_plru.h or srrip.h.
//
// row[way] holds each lane's name. A set's bits are 64-bit words, one bit a lane: valid[way], then the policy's own
// words. An array fills its lowest-numbered empty way first, then asks the policy for victims.
#pragma once

#include "engine/lanes/rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Those of `lanes` in which this way has the name.
template <unsigned planes>
LANES_INLINE uint64_t lanes_holding(const Row* row, uint32_t name, uint64_t lanes) {
    uint64_t holding = 0;
    for (unsigned part = 0; part < parts; ++part) {
        if (parts > 1 && bits_of_part(lanes, part) == 0) continue;
        PartLanes same = equal(load(row, part), splat(name));
        if (planes == 2) same = both(same, equal(load(row + 1, part), splat(name >> 8)));
        holding |= bits_of(same) << (part * part_lanes % 64);
    }
    return holding & lanes;
}

template <unsigned planes>
LANES_INLINE void put_name(Row* row, uint32_t name, uint64_t lanes) {
    for (unsigned plane = 0; plane < planes; ++plane, ++row, name >>= 8)
        for (unsigned part = 0; part < parts; ++part) store(row, part, select(lanes_of(lanes, part), splat(name), load(row, part)));
}

/// References `name` in `lanes`; returns those that missed. `known`: some lane may hold it.
template <unsigned planes, class Policy>
inline uint64_t reference_ways(Row* row, uint64_t* words, unsigned ways, uint32_t name, bool known, uint64_t lanes) {
    uint64_t* valid = words;
    Policy policy(words + ways, ways);
    uint64_t missed = lanes;
    for (unsigned way = 0; known && way < ways && missed != 0; ++way) {
        const uint64_t hit = lanes_holding<planes>(row + way * planes, name, missed);
        if (hit == 0) continue;
        policy.hit(way, hit);
        missed &= ~hit;
    }
    const auto fill = [&](unsigned way, uint64_t where) {
        put_name<planes>(row + way * planes, name, where);
        policy.filled(way, where);
    };
    uint64_t pending = missed;
    for (unsigned way = 0; way < ways && pending != 0; ++way) {
        const uint64_t empty = pending & ~valid[way];
        if (empty == 0) continue;
        valid[way] |= empty;
        fill(way, empty);
        pending &= ~empty;
    }
    if (pending != 0) policy.evict(pending, fill);
    return missed;
}

}  // namespace tessera::sim::lanes::TESSERA_ISA
