// window_lanes.h - the out-of-order window (engine/reference_core.h) for all layouts of a pass.
//
// Times are 32-bit cycles since a moving origin: rebase() subtracts each lane's current dispatch time, before which no
// later time can lie, and clips what does (config.cpp: why 32 bits are enough). Window is copied into a local while a
// batch runs, so that the compiler keeps its times in registers.
#pragma once

#include "engine/timing/memory_lanes.h"
#include "engine/timing/walkers_lanes.h"

namespace tessera::sim::timing::TESSERA_ISA {

template <unsigned parts>
struct Window {
    using V = Vec<parts>;
    using M = Mask<parts>;
    // What does not change.
    uint32_t stlb_cycles, l1d_cycles, l2_cycles, l3_cycles, alu_cycles, refill_cycles, forward_cycles;
    bool overlap, walker_uses_mshrs, walker_serves_background, several_drains;
    // Views of the group's memory.
    V* registers;
    History<parts> dispatches, window, loads, stores;
    V* store_data;                   ///< of the stores in `stores`, when each one's data is ready
    Ports<parts> load_ports, store_ports, alu_ports;
    History<parts> drains;           ///< a cycle after each of the last stores that leave in one cycle
    Servers<parts> mshrs;
    LaneWalkers<parts> walkers;
    V* asks_second;  ///< when the second page of the access at hand can be translated: in no register, as few accesses have one
    V *pages, *lines, *lines_to_l2;  ///< arrivals; lines_to_l2[in_flight_slots] stays 0
    Memory<parts> memory, tables;  ///< of data, and of page tables: on one node, views of the same times
    const uint32_t* first_walk_load;  ///< of the batch at hand
    const PlacedLine* walk_loads;
    const CrossingOutcome* crossing;  ///< the next one of the batch, and its second page
    const SecondReference* second;
    // Times.
    V retired, dispatched, drained;
    V redirect;  ///< when what follows the last branch can enter, if that was mispredicted
    V dispatch, base, ready, complete;  ///< of the instruction at hand
    V longest_walk;  ///< bits of the cycles of each access's walks

    CLOCK_MEMBER void begin(const Op& op, const uint8_t* regs) {
        dispatch = max(max(dispatched, dispatches.oldest()), window.oldest());
        if (!overlap) dispatch = max(dispatch, max(retired, drained));
        base = complete = broadcast<parts>(0);
        for (unsigned r = 0; r < op.address_regs; ++r) base = max(base, load(registers + *regs++));
        ready = base;
        for (unsigned r = 0; r < op.other_regs; ++r) ready = max(ready, load(registers + *regs++));
    }

    template <bool extended>
    CLOCK_MEMBER void end(const Op& op, const uint8_t* regs, uint32_t flags) {
        V begins = max(dispatch, ready);
        if (extended && op.flags & needs_alu_port) begins = max(begins, alu_ports.take(dispatch));
        const V result = begins + broadcast<parts>(op.latency_cycles);
        retired = max(retired, max(complete, result));
        dispatched = extended ? dispatch + broadcast<parts>(op.hold_cycles + ((flags & longer) != 0)) : dispatch;
        dispatches.push(dispatch + broadcast<parts>(1));
        window.push(retired);
        regs += op.address_regs + op.other_regs;
        for (unsigned r = 0; r < op.written_regs; ++r) store(registers + regs[r], result);
        if (!extended) return;
        if (op.flags & redirects) redirect = result + broadcast<parts>(refill_cycles);
        if (op.early_regs == 0) return;
        regs += op.written_regs;
        const V early = max(dispatch, base), added = early + broadcast<parts>(alu_cycles);
        for (unsigned r = 0; r < op.early_regs; ++r) store(registers + regs[r], r == 0 && op.flags & early_stack ? early : added);
    }

    /// The branch before was mispredicted.
    CLOCK_MEMBER void enter_redirected() { dispatched = max(dispatched, redirect); }

    /// Returns when the access is translated, at which its prefetches go out.
    template <bool extended>
    CLOCK_MEMBER V access(const Op& op, const Reference& r, const Outcomes& o, size_t i) {
        const bool stores_it = r.flags & is_store;
        dispatch = max(dispatch, stores_it ? stores.oldest() : loads.oldest());
        if (r.flags & new_page) store(pages + r.page_slot, broadcast<parts>(0));
        V physical = max(dispatch, base);
        if (extended) {
            Ports<parts>& ports = stores_it ? store_ports : load_ports;
            if (ports.exist()) physical = max(physical, ports.take(dispatch));
        }
        if (r.flags & crosses) [[unlikely]]
            store(asks_second, physical);
        if (width == 1 && o.design_times != nullptr) {
            if (!o.design_times[i].behind_l3) physical = translate_by_design(r, o, i, physical);
        } else {
            physical = max(physical, load(pages + r.page_slot));
            if (const uint64_t looked_up = o.looked_up[i]; looked_up != 0)
                physical = translate(r, o, i, add_if(mask_of<parts>(looked_up), physical, broadcast<parts>(stlb_cycles)));
        }
        if (r.flags & crosses) [[unlikely]]
            physical = max(physical, second_page(o));
        if (r.flags & new_line) store(lines + r.line_slot, broadcast<parts>(0));
        V arrival = max(physical + broadcast<parts>(l1d_cycles), load(lines + r.line_slot));
        if (const uint64_t missed = o.l1d_missed[i]; missed != 0) arrival = fill(r, o, i, mask_of<parts>(missed), physical, arrival);
        if (stores_it) {
            complete = max(complete, physical);
            if (extended && several_drains) drained = max(max(drained, broadcast<parts>(1)) - broadcast<parts>(1), drains.oldest());
            drained = max(max(drained, retired), max(ready, arrival));
            if (extended && forward_cycles != 0)
                store(store_data + (stores.at - stores.begin), max(dispatch, ready) + broadcast<parts>(op.latency_cycles));
            stores.push(drained);
            drained = drained + broadcast<parts>(1);
            if (extended && several_drains) drains.push(drained);
        } else {
            if (extended && r.flags & (covered | overlapped)) arrival = forward(r, physical, arrival);
            ready = max(ready, arrival);
            loads.push(max(retired, arrival));
        }
        return physical;
    }

    CLOCK_MEMBER void write_back(const PlacedLine& line) { memory.write_back(line, dispatch); }

    /// A prefetch after an access that was translated at `issue`.
    CLOCK_MEMBER void prefetch(const Reference& r, const PrefetchOutcome& o, V issue) {
        const bool to_l1d = r.flags & into_l1d;
        V* slot = (to_l1d ? lines : lines_to_l2) + r.line_slot;
        if (r.flags & new_line) store(slot, broadcast<parts>(0));
        const uint64_t missed = to_l1d ? o.l1d_missed : o.l2_missed;
        if (missed == 0) return;
        const M lanes = mask_of<parts>(missed), beyond_l2 = mask_of<parts>(o.l2_missed);
        const V mshr = to_l1d ? mshrs.first() : broadcast<parts>(0), begins = max(issue, mshr);
        V done = begins + select(beyond_l2, broadcast<parts>(l3_cycles), broadcast<parts>(l2_cycles));
        if (const uint64_t beyond_l3 = o.l3_missed; beyond_l3 != 0)
            done = select(mask_of<parts>(beyond_l3),
                          memory.template load_line<DramAsker::prefetch>(r.place, begins, dispatch, mask_of<parts>(beyond_l3)), done);
        done = max(done, load(slot));
        if (to_l1d) {
            done = max(done, load(lines_to_l2 + r.l2_slot));
            mshrs.take_until(done, lanes & eq(begins, issue));  // holds an MSHR that was free
        }
        store(slot, select(lanes, done, load(slot)));
    }

    /// Nothing enters while a code page is translated.
    CLOCK_MEMBER void fetch_page(const FetchOutcome& f, const Outcomes& o) {
        const V began = dispatched;
        dispatched = dispatched + broadcast<parts>(stlb_cycles);
        if (const uint64_t walks = f.walks; walks != 0)
            dispatched = walk(mask_of<parts>(walks), f.walk_l1d_missed, o, f.cycles_row, dispatched, began);
    }

private:
    /// When a load's data is there that the caches have at `cached`.
    CLOCK_MEMBER V forward(const Reference& r, V physical, V cached) const {
        const V written = load(stores.begin + r.store_slot);
        const V given = r.flags & covered ? max(physical, load(store_data + r.store_slot)) + broadcast<parts>(forward_cycles)
                                          : written + broadcast<parts>(l1d_cycles);
        return select(at_most(written, physical), cached, given);
    }

    /// `from` in lanes that do not walk, the end of the walk in those that do. `asks`: when its instruction was dispatched.
    CLOCK_MEMBER V walk(M lanes, uint64_t missed_l1d, const Outcomes& o, uint32_t row, V from, V asks) {
        V duration = load_row<parts>(o.walk_cycles[row]);
        longest_walk = longest_walk | duration;
        const M needs_mshr = mask_of<parts>(walker_uses_mshrs ? missed_l1d : 0);
        const V ready_to_walk = walker_uses_mshrs ? select(needs_mshr, max(from, mshrs.first()), from) : from;
        if (first_walk_load != nullptr && first_walk_load[row] != first_walk_load[row + 1])
            duration = tables.walk(tables, walk_loads + first_walk_load[row], walk_loads + first_walk_load[row + 1], duration,
                                   ready_to_walk, asks);
        const V done = walkers.serve(ready_to_walk, duration, lanes);
        if (walker_uses_mshrs && missed_l1d != 0) mshrs.take_until(done, needs_mshr);
        return select(lanes, done, from);
    }

    CLOCK_MEMBER V translate(const Reference& r, const Outcomes& o, size_t i, V looked_up) {
        return walk_page(r.page_slot, o.walks[i], o.walk_l1d_missed[i], o, o.cycles_row[i], looked_up);
    }
    CLOCK_MEMBER V walk_page(uint8_t page_slot, uint64_t walks, uint64_t missed_l1d, const Outcomes& o, uint32_t row, V looked_up) {
        if (walks == 0) return looked_up;
        const M lanes = mask_of<parts>(walks);
        const V done = walk(lanes, missed_l1d, o, row, looked_up, dispatch);
        store(pages + page_slot, select(lanes, done, load(pages + page_slot)));
        return done;
    }
    CLOCK_MEMBER void serve_background(const DesignTimes& times, V begin) {
        if (times.background_cycles == 0 || !walker_serves_background) return;
        const V background = broadcast<parts>(times.background_cycles);
        longest_walk = longest_walk | background;
        walkers.serve(begin, background, mask_of<parts>(~uint64_t{0}));
    }

    /// When the second page of the access at hand is translated.
    CLOCK_MEMBER V second_page(const Outcomes& o) {
        V longest = longest_walk;
        const V done = second_page_of(*this, o, longest);
        longest_walk = longest;
        ++crossing, ++second;
        return done;
    }
    /// A function of its own that gets a copy, so that the window's times stay in registers. All but longest_walk is in the group's memory.
    __attribute__((noinline)) static V second_page_of(Window w, const Outcomes& o, V& longest) {
        const CrossingOutcome& c = *w.crossing;
        V* const slot = w.pages + w.second->page_slot;
        if (w.second->is_new) store(slot, broadcast<parts>(0));
        V done = load(w.asks_second);
        if (!w.second->is_translated) return done;
        done = max(done, load(slot));
        if (width == 1 && o.design_times != nullptr) done = done + broadcast<parts>(c.times.lookup_cycles);
        else done = add_if(mask_of<parts>(c.looked_up), done, broadcast<parts>(w.stlb_cycles));
        done = w.walk_page(w.second->page_slot, c.walks, c.walk_l1d_missed, o, c.cycles_row, done);
        if (width == 1 && o.design_times != nullptr) w.serve_background(c.times, done);
        longest = w.longest_walk;
        if (c.walks != 0 && o.walks[c.access] != 0)  // times have room for one walk of an access: the two count as one
            longest = longest | (load_row<parts>(o.walk_cycles[o.cycles_row[c.access]]) + load_row<parts>(o.walk_cycles[c.cycles_row]));
        return done;
    }

    /// Of a design with times of its own, which are those of the only lane.
    CLOCK_MEMBER V translate_by_design(const Reference& r, const Outcomes& o, size_t i, V ready) {
        const DesignTimes& times = o.design_times[i];
        const V done = translate(r, o, i, max(ready, load(pages + r.page_slot)) + broadcast<parts>(times.lookup_cycles));
        serve_background(times, done);
        return done;
    }

    /// Of a line that missed L3 when it was asked for at `begins`: by how much what is behind L3 delays it.
    CLOCK_MEMBER V delay_behind_l3(const Reference& r, const Outcomes& o, size_t i, V begins) {
        if (width != 1 || o.design_times == nullptr || !o.design_times[i].behind_l3 || o.looked_up[i] == 0) return broadcast<parts>(0);
        const V missed_l3 = begins + broadcast<parts>(l3_cycles);
        return translate_by_design(r, o, i, missed_l3) - missed_l3;
    }

    /// `from_l1d` in lanes that hit L1D, the line's arrival in those that miss.
    CLOCK_MEMBER V fill(const Reference& r, const Outcomes& o, size_t i, M lanes, V physical, V from_l1d) {
        const V pending = load(lines + r.line_slot);
        const V begins = max(physical, mshrs.first());
        V done = begins + select(mask_of<parts>(o.l2_missed[i]), broadcast<parts>(l3_cycles), broadcast<parts>(l2_cycles));
        if (const uint64_t beyond_l3 = o.l3_missed[i]; beyond_l3 != 0) {
            const V at_memory = begins + delay_behind_l3(r, o, i, begins);
            done = select(mask_of<parts>(beyond_l3),
                          memory.template load_line<DramAsker::program>(r.place, at_memory, dispatch, mask_of<parts>(beyond_l3)), done);
        }
        done = max(max(done, pending), load(lines_to_l2 + r.l2_slot));
        mshrs.take_until(done, lanes);
        store(lines + r.line_slot, select(lanes, done, pending));
        return select(lanes, done, from_l1d);
    }
};

}  // namespace tessera::sim::timing::TESSERA_ISA
