// sample_plan.h - chooses the parts of the stream that the caches and the clock simulate.
//
// TLBs see every access, so H and M are exact. C and R come from units: each first warms page-walk caches and data
// caches with warmup_accesses, then counts over timed_instructions. Units are either evenly spaced (`Sampling`) or at
// chosen places (`Interval`s, engine/interval_file.h). Parts begin and end at block executions, so that every engine
// cuts at the same places. TLB, walk-cache and cache contents are kept between units; only the pipeline starts empty.
// If evenly spaced units are together at least as long as the stream, the stream is simulated in full, as one unit
// without warm-up. This never applies to chosen intervals. A plan of no units (`tlbs`) is for H and M alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::sim {

/// full; or evenly spaced units; or neither and no units: TLBs only.
struct Sampling {
    bool full = true;
    uint64_t units = 0, warmup_accesses = 0, timed_instructions = 0;
};

/// `full`, `tlbs` or `units=20,warmup_accesses=2500000,timed_instructions=1000000`. Throws Refusal.
Sampling parse_sampling(const std::string& text);

/// One unit. Its warm-up begins at the first block execution at or after start_access (0-based in the stream), its timed
/// part after warmup_accesses. `weight`: the number of similar parts that this unit represents.
struct Interval {
    uint64_t start_access = 0, warmup_accesses = 0, timed_instructions = 0;
    double weight = 1;
};

enum class Part : uint8_t { tlb_only, warm, timed };

/// Consecutive block executions of one frame that are treated alike.
struct Segment {
    Part part;
    size_t unit;
    size_t begin_execution, end_execution;
    size_t begin_access, end_access;
};

class SamplePlan {
public:
    SamplePlan(const Sampling& sampling, const trace::Header& header);
    /// Units at chosen places. pre: checked by parse_intervals (sorted, inside the stream, weights positive).
    explicit SamplePlan(std::vector<Interval> intervals);
    bool full() const { return full_; }
    /// No units: every access changes TLBs only, and there is no C and no R.
    bool tlbs() const { return !full_ && intervals_.empty(); }
    /// Some accesses are not seen by the caches.
    bool skips_accesses() const { return tlbs() || (!full_ && !chosen_); }
    size_t units() const { return full_ ? 1 : intervals_.size(); }
    uint64_t start_access(size_t unit) const { return full_ ? 0 : intervals_[unit].start_access; }
    /// pre: !full()
    const Interval& interval(size_t unit) const { return intervals_[unit]; }
    double weight(size_t unit) const { return full_ ? 1 : intervals_[unit].weight; }
    bool equal_weights() const;
    /// Units are at chosen places, so a late start is an error.
    bool chosen() const { return chosen_; }

private:
    bool full_, chosen_;
    std::vector<Interval> intervals_;
};

/// A pass before all units that only warms: each frame is one segment.
class WarmCursor {
public:
    explicit WarmCursor(const SamplePlan& plan) : part_(plan.tlbs() ? Part::tlb_only : Part::warm) {}
    const std::vector<Segment>& cut(const trace::Frame& frame) {
        segments_[0] = {part_, 0, 0, frame.block_ids.size(), 0, frame.addresses.size()};
        return segments_;
    }

private:
    Part part_;
    std::vector<Segment> segments_{1};
};

/// Walks a plan along the stream, frame by frame.
class PlanCursor {
public:
    /// Woven blocks (base/woven.h) count neither instructions nor accesses: they are in the part of the program's block behind them.
    PlanCursor(const SamplePlan& plan, const std::vector<trace::StaticBlock>& blocks);
    /// The frame's segments in order, covering the whole frame. Throws Refusal if a chosen interval would begin before the
    /// end of the previous timed part, which is known only here, because its length is in instructions.
    const std::vector<Segment>& cut(const trace::Frame& frame);

private:
    Part part_at(uint64_t access);
    void end_unit(uint64_t access);

    const SamplePlan& plan_;
    std::vector<uint32_t> instruction_counts_;  ///< of each block
    size_t program_blocks_;
    bool weaves_;
    std::vector<Segment> segments_;
    size_t unit_ = 0;
    Part part_ = Part::tlb_only;
    uint64_t access_ = 0, execution_begin_ = 0, warm_begin_ = 0, timed_ = 0;
};

}  // namespace tessera::sim
