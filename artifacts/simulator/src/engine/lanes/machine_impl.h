// machine_impl.h - the machine of machine.h, compiled once for each instruction set.
#pragma once

#include "engine/lanes/lane_walker.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LaneMachine final : public Machine {
public:
    explicit LaneMachine(const MachineConfig& c)
        : all_(c.lanes),
          queues_walks_(c.queues_walks),
          tlbs_(c.tlb),
          walker_(c),
          memory_({shape(c.cache[0]), shape(c.cache[1]), shape(c.cache[2]), c.walker_pollutes}) {
        std::memset(&counts_, 0, sizeof counts_);
    }

    void tlb_only(const Work& w) override {
        last_line_ = no_line;  // updates the TLBs but not the caches
        size_t at = 0, crossed = 0;
        for (size_t next = 0; next < w.fetch_count; ++next) {
            run_tlbs(w, at, crossed, w.fetches[next].access);
            tlbs_.fetch(w.fetches[next].address, w.fetches[next].region, all_);
        }
        run_tlbs(w, at, crossed, w.count);
    }

    void warm(const Work& w) override { everything<false, false>(w, nullptr); }

    void counted(const Work& w, Outcomes* out) override {
        counts();
        uint64_t before[max_lanes], before_instruction[max_lanes];
        std::memcpy(before, counts_.stlb_misses, sizeof before);
        std::memcpy(before_instruction, counts_.instruction_stlb_misses, sizeof before_instruction);
        if (out == nullptr) everything<true, false>(w, nullptr);
        else everything<true, true>(w, out);
        counts();
        for (unsigned lane = 0; lane < max_lanes; ++lane) {
            counts_.counted_misses[lane] += counts_.stlb_misses[lane] - before[lane];
            counts_.counted_instruction_misses[lane] += counts_.instruction_stlb_misses[lane] - before_instruction[lane];
        }
        counts_.counted_accesses += w.count;
    }

    const LaneCounts& counts() override {
        tlbs_.drain(counts_.stlb_hits, counts_.stlb_misses);
        tlbs_.instruction.hits.drain(counts_.instruction_stlb_hits);
        tlbs_.instruction.misses.drain(counts_.instruction_stlb_misses);
        walks_.loads.drain(counts_.walker_loads);
        fetches_.loads.drain(counts_.fetcher_loads);
        for (unsigned level = 0; level < 3; ++level) {
            program_missed_[level].drain(counts_.program_missed[level]);
            walks_.missed[level].drain(counts_.walker_missed[level]);
            fetches_.missed[level].drain(counts_.fetcher_missed[level]);
        }
        return counts_;
    }

    unsigned wide_arrays() const override { return tlbs_.wide_arrays(); }

private:
    static constexpr uint64_t no_line = ~uint64_t{0};
    static CacheShape shape(const CacheConfig& c) { return {c.sets, c.ways, c.slices}; }

    /// Accesses [at, end) with their second pages, from `crossed` on.
    void run_tlbs(const Work& w, size_t& at, size_t& crossed, size_t end) {
        for (; crossed < w.second_count && w.seconds[crossed].access < end; ++crossed) {
            const SecondPage& second = w.seconds[crossed];
            tlbs_.run(w, at, second.access + 1);
            at = second.access + 1;
            tlbs_.run_second(second.address, second.region, second_region(w, second));
        }
        tlbs_.run(w, at, end);
        at = end;
    }

    /// The second page's region in the lanes where no larger page holds both.
    static Region second_region(const Work& w, const SecondPage& second) {
        const uint32_t first = w.regions[second.access];
        Region region = w.region_table[second.region];
        if (second.region == first) region.lanes[1] = 0;
        if (region.gigabyte == w.region_table[first].gigabyte) region.lanes[2] = 0;
        return region;
    }

    template <bool count, bool record>
    void everything(const Work& w, Outcomes* out) {
        if (record) cycles_.begin(w.count + w.fetch_count + w.second_count), walk_loads_.clear();
        size_t next_fetch = 0, next_wanted = 0, next_second = 0;
        size_t crossing = w.second_count == 0 ? w.count : w.seconds[0].access;  // the next access that crosses
        for (size_t i = 0; i < w.count && i < regions_ahead; ++i) fetch_region(w, i);
        for (size_t i = 0; i < w.count && i < heads_ahead; ++i) fetch_heads(w, i);
        for (size_t i = 0; i < w.count; ++i) {
            while (next_fetch < w.fetch_count && w.fetches[next_fetch].access == i) fetch<count, record>(w, next_fetch++);
            look_ahead(w, i);
            access<count, record>(w, i, out);
            for (; next_wanted < w.wanted_count && w.wanted[next_wanted].access == i; ++next_wanted) prefetch(w.wanted[next_wanted]);
            if (i == crossing) [[unlikely]] {
                second_page<count, record>(w, next_second++);
                crossing = next_second == w.second_count ? w.count : w.seconds[next_second].access;
            }
        }
        while (next_fetch < w.fetch_count) fetch<count, record>(w, next_fetch++);
        if (!record) return;
        out->accesses = w.count;
        out->cycles_rows = cycles_.used();
        out->walk_cycles = reinterpret_cast<uint32_t (*)[max_lanes]>(cycles_.row(0));
        out->walk_loads = walk_loads_.used();
        out->walk_load = walk_loads_.data();
        out->fetches = w.fetch_count;
        out->fetch = w.fetched;
        out->crossings = w.second_count;
        out->crossing = w.crossed;
        out->prefetches = w.wanted_count;
        out->prefetch = w.wanted;
    }

    /// Host prefetches for an access some time ahead: its region; then the heads of the sets of its line and of the entries of its
    /// walk; then what lies behind the heads.
    LANES_INLINE_MEMBER void look_ahead(const Work& w, size_t i) {
        if (i + regions_ahead < w.count) fetch_region(w, i + regions_ahead);
        if (i + heads_ahead < w.count) fetch_heads(w, i + heads_ahead);
        const size_t near = i + entries_ahead;
        if (near >= w.count || w.addresses[near] >> 6 == w.addresses[near - 1] >> 6) return;
        memory_.fetch_entries(w.addresses[near] >> 6);
        if (w.addresses[near] >> 12 == w.addresses[near - 1] >> 12) return;
        memory_.fetch_entries(leaf_line(w, near));
        if (w.regions[near] != w.regions[near - 1]) memory_.fetch_entries(directory_line(w, near));
    }
    LANES_INLINE_MEMBER void fetch_heads(const Work& w, size_t i) {
        if (i > 0 && w.addresses[i] >> 6 == w.addresses[i - 1] >> 6) return;
        memory_.fetch_heads(w.addresses[i] >> 6);
        if (i > 0 && w.addresses[i] >> 12 == w.addresses[i - 1] >> 12) return;
        memory_.fetch_heads(leaf_line(w, i));
        if (i == 0 || w.regions[i] != w.regions[i - 1]) memory_.fetch_heads(directory_line(w, i));
    }
    LANES_INLINE_MEMBER void fetch_region(const Work& w, size_t i) {
        const uint32_t region = w.regions[i];
        if (i > 0 && region == w.regions[i - 1]) return;
        __builtin_prefetch(w.region_table + region);
        __builtin_prefetch(w.page_tables + region);
    }
    LANES_INLINE uint64_t leaf_line(const Work& w, size_t i) { return LaneWalker::leaf_line(w.addresses[i], w.page_tables[w.regions[i]]); }
    LANES_INLINE uint64_t directory_line(const Work& w, size_t i) {
        return LaneWalker::directory_line(w.addresses[i], w.page_tables[w.regions[i]]);
    }

    template <bool count, bool record>
    LANES_INLINE_MEMBER void access(const Work& w, size_t i, Outcomes* out) {
        const uint64_t address = w.addresses[i], line = address >> 6;
        const TlbOutcome t = tlbs_.access(address, w.regions[i], w.region_table[w.regions[i]]);
        const uint64_t any_walk = t.walk[0] | t.walk[1] | t.walk[2];
        WalkRecord walk{count ? &walks_ : nullptr, nullptr, 0, nullptr, 0};
        uint32_t row = 0;
        if (any_walk != 0) {
            if (record) record_walk(walk, row = cycles_.take());
            walker_.walk(t.walk, address, w.regions[i], w, memory_, walk);
            last_line_ = no_line;
        }
        LevelMasks m{0, 0, 0};
        if (line != last_line_) {  // the line that all lanes used last is still L1D's most recent
            last_line_ = line;
            m = memory_.program(line, all_);
            if (count) {
                program_missed_[0].add(m.l1d_missed);
                program_missed_[1].add(m.l2_missed);
                program_missed_[2].add(m.l3_missed);
            }
        }
        if (!record) return;
        out->looked_up[i] = t.looked_up;
        out->walks[i] = any_walk;
        out->walk_l1d_missed[i] = walk.l1d_missed;
        out->cycles_row[i] = row;
        out->l1d_missed[i] = m.l1d_missed;
        out->l2_missed[i] = m.l2_missed;
        out->l3_missed[i] = m.l3_missed;
    }

    LANES_INLINE_MEMBER void record_walk(WalkRecord& walk, uint32_t row) {
        walk.cycles = cycles_.row(row);
        walk.row = row;
        walk.loads = queues_walks_ ? &walk_loads_ : nullptr;
    }

    template <bool count, bool record>
    __attribute__((noinline)) void second_page(const Work& w, size_t index) {
        const SecondPage& second = w.seconds[index];
        CrossingOutcome& outcome = w.crossed[index];
        const TlbOutcome t = tlbs_.access(second.address, second.region, second_region(w, second));
        outcome = {second.access, 0, t.looked_up, t.walk[0] | t.walk[1] | t.walk[2], 0, {}};
        if (outcome.walks == 0) return;
        WalkRecord walk{count ? &walks_ : nullptr, nullptr, 0, nullptr, 0};
        if (record) record_walk(walk, outcome.cycles_row = cycles_.take());
        walker_.walk(t.walk, second.address, second.region, w, memory_, walk);
        outcome.walk_l1d_missed = walk.l1d_missed;
        last_line_ = no_line;
    }

    template <bool count, bool record>
    void fetch(const Work& w, size_t index) {
        const ItlbMiss& f = w.fetches[index];
        FetchOutcome& outcome = w.fetched[index];
        const uint64_t walks = tlbs_.fetch(f.address, f.region, all_);
        outcome = {f.execution, 0, walks, 0};
        if (walks == 0) return;
        WalkRecord walk{count ? &fetches_ : nullptr, nullptr, 0, nullptr, 0};
        if (record) record_walk(walk, outcome.cycles_row = cycles_.take());
        const uint64_t lanes[3] = {walks, 0, 0};
        walker_.walk(lanes, f.address, f.region, w, memory_, walk);
        outcome.walk_l1d_missed = walk.l1d_missed;
        last_line_ = no_line;
    }

    void prefetch(PrefetchOutcome& wanted) {
        const LevelMasks m = wanted.into_l1d ? memory_.prefetch_l1d(wanted.line, all_) : memory_.prefetch_l2(wanted.line, all_);
        wanted.l1d_missed = m.l1d_missed;
        wanted.l2_missed = m.l2_missed;
        wanted.l3_missed = m.l3_missed;
        if (wanted.into_l1d) last_line_ = no_line;
    }

    static constexpr size_t regions_ahead = 48, heads_ahead = 32, entries_ahead = 16;

    uint64_t all_;
    bool queues_walks_;
    LaneTlbs tlbs_;
    LaneWalker walker_;
    MaskedHierarchy memory_;
    WalkCycles cycles_;
    WalkLoads walk_loads_;
    LoadCounters walks_, fetches_;
    LaneCounter program_missed_[3];
    uint64_t last_line_ = no_line;
    LaneCounts counts_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
