#include "engine/sample_plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "base/woven.h"

namespace tessera::sim {

Sampling parse_sampling(const std::string& text) {
    const std::string asked = "--sampling " + text;
    const std::string remedy = "write full, tlbs, or units=20,warmup_accesses=2500000,timed_instructions=1000000";
    if (text == "full") return {};
    Sampling sampling{false, 0, 0, 0};
    if (text == "tlbs") return sampling;
    bool seen[3] = {};
    for (std::string_view part : split(text, ',')) {
        const size_t equals = part.find('=');
        const std::string_view key = part.substr(0, equals);
        const int which = key == "units" ? 0 : key == "warmup_accesses" ? 1 : key == "timed_instructions" ? 2 : -1;
        if (which < 0 || equals == std::string_view::npos) throw Refusal(asked, "'" + std::string(part) + "'", remedy);
        const auto value = whole_number(part.substr(equals + 1));
        if (!value || seen[which]) throw Refusal(asked, "'" + std::string(part) + "' is not a number, or its key occurs twice", remedy);
        seen[which] = true;
        (which == 0 ? sampling.units : which == 1 ? sampling.warmup_accesses : sampling.timed_instructions) = *value;
    }
    if (!seen[0] || !seen[1] || !seen[2])
        throw Refusal(asked, "one of the keys units, warmup_accesses, timed_instructions is missing", remedy);
    if (sampling.units == 0 || sampling.timed_instructions == 0) throw Refusal(asked, "0 units or 0 timed instructions", remedy);
    return sampling;
}

SamplePlan::SamplePlan(const Sampling& sampling, const trace::Header& header) : full_(sampling.full), chosen_(false) {
    if (full_ || sampling.units == 0) return;
    const double density = header.instructions ? double(header.accesses) / double(header.instructions) : 1;
    // Uses doubles, because the request may exceed 64 bits; if it is below the stride, both numbers fit.
    const double cost = double(sampling.warmup_accesses) + double(sampling.timed_instructions) * density;
    const uint64_t stride = header.accesses / sampling.units;
    full_ = cost >= double(stride);
    if (full_) return;
    const uint64_t lead = (stride - uint64_t(cost)) / 2;
    for (uint64_t unit = 0; unit < sampling.units; ++unit)
        intervals_.push_back({uint64_t((__uint128_t(header.accesses) * unit) / sampling.units) + lead, sampling.warmup_accesses,
                              sampling.timed_instructions, 1});
}

SamplePlan::SamplePlan(std::vector<Interval> intervals) : full_(false), chosen_(true), intervals_(std::move(intervals)) {}

bool SamplePlan::equal_weights() const {
    return std::all_of(intervals_.begin(), intervals_.end(), [&](const Interval& i) { return i.weight == intervals_[0].weight; });
}

void PlanCursor::end_unit(uint64_t access) {
    part_ = Part::tlb_only;
    ++unit_;
    if (!plan_.chosen() || unit_ == plan_.units()) return;
    // Units end at block executions: a start within the last execution is only rounding, a start before it is an overlap.
    const uint64_t start = plan_.start_access(unit_);
    if (start < access && start <= execution_begin_)
        throw Refusal("interval " + std::to_string(unit_ + 1) + " of the interval file, which begins at access " + std::to_string(start),
                      "the timed part of the previous interval ends at access " + std::to_string(access),
                      "start it there or later, with a shorter warm-up (caches keep their contents between intervals)");
}

PlanCursor::PlanCursor(const SamplePlan& plan, const std::vector<trace::StaticBlock>& blocks)
    : plan_(plan),
      instruction_counts_(trace::instruction_counts(blocks)),
      program_blocks_(program_blocks(blocks)),
      weaves_(program_blocks_ < blocks.size()) {
    std::fill(instruction_counts_.begin() + static_cast<ptrdiff_t>(program_blocks_), instruction_counts_.end(), 0u);
}

/// The part that a block execution beginning at this access belongs to.
Part PlanCursor::part_at(uint64_t access) {
    if (plan_.full()) return Part::timed;
    if (part_ == Part::timed && timed_ >= plan_.interval(unit_).timed_instructions) end_unit(access);
    if (part_ == Part::tlb_only && unit_ < plan_.units() && access >= plan_.start_access(unit_)) {
        part_ = Part::warm;
        warm_begin_ = access;
    }
    if (part_ == Part::warm && access - warm_begin_ >= plan_.interval(unit_).warmup_accesses) {
        part_ = Part::timed;
        timed_ = 0;
    }
    return part_;
}

const std::vector<Segment>& PlanCursor::cut(const trace::Frame& frame) {
    segments_.clear();
    const size_t executions = frame.block_ids.size(), all_accesses = frame.addresses.size();
    const uint64_t accesses = weaves_ ? program_accesses(frame, program_blocks_) : all_accesses;
    if (plan_.full() || (part_ == Part::tlb_only && (unit_ >= plan_.units() || access_ + accesses < plan_.start_access(unit_)))) {
        segments_.push_back({plan_.full() ? Part::timed : Part::tlb_only, plan_.full() ? 0 : unit_, 0, executions, 0, all_accesses});
        access_ += accesses;
        return segments_;
    }
    size_t at = 0;               // access within the frame
    uint64_t of_program = 0;  // the program's before it
    for (size_t e = 0; e < executions; ++e) {
        const Part part = part_at(access_ + of_program);
        if (segments_.empty() || segments_.back().part != part || segments_.back().unit != unit_)
            segments_.push_back({part, unit_, e, e, at, at});
        execution_begin_ = access_ + of_program;
        at += frame.access_counts[e];
        of_program += frame.block_ids[e] < program_blocks_ ? frame.access_counts[e] : 0;
        segments_.back().end_execution = e + 1;
        segments_.back().end_access = at;
        if (part == Part::timed) timed_ += instruction_counts_[frame.block_ids[e]];
    }
    access_ += accesses;
    return segments_;
}

}  // namespace tessera::sim
