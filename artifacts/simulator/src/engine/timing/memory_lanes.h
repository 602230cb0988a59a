// memory_lanes.h - memory behind L3 for all layouts of a pass: channels, banks, open rows.
//
// All lanes load the same physical line, so channel, bank and row are the same in all: a bank's times are one vector, and so
// are the two halves of its open row (which differs where some lanes missed L3 and others did not).
#pragma once

#include "engine/dram_rows.h"
#include "engine/timing/batch.h"
#include "engine/timing/resources_lanes.h"

namespace tessera::sim::timing::TESSERA_ISA {

template <unsigned parts>
struct Memory {
    using V = Vec<parts>;
    Rates<parts> channels, banks;
    V *row_low, *row_high;
    V* found;  ///< row_counters; null: loads are not counted
    uint32_t closed_cycles, hit_cycles, conflict_cycles;
    bool has_rows;

    /// When lines that are asked for at `ready` are there; books in `lanes`.
    template <DramAsker asker>
    CLOCK_MEMBER V load_line(const LinePlace& r, V ready, V dispatch, Mask<parts> lanes) {
        V load_cycles;
        const V begin = ask<asker>(r, ready, dispatch, lanes, load_cycles);
        return begin + load_cycles;
    }

    /// In the line's lanes, its transfer and its bank are taken by what an instruction of this dispatch wrote.
    CLOCK_MEMBER void write_back(const PlacedLine& line, V dispatch) {
        const Mask<parts> lanes = mask_of<parts>(line.lanes);
        channels.write_back(line.place.channel, dispatch, lanes);
        if (has_rows) banks.write_back(line.place.bank, dispatch, lanes);
    }

    /// How long walks take that begin at `ready` and have `cycles`, of which closed_cycles for each of these loads in its lanes.
    /// A function of its own that gets a copy, so that the window's times stay in registers.
    __attribute__((noinline)) static V walk(Memory memory, const PlacedLine* load, const PlacedLine* end, V cycles, V ready, V dispatch) {
        V asked = ready, counted = broadcast<parts>(0);
        const V closed = broadcast<parts>(memory.closed_cycles);
        for (; load != end; ++load) {
            const Mask<parts> lanes = mask_of<parts>(load->lanes);
            V load_cycles;
            const V begin = memory.template ask<DramAsker::walk>(load->place, asked, dispatch, lanes, load_cycles);
            asked = select(lanes, begin, asked);
            cycles = add_if(lanes, cycles, load_cycles);
            counted = add_if(lanes, counted, closed);
        }
        cycles = cycles + (asked - ready);
        return max(cycles, counted) - counted;
    }

private:
    /// When lines that are asked for at `ready` begin, and their load times; books in `lanes`.
    template <DramAsker asker>
    CLOCK_MEMBER V ask(const LinePlace& r, V ready, V dispatch, Mask<parts> lanes, V& load_cycles) {
        load_cycles = broadcast<parts>(closed_cycles);
        constexpr bool is_prefetch = asker == DramAsker::prefetch;
        V begin = book<is_prefetch>(channels, r.channel, ready, dispatch, lanes);
        if (!has_rows) return begin;
        begin = max(begin, book<is_prefetch>(banks, r.bank, ready, dispatch, lanes));
        const V low = load(row_low + r.bank), high = load(row_high + r.bank);
        const V wanted_low = broadcast<parts>(r.row_low), wanted_high = broadcast<parts>(r.row_high);
        const Mask<parts> hit = eq(low, wanted_low) & eq(high, wanted_high), closed = eq(low | high, broadcast<parts>(0));
        store(row_low + r.bank, select(lanes, wanted_low, low));
        store(row_high + r.bank, select(lanes, wanted_high, high));
        if (found != nullptr) [[unlikely]]
            count(found + 3 * size_t(asker), lanes, hit, closed);
        load_cycles = select(hit, broadcast<parts>(hit_cycles), select(closed, load_cycles, broadcast<parts>(conflict_cycles)));
        return begin;
    }

    CLOCK_MEMBER static void count(V* by_row, Mask<parts> lanes, Mask<parts> hit, Mask<parts> closed) {
        const V one = broadcast<parts>(1);
        store(by_row, add_if(lanes & hit, load(by_row), one));
        store(by_row + 1, add_if(lanes & closed, load(by_row + 1), one));
        store(by_row + 2, add_if(without(without(lanes, hit), closed), load(by_row + 2), one));
    }

    template <bool is_prefetch>
    CLOCK_MEMBER static V book(Rates<parts>& rates, size_t slot, V ready, V dispatch, Mask<parts> lanes) {
        return is_prefetch ? rates.prefetch(slot, ready, dispatch, lanes) : rates.demand(slot, ready, dispatch, lanes);
    }
};

}  // namespace tessera::sim::timing::TESSERA_ISA
