// memory_lanes.h - memory behind L3 for all layouts of a pass: channels, banks, open rows.
//
// All lanes load the same physical line, so channel, bank and row are the same in all: a bank's times are one vector, and so
// are the two halves of its open row (which differs where some lanes missed L3 and others did not).
#pragma once

#include "engine/timing/batch.h"
#include "engine/timing/resources_lanes.h"

namespace tessera::sim::timing::TESSERA_ISA {

template <unsigned parts>
struct Memory {
    using V = Vec<parts>;
    Rates<parts> channels, banks;
    V *row_low, *row_high;
    uint32_t closed_cycles, hit_cycles, conflict_cycles;
    bool has_rows;

    /// When lines that are asked for at `ready` are there; books in `lanes`.
    template <bool is_prefetch>
    CLOCK_MEMBER V load_line(const Reference& r, V ready, V dispatch, Mask<parts> lanes) {
        V begin = book<is_prefetch>(channels, r.channel, ready, dispatch, lanes);
        if (!has_rows) return begin + broadcast<parts>(closed_cycles);
        begin = max(begin, book<is_prefetch>(banks, r.bank, ready, dispatch, lanes));
        const V low = load(row_low + r.bank), high = load(row_high + r.bank);
        const V wanted_low = broadcast<parts>(r.row_low), wanted_high = broadcast<parts>(r.row_high);
        const Mask<parts> hit = eq(low, wanted_low) & eq(high, wanted_high), closed = eq(low | high, broadcast<parts>(0));
        store(row_low + r.bank, select(lanes, wanted_low, low));
        store(row_high + r.bank, select(lanes, wanted_high, high));
        return begin + select(hit, broadcast<parts>(hit_cycles), select(closed, broadcast<parts>(closed_cycles), broadcast<parts>(conflict_cycles)));
    }

private:
    template <bool is_prefetch>
    CLOCK_MEMBER static V book(Rates<parts>& rates, size_t slot, V ready, V dispatch, Mask<parts> lanes) {
        return is_prefetch ? rates.prefetch(slot, ready, dispatch, lanes) : rates.demand(slot, ready, dispatch, lanes);
    }
};

}  // namespace tessera::sim::timing::TESSERA_ISA
