// machine_impl.h - the machine of machine.h, compiled once for each instruction set.
#pragma once

#include "engine/lanes/machine.h"
#include "engine/lanes/window_lanes.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LaneMachine final : public Machine {
public:
    LaneMachine(const Platform& p, unsigned layouts)
        : active_(uint16_t((1u << layouts) - 1)), all_(mask_of(active_)), tlbs_(p, active_), walker_(p), caches_(p), window_(p) {
        std::memset(&counts_, 0, sizeof counts_);
    }

    void tlb_only(const Accesses& a) override {
        last_line_ = 0;  // the TLBs move on while the caches stand still
        for (size_t i = 0; i < a.count; ++i) {
            const uint32_t id = a.regions[i];
            tlbs_.access(a.addresses[i], page_of(a.addresses[i], id), id, a.region_table[id]);
        }
        tlbs_.flush(counts_.stlb_hits, counts_.stlb_misses);
    }

    void warm(const Accesses& a) override {
        walker_.reserve_frames(a.table_frames);
        for (size_t i = 0; i < a.count; ++i) {
            if (i % chunk == 0) prepare(a, i);
            functional<false>(a, i);
        }
        tlbs_.flush(counts_.stlb_hits, counts_.stlb_misses);
    }

    void counted(const Accesses& a) override {
        walker_.reserve_frames(a.table_frames);
        for (size_t i = 0; i < a.count; ++i) {
            if (i % chunk == 0) prepare(a, i);
            functional<true>(a, i);
        }
        flush_counted(a.count);
    }

    void timed(const Accesses& a, const Executions& executions, const Program& program) override {
        walker_.reserve_frames(a.table_frames);
        size_t next = 0;
        for (size_t e = 0; e < executions.count; ++e) {
            const Block& block = program.blocks[executions.blocks[e]];
            const uint16_t* slots = program.slot_ops + block.first_slot;
            const size_t end = next + executions.access_counts[e];
            const size_t first = next, last_slot = block.slots == 0 ? 0 : block.slots - 1;
            for (uint32_t o = 0; o < block.ops; ++o) {
                const Op& op = program.ops[block.first_op + o];
                const uint8_t* regs = program.regs + op.first_reg;
                window_.begin(op, regs);
                while (next < end) {
                    const size_t i = next - first;
                    const uint32_t owner = block.slots == 0 ? block.ops - 1 : slots[i < last_slot ? i : last_slot];
                    if (owner != o) break;
                    timed_access(a, next++);
                }
                window_.end(op, regs + op.address_regs + op.other_regs);
            }
        }
        flush_counted(a.count);
    }

    void begin_unit() override {
        std::memset(counts_.unit_misses, 0, sizeof counts_.unit_misses);
        std::memset(counts_.unit_walk_cycles, 0, sizeof counts_.unit_walk_cycles);
        window_.reset();
    }

    const LaneCounts& counts() const override { return counts_; }
    void runtime(uint64_t cycles[lane_count]) const override { window_.elapsed(cycles); }

    uint32_t stamps_left() const override { return ~now_; }
    void set_now(uint32_t now) override {
        now_ = now;
        last_line_ = 0;
    }
    size_t time_spans(TimeSpan* spans, size_t room) override {
        if (room < 10) return 0;
        size_t n = caches_.l1d.time_spans(spans);
        n += caches_.l2.time_spans(spans + n);
        n += caches_.l3.time_spans(spans + n);
        spans[n++] = walker_.time_span();
        return n;
    }

private:
    static constexpr size_t chunk = 32;  // accesses whose sets are computed and prefetched ahead

    LANES_INLINE_MEMBER static uint32_t page_of(uint64_t address, uint32_t region) {
        return region << 9 | (uint32_t(address >> 12) & 511);
    }
    LANES_INLINE_MEMBER static uint32_t line_of(uint64_t address, uint32_t region) {
        return region << 15 | (uint32_t(address >> 6) & 32767);
    }

    void prepare(const Accesses& a, size_t begin) {
        const size_t end = begin + chunk < a.count ? begin + chunk : a.count;
        for (size_t i = begin; i < end; ++i) {
            const uint64_t line = a.addresses[i] >> 6;
            if (i > begin && line == a.addresses[i - 1] >> 6) continue;  // a repeat needs no sets
            CacheLanes::Sets& sets = sets_[i % chunk];
            sets = caches_.sets_of(line);
            caches_.l2.prefetch(sets.l2);
            caches_.l3.prefetch(sets.l3);
            if (i > 0 && a.addresses[i] >> 12 != a.addresses[i - 1] >> 12)
                walker_.prefetch(a.addresses[i], a.region_table[a.regions[i]], caches_);
        }
    }

    /// TLBs, walk and caches for one access. A repeat of the previous line changes nothing anywhere.
    template <bool count>
    LANES_INLINE_MEMBER void functional(const Accesses& a, size_t i) {
        TlbOutcome t;
        DataOutcome data;
        step<count>(a, i, t, data);
    }

    template <bool count>
    LANES_INLINE_MEMBER V step(const Accesses& a, size_t i, TlbOutcome& t, DataOutcome& data) {
        const uint64_t address = a.addresses[i];
        const uint32_t id = a.regions[i], line = line_of(address, id);
        data.all_l1d = true;
        t.quiet = true;
        if (line == last_line_) return zero();
        last_line_ = line;
        const Region& region = a.region_table[id];
        t = tlbs_.access(address, page_of(address, id), id, region);
        V latency = zero();
        if (!t.quiet && any(t.walk_4kb | t.walk_2mb | t.walk_1gb)) {
            latency = walker_.walk(address, region, t, caches_, now_, count ? &walker_loads_ : nullptr);
            now_ += 4;
            if (count) {
                walk_cycles_ = walk_cycles_ + latency;
                unit_misses_ = add_if(t.walk_4kb | t.walk_2mb | t.walk_1gb, unit_misses_, broadcast(1));
            }
        }
        if (caches_.program(sets_[i % chunk], line, now_++, all_, data.misses)) {
            data.all_l1d = false;
            if (count) program_.add(data.misses);
        }
        return latency;
    }

    LANES_INLINE_MEMBER void timed_access(const Accesses& a, size_t i) {
        if (i % chunk == 0) prepare(a, i);
        TlbOutcome t;
        DataOutcome data;
        const V walk = step<true>(a, i, t, data);
        const uint64_t address = a.addresses[i];
        window_.access(address, page_of(address, a.regions[i]), line_of(address, a.regions[i]), a.is_store[i] != 0, t, walk, data);
    }

    static void drain(V& from, uint64_t* to) {
        alignas(64) uint32_t lanes[lane_count];
        store(reinterpret_cast<V*>(lanes), from);
        for (unsigned lane = 0; lane < lane_count; ++lane) to[lane] += lanes[lane];
        from = zero();
    }

    void flush_counted(uint64_t references) {
        tlbs_.flush(counts_.stlb_hits, counts_.stlb_misses);
        counts_.program_references += references;
        drain(unit_misses_, counts_.unit_misses);
        drain(walk_cycles_, counts_.unit_walk_cycles);
        drain(walker_loads_.references, counts_.walker_loads);
        for (int level = 0; level < 3; ++level) {
            drain(walker_loads_.missed[level], counts_.walker_missed[level]);
            drain(program_.missed[level], counts_.program_missed[level]);
        }
    }

    uint16_t active_;
    Mask all_;
    TlbLanes tlbs_;
    WalkerLanes walker_;
    CacheLanes caches_;
    WindowLanes window_;
    LoadCounters walker_loads_, program_;
    V walk_cycles_ = zero(), unit_misses_ = zero();
    uint32_t now_ = 1, last_line_ = 0;
    CacheLanes::Sets sets_[chunk];
    LaneCounts counts_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
