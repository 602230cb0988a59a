// outcome_table.h - fills an Outcomes layout by layout, with the rows of walk cycles and the lists that it points to.
#pragma once

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "engine/outcome.h"
#include "engine/any_design/chunk_events.h"
#include "mmu/checked_port.h"

namespace tessera::sim::any_design {

class OutcomeTable {
public:
    explicit OutcomeTable(const Platform& platform) : platform_(platform) {}

    /// Empty outcomes of the chunk whose events these are.
    void begin(Outcomes* out, const Chunk& chunk, const ChunkEvents& events, uint64_t all_lanes) {
        out_ = out;
        out->accesses = chunk.accesses;
        for (uint64_t* masks : {out->looked_up, out->walks, out->walk_l1d_missed, out->l1d_missed, out->l2_missed, out->l3_missed})
            std::memset(masks, 0, chunk.accesses * sizeof *masks);
        used_rows_ = 0;
        one_lane_ = all_lanes == 1;
        states_times_ = false;
        times_.resize(one_lane_ ? chunk.accesses : 0);
        fetches_.clear();
        for (const Fetch& fetch : events.fetches()) fetches_.push_back({fetch.execution, 0, 0, 0});
        crossings_.clear();
        for (size_t i = 0; i < chunk.crossings; ++i) crossings_.push_back({chunk.crossing[i], 0, 0, 0, 0, {}});
        walk_loads_.clear();
        prefetches_.clear();
        for (const Ask& ask : events.asks()) {
            const uint64_t missed = ask.into_l1d ? 0 : all_lanes;  // L1D is not asked by a prefetch into L2
            prefetches_.push_back({ask.access, ask.into_l1d, line_of(PhysAddr(ask.target.value)).value, missed, 0, 0});
        }
        lines_.resize(chunk.accesses);
    }

    void access(size_t i, unsigned lane, const CheckedPort& port, Translation found) {
        const uint64_t bit = uint64_t{1} << lane;
        if (found != Translation::l1_hit) out_->looked_up[i] |= bit;
        if (found == Translation::miss) walk(out_->walks[i], out_->walk_l1d_missed[i], out_->cycles_row[i], lane, port);
        served(port.level(), bit, out_->l1d_missed[i], out_->l2_missed[i], out_->l3_missed[i]);
        lines_[i] = line_of(port.physical()).value;
        times(i, port, found);
    }
    /// The second translation of crossing access `i` of the chunk's.
    void second(size_t i, unsigned lane, const CheckedPort& port, Translation found) {
        CrossingOutcome& of = crossings_[i];
        if (found != Translation::l1_hit) of.looked_up |= uint64_t{1} << lane;
        if (found == Translation::miss) walk(of.walks, of.walk_l1d_missed, of.cycles_row, lane, port);
        state_times(of.times, port, found);
    }
    /// One page holds both of crossing access `i`: there is no second translation.
    void in_one_page(size_t i) {
        if (one_lane_) crossings_[i].times.behind_l3 = times_[crossings_[i].access].behind_l3;
    }
    void fetch(size_t i, unsigned lane, const CheckedPort& port, Translation found) {
        if (found == Translation::miss) walk(fetches_[i].walks, fetches_[i].walk_l1d_missed, fetches_[i].cycles_row, lane, port);
    }
    void prefetch(size_t i, unsigned lane, MemoryLevel level) {
        PrefetchOutcome& p = prefetches_[i];
        served(level, uint64_t{1} << lane, p.l1d_missed, p.l2_missed, p.l3_missed);
    }

    void end(bool with_lines) {
        out_->physical_line = with_lines ? lines_.data() : nullptr;
        out_->design_times = states_times_ ? times_.data() : nullptr;
        out_->cycles_rows = used_rows_;
        out_->walk_cycles = reinterpret_cast<uint32_t (*)[max_lanes]>(rows_.data());
        out_->prefetches = prefetches_.size();
        out_->prefetch = prefetches_.data();
        out_->fetches = fetches_.size();
        out_->fetch = fetches_.data();
        out_->crossings = crossings_.size();
        out_->crossing = crossings_.data();
        out_->walk_loads = walk_loads_.size();
        out_->walk_load = walk_loads_.data();
    }

private:
    using Row = std::array<uint32_t, max_lanes>;
    static_assert(sizeof(Row) == sizeof(uint32_t[max_lanes]));

    void walk(uint64_t& walks, uint64_t& l1d_missed, uint32_t& row, unsigned lane, const CheckedPort& port) {
        if (walks == 0) {
            row = uint32_t(used_rows_++);
            if (row == rows_.size()) rows_.push_back({});
            else if (!one_lane_) rows_[row] = {};  // with one lane, the others' numbers never change from 0
        }
        walks |= uint64_t{1} << lane;
        if (port.walk_l1d_missed()) l1d_missed |= uint64_t{1} << lane;
        rows_[row][lane] = uint32_t(port.walk().value);
        for (const LineNumber line : port.walk_memory_lines()) walk_loads_.push_back({row, line.value, uint64_t{1} << lane});
    }
    void times(size_t i, const CheckedPort& port, Translation found) {
        DesignTimes several;
        state_times(one_lane_ ? times_[i] : several, port, found);
    }
    void state_times(DesignTimes& of, const CheckedPort& port, Translation found) {
        const uint32_t usual = found == Translation::l1_hit ? 0 : platform_.stlb_hit_cycles;
        if (port.lookup_cycles() != usual || port.behind_l3() || port.background().value != 0) {
            if (!one_lane_) throw std::logic_error("outcomes of several layouts asked for in one pass, of a design with times of its own");
            states_times_ = true;
        }
        of = {uint32_t(port.background().value), uint16_t(port.lookup_cycles()), port.behind_l3()};
    }
    static void served(MemoryLevel level, uint64_t bit, uint64_t& l1d_missed, uint64_t& l2_missed, uint64_t& l3_missed) {
        if (level > MemoryLevel::l1d) l1d_missed |= bit;
        if (level > MemoryLevel::l2) l2_missed |= bit;
        if (level > MemoryLevel::l3) l3_missed |= bit;
    }

    const Platform& platform_;
    Outcomes* out_ = nullptr;
    bool states_times_ = false;
    std::vector<DesignTimes> times_;  ///< of each access, with one lane
    std::vector<Row> rows_;
    size_t used_rows_ = 0;
    bool one_lane_ = false;
    std::vector<FetchOutcome> fetches_;
    std::vector<CrossingOutcome> crossings_;
    std::vector<WalkLoad> walk_loads_;
    std::vector<PrefetchOutcome> prefetches_;
    std::vector<uint64_t> lines_;
};

}  // namespace tessera::sim::any_design
