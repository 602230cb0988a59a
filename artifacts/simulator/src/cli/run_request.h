// run_request.h - the request of `tessera-sim run`: its options, the list of layouts, the sampling plan.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "engine/sample_plan.h"

namespace tessera::sim {

const CommandHelp& run_help();

/// Paths of the list, one per line. Throws Refusal if there is none, or if two have the same name (it identifies the row).
std::vector<std::string> layout_paths(const std::string& list);

/// The plan from --sampling, from --intervals with --warmup and --timed, or from --interval-file.
SamplePlan plan_of(const Options& options, const trace::Header& header);

}  // namespace tessera::sim
