// lanes_engine.cpp - the fast engines: up to sixteen layouts in the lanes of vector registers, in one pass.
//
// `partial` gives H, M and C, `timing` R too; both drive the same machine, which gives exactly the reference's
// counts. This file cuts frames by the plan, numbers regions, and turns lane counters into layout counts.
#include <algorithm>

#include "engine/engine.h"
#include "engine/lanes/isa.h"
#include "engine/lanes/program_table.h"
#include "engine/lanes/region_table.h"
#include "engine/lanes/time_stamps.h"

namespace tessera::sim::lanes {
namespace {

class Replay {
public:
    Replay(const Request& request, bool with_clock)
        : layouts_(request.layouts.size()), with_clock_(with_clock), regions_(request.stream.header().pools, request.layouts),
          program_(request.stream.blocks(), request.platform.latency), blocks_(request.stream.blocks()),
          machine_(make_machine(request.platform, unsigned(layouts_))) {
        results_.resize(layouts_);
        for (LayoutCounts& r : results_) r.units.resize(request.plan.units());
    }

    void frame(const trace::Frame& frame, const std::vector<Segment>& segments) {
        regions_.map(frame.addresses, ids_);
        for (const Segment& s : segments) {
            if (s.part == Part::timed) enter(s.unit);
            else leave();
            if (s.part == Part::timed)
                for (size_t e = s.begin_execution; e < s.end_execution; ++e) timed_instructions_ += blocks_[frame.block_ids[e]].insns.size();
            // Bounded pieces, so that stamps and 32-bit lane counters cannot overflow within a call.
            for (size_t e = s.begin_execution, at = s.begin_access; e < s.end_execution;) {
                const size_t first_execution = e, first = at;
                if (s.part == Part::timed && with_clock_) {
                    while (e < s.end_execution && at - first < piece && e - first_execution < piece) at += frame.access_counts[e++];
                } else {
                    at = std::min(first + piece, s.end_access);
                    if (at == s.end_access) e = s.end_execution;
                }
                replay(frame, s, first_execution, e, first, at);
            }
        }
    }

    std::vector<LayoutCounts> finish() {
        leave();
        const LaneCounts& c = machine_->counts();
        for (size_t lane = 0; lane < layouts_; ++lane) {
            LayoutCounts& r = results_[lane];
            r.stlb_hits = c.stlb_hits[lane];
            r.stlb_misses = c.stlb_misses[lane];
            by_serving_level(r.program, c.program_references, c.program_missed, lane);
            by_serving_level(r.walker, c.walker_loads[lane], c.walker_missed, lane);
        }
        return std::move(results_);
    }

private:
    static constexpr size_t piece = 1 << 15;

    void replay(const trace::Frame& frame, const Segment& s, size_t begin_execution, size_t end_execution, size_t begin, size_t end) {
        const Accesses accesses{frame.addresses.data() + begin, ids_.data() + begin, frame.is_store.data() + begin, end - begin,
                                regions_.regions(), regions_.table_frames()};
        if (s.part == Part::tlb_only) return machine_->tlb_only(accesses);
        ensure_stamps(*machine_, accesses.count);
        if (s.part == Part::warm) return machine_->warm(accesses);
        timed_accesses_ += accesses.count;
        if (!with_clock_) return machine_->counted(accesses);
        const Executions executions{frame.block_ids.data() + begin_execution, frame.access_counts.data() + begin_execution,
                                    end_execution - begin_execution};
        machine_->timed(accesses, executions, program_.view());
    }

    void enter(size_t unit) {
        if (in_unit_ && unit == unit_) return;
        leave();
        in_unit_ = true;
        unit_ = unit;
        timed_accesses_ = timed_instructions_ = 0;
        machine_->begin_unit();
    }

    void leave() {
        if (!in_unit_) return;
        in_unit_ = false;
        const LaneCounts& c = machine_->counts();
        uint64_t runtime[lane_count] = {};
        if (with_clock_) machine_->runtime(runtime);
        for (size_t lane = 0; lane < layouts_; ++lane)
            results_[lane].units[unit_] = {timed_instructions_, timed_accesses_, c.unit_misses[lane], c.unit_walk_cycles[lane], runtime[lane]};
    }

    static void by_serving_level(std::array<uint64_t, 4>& served, uint64_t references, const uint64_t missed[3][lane_count], size_t lane) {
        served = {references - missed[0][lane], missed[0][lane] - missed[1][lane], missed[1][lane] - missed[2][lane], missed[2][lane]};
    }

private:
    size_t layouts_;
    bool with_clock_;
    RegionTable regions_;
    ProgramTable program_;
    const std::vector<trace::StaticBlock>& blocks_;
    std::unique_ptr<Machine> machine_;
    size_t unit_ = 0;
    bool in_unit_ = false;
    uint64_t timed_accesses_ = 0, timed_instructions_ = 0;
    std::vector<uint32_t> ids_;
    std::vector<LayoutCounts> results_;
};

class LanesEngine final : public Engine {
public:
    explicit LanesEngine(bool with_clock) : with_clock_(with_clock) {}
    bool has_runtime() const override { return with_clock_; }
    size_t most_layouts() const override { return lane_count; }
    std::vector<LayoutCounts> run(const Request& request) override {
        Replay replay(request, with_clock_);
        PlanCursor cursor(request.plan, request.stream.blocks());
        trace::Frame frame;
        request.stream.rewind();
        while (request.stream.next(frame)) {
            replay.frame(frame, cursor.cut(frame));
            request.progress(frame.addresses.size());
        }
        return replay.finish();
    }

private:
    bool with_clock_;
};

const Registration partial({"partial", "H, M and C; sixteen layouts a pass, exactly the reference's counts",
                            [] { return std::make_unique<LanesEngine>(false); }});
const Registration timing({"timing", "H, M, C and R; sixteen layouts a pass, out-of-order window model in the plan's timed parts",
                           [] { return std::make_unique<LanesEngine>(true); }});

}  // namespace
}  // namespace tessera::sim::lanes
