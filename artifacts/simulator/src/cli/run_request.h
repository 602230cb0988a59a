// run_request.h - what `tessera-sim run` is asked for: its options, the list of layouts, the plan.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "engine/sample_plan.h"

namespace tessera::sim {

const CommandHelp& run_help();

/// Paths of the list, one a line. Throws Refusal when there is none, or two have the same name (rows are told apart by it).
std::vector<std::string> layout_paths(const std::string& list);

/// From --sampling, or --intervals with --warmup and --timed, or --interval-file: one of the three ways.
SamplePlan plan_of(const Options& options, const trace::Header& header);

}  // namespace tessera::sim
