// sample_plan.h - which parts of the stream go through the caches and the clock.
//
// TLBs see every access, so H and M are exact. C and R come from `units` evenly spaced samples: each first warms
// page-walk caches and data caches with warmup_accesses, then counts over timed_instructions. Parts begin and end
// at block executions, so that every engine cuts at the same places. TLB, walk-cache and cache contents are kept
// between units; only the pipeline starts empty. A plan that would cover the whole stream anyway is simulated in full, as
// one unit without warm-up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::sim {

struct Sampling {
    bool full = true;
    uint64_t units = 0, warmup_accesses = 0, timed_instructions = 0;
};

/// `full` or `units=20,warmup_accesses=2500000,timed_instructions=1000000`. Throws Refusal.
Sampling parse_sampling(const std::string& text);

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
    bool full() const { return full_; }
    size_t units() const { return full_ ? 1 : sampling_.units; }
    uint64_t start_access(size_t unit) const;
    const Sampling& sampling() const { return sampling_; }

private:
    Sampling sampling_;
    bool full_;
    uint64_t accesses_, lead_ = 0;
};

/// Walks a plan along the stream, frame by frame.
class PlanCursor {
public:
    PlanCursor(const SamplePlan& plan, const std::vector<trace::StaticBlock>& blocks) : plan_(plan), blocks_(blocks) {}
    /// The frame's segments, in order, covering all of it.
    const std::vector<Segment>& cut(const trace::Frame& frame);

private:
    Part part_at(uint64_t access);

    const SamplePlan& plan_;
    const std::vector<trace::StaticBlock>& blocks_;
    std::vector<Segment> segments_;
    size_t unit_ = 0;
    Part part_ = Part::tlb_only;
    uint64_t access_ = 0, warm_begin_ = 0, timed_ = 0;
};

}  // namespace tessera::sim
