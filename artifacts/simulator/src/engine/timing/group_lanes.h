// group_lanes.h - lays a group's memory out, runs batches through the window, moves the origin. Compiled per instruction set.
#pragma once

#include <cstring>

#include "engine/timing/group.h"
#include "engine/timing/window_lanes.h"

namespace tessera::sim::timing::TESSERA_ISA {

template <unsigned parts>
class LaneGroup final : public ClockGroup {
    using V = Vec<parts>;
    static constexpr unsigned lanes = width * parts;

public:
    LaneGroup(const ClockConfig& c, void* memory) : config_(c), vectors_(static_cast<V*>(memory)) { begin_unit(); }

    void begin_unit() override {
        std::memset(static_cast<void*>(vectors_), 0, group_memory_bytes(config_, lanes));
        std::memset(origin_, 0, sizeof origin_);
        const ClockConfig& c = config_;
        Window<parts>& w = window_;
        V* next = vectors_;
        const auto take = [&next](size_t count) {
            V* first = next;
            next += count;
            return first;
        };
        const auto history = [&take](size_t count) {
            V* first = take(count);
            return History<parts>{first, first, first + count};
        };
        w.registers = take(64);
        w.dispatches = history(c.dispatch_width);
        w.window = history(c.rob_entries);
        w.loads = history(c.load_queue_entries);
        w.stores = history(c.store_buffer_entries);
        w.store_data = take(c.forward_cycles != 0 ? c.store_buffer_entries : 0);
        w.mshrs = {take(c.mshrs), c.mshrs};
        w.walkers = {{take(c.walkers), c.walkers}, take(idle_intervals), take(idle_intervals)};
        w.load_ports = {history(c.load_ports)};
        w.store_ports = {history(c.store_ports)};
        w.alu_ports = {history(c.alu_ports)};
        w.several_drains = c.store_ports > 1;
        w.drains = history(c.store_ports);
        w.asks_second = take(1);
        w.pages = take(in_flight_slots);
        w.lines = take(in_flight_slots);
        w.lines_to_l2 = take(in_flight_slots + 1);
        const auto rates = [&](size_t count, uint32_t distance) {
            return Rates<parts>{take(count), distance, distance * c.prefetch_queue_lines, distance * c.write_queue_lines};
        };
        w.memory.channels = rates(c.channels, c.transfer_cycles);
        w.memory.banks = rates(c.banks, c.bank_busy_cycles);
        if (c.tables_apart) {
            w.tables.channels = rates(c.channels, c.table_transfer_cycles);
            w.tables.banks = rates(c.banks, c.bank_busy_cycles);
        }
        times_ = size_t(next - vectors_);  // what follows are no times
        const auto rows = [&](Memory<parts>& of, uint32_t closed, uint32_t hit, uint32_t conflict) {
            of.row_low = take(c.banks);
            of.row_high = take(c.banks);
            of.has_rows = c.banks != 0;
            of.closed_cycles = closed, of.hit_cycles = hit, of.conflict_cycles = conflict;
        };
        counted_ = take(c.counts_rows ? row_counters : 0);
        w.memory.found = w.tables.found = c.counts_rows ? counted_ : nullptr;
        rows(w.memory, c.memory_load_cycles, c.row_hit_cycles, c.row_conflict_cycles);
        if (c.tables_apart) rows(w.tables, c.table_load_cycles, c.table_row_hit_cycles, c.table_row_conflict_cycles);
        else w.tables = w.memory;  // a view of the same times
        w.stlb_cycles = c.stlb_hit_cycles;
        w.l1d_cycles = c.l1d_load_cycles;
        w.l2_cycles = c.l2_load_cycles;
        w.l3_cycles = c.l3_load_cycles;
        w.alu_cycles = c.alu_cycles;
        w.refill_cycles = c.refill_cycles;
        w.forward_cycles = c.forward_cycles;
        w.overlap = c.overlap;
        w.walker_uses_mshrs = c.walker_uses_mshrs;
        w.walker_serves_background = c.walker_serves_background;
        w.retired = w.dispatched = w.drained = w.redirect = w.dispatch = w.base = w.ready = w.complete = w.longest_walk =
            broadcast<parts>(0);
    }

    bool run(const Batch& b) override { return config_.extended ? run_as<true>(b) : run_as<false>(b); }

    void elapsed(uint64_t cycles[max_lanes]) const override {
        uint32_t now[lanes];
        store_row(now, window_.retired);
        for (unsigned lane = 0; lane < lanes; ++lane) cycles[lane] = origin_[lane] + now[lane];
    }

    const uint64_t* rows() const override { return config_.counts_rows ? rows_[0] : nullptr; }

private:
    /// Before the counters of 32 bits are full: a batch has fewer loads.
    void collect_rows() {
        for (unsigned i = 0; i < row_counters; ++i) {
            uint32_t found[lanes];
            store_row(found, load(counted_ + i));
            store(counted_ + i, broadcast<parts>(0));
            for (unsigned lane = 0; lane < lanes; ++lane) rows_[lane][i] += found[lane];
        }
    }

    /// extended: with what most platforms of before do without, so that those pay nothing for it.
    template <bool extended>
    bool run_as(const Batch& b) {
        const Outcomes& o = *b.outcomes;
        Window<parts> w = window_;
        w.first_walk_load = b.first_walk_load, w.walk_loads = b.walk_loads;
        w.crossing = o.crossing, w.second = b.seconds;
        size_t access = 0, prefetch = 0;
        const PlacedLine* written = b.write_backs;
        for (const Step *s = b.steps, *last = s + b.step_count; s != last; ++s) {
            const uint32_t flags = s->flags;
            if (flags & rebase) [[unlikely]]
                move_origin(w);
            if (extended && flags & redirected) [[unlikely]]
                w.enter_redirected();
            if (flags & fetch) [[unlikely]] {
                w.fetch_page(o.fetch[s->op], o);
                continue;
            }
            const Op& op = b.ops[s->op];
            const uint8_t* regs = b.regs + op.first_reg;
            if (!(flags & continued)) w.begin(op, regs);
            for (unsigned k = 0; k < s->accesses; ++k, ++access) {
                const Reference& r = b.accesses[access];
                const V translated = w.template access<extended>(op, r, o, access);
                if (r.flags & writes_back) [[unlikely]]
                    w.write_back(*written++);
                for (uint32_t p = 0; p < r.prefetches; ++p, ++prefetch)
                    w.prefetch(b.prefetches[prefetch], o.prefetch[prefetch], translated);
            }
            if (!(flags & unfinished)) w.template end<extended>(op, regs, flags);
        }
        window_ = w;
        if (config_.counts_rows) [[unlikely]]
            collect_rows();
        uint32_t longest[lanes];
        store_row(longest, w.longest_walk);
        uint32_t bits = 0;
        for (const uint32_t lane : longest) bits |= lane;
        return bits < walk_bound_cycles;
    }

    CLOCK_MEMBER void move_origin(Window<parts>& w) {
        const V origin = w.dispatched;
        uint32_t by[lanes];
        store_row(by, origin);
        for (unsigned lane = 0; lane < lanes; ++lane) origin_[lane] += by[lane];
        const auto moved = [origin](V time) { return max(time, origin) - origin; };
        w.retired = moved(w.retired), w.dispatched = moved(w.dispatched), w.drained = moved(w.drained), w.redirect = moved(w.redirect);
        w.dispatch = moved(w.dispatch), w.base = moved(w.base), w.ready = moved(w.ready), w.complete = moved(w.complete);
        for (V *v = vectors_, *last = v + times_; v != last; ++v) store(v, moved(load(v)));
    }

    ClockConfig config_;
    V* vectors_;
    size_t times_ = 0;
    uint64_t origin_[lanes] = {};
    V* counted_ = nullptr;  ///< row_counters, of the batch at hand
    uint64_t rows_[lanes][row_counters] = {};
    Window<parts> window_;
};

CLOCK_INLINE ClockGroup* make_group(const ClockConfig& config, unsigned parts, void* memory) {
    if constexpr (width == 1) return new LaneGroup<1>(config, memory);
    else switch (parts) {
            case 1: return new LaneGroup<1>(config, memory);
            case 2: return new LaneGroup<2>(config, memory);
            case 3: return new LaneGroup<3>(config, memory);
            default: return new LaneGroup<4>(config, memory);
        }
}

}  // namespace tessera::sim::timing::TESSERA_ISA
