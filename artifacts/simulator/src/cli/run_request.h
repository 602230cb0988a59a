// run_request.h - the request of `tessera-sim run`: its options, the list of layouts, the sampling plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/variants.h"
#include "engine/sample_plan.h"
#include "engine/weave/templates.h"

namespace tessera::sim {

const CommandHelp& run_help();

/// What decides the pages of a cell.
enum class PagesFrom { layouts, mappings, logs };

/// Throws Refusal unless there is exactly one list.
PagesFrom pages_from(const Options& options);

/// Of --weave, if it is given. Throws Refusal: damaged, without logs, or with an allocator that has no frames.
std::optional<weave::Templates> templates_of(const Options& options, PagesFrom from, const std::vector<Variant>& variants);

/// --fault-times-out and --dram-rows-out. Throws Refusal where nothing is timed.
void check_timed_outputs(const Options& options, const SamplePlan& plan, bool has_runtime);

/// --check-tables. Throws Refusal where nothing can be checked.
bool checks_tables(const Options& options, const SamplePlan& plan);

/// Paths of the list, one per line. Throws Refusal if there is none, or if two have the same name (it identifies the row).
/// `what`: "layout", "mapping" or "log", for messages.
std::vector<std::string> layout_paths(const std::string& list, const std::string& what = "layout");

/// The plan from --sampling, from --intervals with --warmup and --timed, or from --interval-file.
SamplePlan plan_of(const Options& options, const trace::Header& header);

}  // namespace tessera::sim
