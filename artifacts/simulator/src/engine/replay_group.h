// replay_group.h - layouts that share a functional stage, with a clock for each platform if there are clocks.
//
// On the lanes, up to 64 layouts, and any number of platforms that differ in time alone (same_on_lanes()); of any design, one of each.
// The pass itself, with all groups, is in replay.cpp.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "base/isa.h"
#include "engine/cell_group.h"
#include "engine/shared_logs.h"
#include "engine/timing/clock.h"

namespace tessera::sim {

class ReplayGroup final : public CellGroup {
public:
    /// Cells: the layouts under the first platform, then under the next one. Groups run one after the other and share outcomes (null without a
    /// clock). shared: null on the lanes.
    ReplayGroup(const CellsRequest& request, const std::vector<const Platform*>& platforms, const std::vector<const Layout*>& layouts,
                Outcomes* outcomes, SharedLogs* shared)
        : plan_(request.plan),
          blocks_(request.stream.blocks()),
          crossings_(blocks_),
          instruction_counts_(woven_instruction_counts(blocks_)),
          program_blocks_(program_blocks(blocks_)),
          functional_(make_functional({*platforms.front(), request.stream.header().pools, blocks_, layouts, request.check_tables}, shared)),
          outcomes_(outcomes),
          layouts_(layouts.size()),
          results_(platforms.size() * layouts.size()) {
        for (const Platform* platform : platforms) {
            if (outcomes == nullptr) break;
            TimedPlatform& timed = timed_.emplace_back();
            guard(timed, [&] {
                timed.clock = make_clock(*platform, blocks_, unsigned(layouts_), layouts_ == 1 ? "one" : std::string(chosen_isa()),
                                         shared == nullptr ? nullptr : &shared->redirects(*platform), request.counts_rows);
            });
        }
        for (LayoutCounts& r : results_) r.units.resize(plan_.units());
        if (functional_->needs_caches() && plan_.skips_accesses()) throw skipped_accesses(platforms.front()->mmu_design);
    }

    bool frame(const trace::Frame& frame, const std::vector<Segment>& segments) override {
        for (const Segment& s : segments) {
            if (s.part == Part::timed) enter(s.unit);
            else leave();
            cut_segment(frame, s, blocks_, program_blocks_, crossings_, [&](const Chunk& chunk) { run(chunk, s.part); });
        }
        return timed_.empty() || std::any_of(timed_.begin(), timed_.end(), [](const TimedPlatform& timed) { return !timed.refusal; });
    }

    void begin_counts() override { start_ = functional_->counts(); }

    std::vector<CellCounts> finish() override {
        leave();
        const auto counts = functional_->counts();
        std::vector<CellCounts> found(results_.size());
        for (size_t cell = 0; cell < results_.size(); ++cell) {
            LayoutCounts& r = found[cell].counts = std::move(results_[cell]);
            const size_t i = cell % layouts_;
            r.of(Source::program) = counts[i];
            r.of(Source::program) -= start_[i];
            if (program_blocks_ < blocks_.size()) {
                r.kernel = std::move(kernel_);
                r.of(Source::kernel) = functional_->kernel_counts().at(i);
            }
            if (timed_.empty()) continue;
            const TimedPlatform& timed = timed_[cell / layouts_];
            found[cell].refusal = timed.refusal;
            if (!timed.clock) continue;
            r.rows = timed.clock->rows(unsigned(i));
            r.rows -= r.kernel.rows = kernel_rows_;
        }
        return found;
    }

private:
    static std::unique_ptr<Functional> make_functional(const FunctionalContext& context, SharedLogs* shared) {
        return shared == nullptr ? make_lane_functional(context) : make_any_design_functional(context, &shared->events(context.platform));
    }

    struct TimedPlatform {
        std::unique_ptr<Clock> clock;
        std::optional<Refusal> refusal;  ///< its cells' alone
    };

    template <class Work>
    static void guard(TimedPlatform& timed, Work&& work) {
        try {
            work();
        } catch (const Refusal& refusal) {
            timed.refusal = refusal;
        }
    }
    /// work(clock) for those that can go on.
    template <class Work>
    void each_clock(Work&& work) {
        for (TimedPlatform& timed : timed_)
            if (!timed.refusal) guard(timed, [&] { work(*timed.clock); });
    }

    void run(const Chunk& chunk, Part part) {
        if (chunk.source == Source::kernel) count_woven(chunk);
        each_clock([&](Clock& clock) {
            if (part == Part::tlb_only) clock.skip();
            if (part == Part::warm) clock.warm(chunk);
        });
        if (part == Part::tlb_only) return functional_->tlb_only(chunk);
        if (part == Part::warm) return functional_->warm(chunk);
        functional_->counted(chunk, outcomes_);
        if (chunk.source == Source::kernel) return time_woven(chunk);
        each_clock([&](Clock& clock) { clock.run(chunk, *outcomes_); });
        accesses_ += chunk.accesses;
        for (size_t e = 0; e < chunk.executions; ++e) instructions_ += instruction_counts_[chunk.block_ids[e]];
    }

    void count_woven(const Chunk& chunk) {
        faults_ += chunk.ends_fault;
        for (size_t e = 0; e < chunk.executions; ++e) kernel_.instructions += instruction_counts_[chunk.block_ids[e]];
        uint64_t stores = 0;
        for (size_t i = 0; i < chunk.accesses; ++i) stores += chunk.is_store[i];
        kernel_.stores += stores;
        kernel_.loads += chunk.accesses - stores;
    }
    /// Its cycles are what R grows by. pre: one cell, as under every log.
    void time_woven(const Chunk& chunk) {
        each_clock([&](Clock& clock) {
            uint64_t before[max_lanes] = {}, after[max_lanes] = {};
            const DramCounts rows_before = clock.rows(0);
            clock.elapsed(before);
            clock.run(chunk, *outcomes_);
            clock.elapsed(after);
            (kernel_rows_ += clock.rows(0)) -= rows_before;
            kernel_.cycles += after[0] - before[0];
            in_fault_ += after[0] - before[0];
            if (chunk.ends_fault) kernel_.faults.push_back({faults_ - 1, std::exchange(in_fault_, 0)});
        });
    }

    void enter(size_t unit) {
        if (in_unit_ && unit == unit_) return;
        leave();
        in_unit_ = true;
        unit_ = unit;
        accesses_ = instructions_ = 0;
        before_ = functional_->so_far();
        each_clock([](Clock& clock) { clock.begin_unit(); });
    }

    void leave() {
        if (!in_unit_) return;
        in_unit_ = false;
        const auto after = functional_->so_far();
        for (size_t first = 0; first < results_.size(); first += layouts_) {
            uint64_t runtime[max_lanes] = {};
            if (!timed_.empty() && timed_[first / layouts_].clock) timed_[first / layouts_].clock->elapsed(runtime);
            for (size_t i = 0; i < layouts_; ++i)
                results_[first + i].units[unit_] = {instructions_, accesses_, after[i].misses - before_[i].misses,
                                                    after[i].walk_cycles - before_[i].walk_cycles, runtime[i]};
        }
    }

    const SamplePlan& plan_;
    const std::vector<trace::StaticBlock>& blocks_;
    Crossings crossings_;
    const std::vector<uint32_t> instruction_counts_;  ///< of each block
    size_t program_blocks_;
    DramCounts kernel_rows_;
    KernelCounts kernel_;  ///< what does not come from the functional stage
    uint64_t faults_ = 0, in_fault_ = 0;  ///< faults that ended so far; cycles of the one at hand
    std::unique_ptr<Functional> functional_;
    std::vector<TimedPlatform> timed_;  ///< each platform's clock; empty: there are no clocks
    Outcomes* outcomes_;
    std::vector<Counts> start_;  ///< at the begin of the stream
    std::vector<UnitSoFar> before_;  ///< at the begin of the unit
    size_t layouts_;
    std::vector<LayoutCounts> results_;  ///< of each cell
    size_t unit_ = 0;
    bool in_unit_ = false;
    uint64_t accesses_ = 0, instructions_ = 0;
};

}  // namespace tessera::sim
