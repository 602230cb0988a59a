// interval_file.h - sample units at places of the caller's choice.
//
// CSV `start_access,warmup_accesses,timed_instructions,weight`, one unit a row, in the order of the stream. What the
// columns mean: sample_plan.h, Interval. Uses: one contiguous part, representatives of clusters of basic-block vectors
// (weight = size of the cluster; Sherwood et al., ASPLOS 2002), random places.
#pragma once

#include <string>
#include <vector>

#include "engine/sample_plan.h"

namespace tessera::sim {

/// Throws Refusal naming `path`, line and column. Refused: an empty list; numbers that are none; 0 timed instructions;
/// weights that are not positive and finite; a unit that begins before the warm-up of the one before it has ended, or whose
/// timed part would begin behind the stream's `accesses`. (A part may hold no access at all.) Overlaps with timed parts are
/// found on the way (PlanCursor).
std::vector<Interval> parse_intervals(const std::string& text, const std::string& path, uint64_t accesses);
std::vector<Interval> read_intervals(const std::string& path, uint64_t accesses);

}  // namespace tessera::sim
