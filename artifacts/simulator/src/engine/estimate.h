// estimate.h - from an engine's counts to a result row: scaling and confidence.
//
// H and M are counts over the whole stream. R and C are the instruction-weighted means of the units times all
// instructions: both see the same samples, so what a sample exaggerates in one it exaggerates in the other, and R as a
// function of C keeps its shape. They are ratio estimators with the usual between-unit variance; half-widths use
// Student's t. In full runs they are exact and the half-width is 0; with a single unit it is unknown (an empty field).
// Program and walker loads are scaled by instructions.
#pragma once

#include <string>

#include "engine/engine.h"

namespace tessera::sim {

struct Estimate {
    double value = 0, ci95 = 0;
};

struct Row {
    std::string layout, status = "ok", message;
    bool has_runtime = false;
    Estimate runtime_cycles, walk_cycles;
    uint64_t stlb_hits = 0, stlb_misses = 0, instructions = 0, accesses = 0, timed_instructions = 0;
    std::array<double, 4> program_loads{}, walker_loads{};  ///< references that reached L1D, L2, L3, memory
};

/// sum(y)/sum(x) over units, times x_total. pre: sum(x) > 0.
Estimate ratio_estimate(const std::vector<double>& y, const std::vector<double>& x, double x_total);

Row estimate_row(const Layout& layout, const LayoutCounts& counts, const trace::Header& header,
                 const SamplePlan& plan, bool has_runtime);

Row failed_row(const std::string& layout, const std::string& message);

std::string row_header();
std::string format_row(const Row& row);

}  // namespace tessera::sim
