// interval_file.h - reads sample units at chosen places.
//
// CSV `start_access,warmup_accesses,timed_instructions,weight`, one unit a row, in the order of the stream. What the
// columns mean: sample_plan.h, Interval. Uses: one contiguous part, representatives of clusters of basic-block vectors
// (weight = size of the cluster; Sherwood et al., ASPLOS 2002), random places.
#pragma once

#include <string>
#include <vector>

#include "engine/sample_plan.h"

namespace tessera::sim {

/// Throws Refusal naming `path`, line and column for: an empty list; malformed numbers; 0 timed instructions; weights that
/// are not positive and finite; a unit that begins before the end of the previous warm-up; a unit whose timed part would
/// begin after the stream's `accesses`. (A part may have no access.) PlanCursor finds overlaps with timed parts later.
std::vector<Interval> parse_intervals(const std::string& text, const std::string& path, uint64_t accesses);
std::vector<Interval> read_intervals(const std::string& path, uint64_t accesses);

}  // namespace tessera::sim
