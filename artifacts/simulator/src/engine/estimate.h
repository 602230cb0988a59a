// estimate.h - turns an engine's counts into a result row: scaling and confidence.
//
// H and M are counts over the whole stream. R and C are weighted means per instruction over the units, times all
// instructions. Both use the same samples, so a bias of the samples affects both alike, and R as a function of C keeps its
// shape. With weight w, value y and instructions x of each unit, this is the combined ratio estimator
// sum(w y) / sum(w x) (Cochran, Sampling Techniques, 3rd ed., sections 6.2 and 9A.6: a unit is drawn with a probability in
// inverse proportion to w). Half-widths come from the residuals w (y - r x) and Student's t. For units that were not drawn
// at random (one representative per cluster), the half-width measures only the spread.
// In full runs, results are exact and the half-width is 0. With a single unit, it is unknown (an empty field). References
// and instruction-side walk cycles are counted over all units together and scaled by instructions; with unequal weights,
// those columns are empty. A plan without units (`tlbs`) has H and M only: C, R and these columns are empty, and no instruction is timed.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"

namespace tessera::sim {

/// A value and its 95% half-width (NaN: unknown).
struct Estimate {
    double value = 0, ci95 = 0;
};

struct Row {
    std::string layout, status = "ok", message;
    bool has_runtime = false, has_instruction_side = false, has_loads = true, has_walks = true;
    Estimate runtime_cycles, walk_cycles;
    uint64_t stlb_hits = 0, stlb_misses = 0, instructions = 0, accesses = 0, timed_instructions = 0;
    std::array<double, 4> program_loads{}, walker_loads{};  ///< references that reached L1D, L2, L3, memory
    uint64_t instruction_stlb_hits = 0, instruction_stlb_misses = 0;
    double instruction_walk_cycles = 0;
};

/// sum(w y) / sum(w x) over units, times x_total; without weights each is 1. pre: equal lengths, sum(w x) > 0.
Estimate ratio_estimate(const std::vector<double>& y, const std::vector<double>& x, double x_total, const std::vector<double>& w = {});

Row estimate_row(const Layout& layout, const LayoutCounts& counts, const trace::Header& header, const SamplePlan& plan, bool has_runtime,
                 bool has_instruction_side = false);

Row failed_row(const std::string& layout, const std::string& message);

std::string row_header();
std::string format_row(const Row& row);

/// One line a unit: layout,unit,start_access,instructions,accesses,stlb_misses,walk_cycles,runtime_cycles (of its timed part,
/// unscaled; start_access: where its warm-up begins by plan). runtime_cycles is empty where the engine has none.
std::string unit_header();
std::string format_units(const Layout& layout, const LayoutCounts& counts, const SamplePlan& plan, bool has_runtime);

/// One line a layout of woven kernel work. Instructions, loads, stores, stlb_hits and stlb_misses are of the whole stream; walk cycles, cycles
/// and loads by level are scaled by the program's instructions. `cycles` are a part of R; empty where the engine has none.
std::string kernel_header();
std::string format_kernel(const Layout& layout, const LayoutCounts& counts, const trace::Header& header, bool has_runtime);

/// One line a kind of load that asks memory: layout,kind,hits,closed,conflicts, of the timed parts and scaled by instructions; empty where the
/// units of the plan have unequal weights. Kinds: program; walk, if the platform has dram.queues_walks; prefetch; kernel, of woven work,
/// whatever asks. Nothing for a platform without rows.
std::string dram_rows_header();
std::string format_dram_rows(const Platform& platform, const Layout& layout, const LayoutCounts& counts, const trace::Header& header,
                             const SamplePlan& plan, bool weaves);

/// One line a structure of the design, counted over the whole stream: layout,structure,accesses,hits,lookup_cycles,background_cycles
/// (empty). The last line
/// of a layout, `background`, has its background loads and B (background_cycles), scaled by instructions as C is; `hits` are loads that
/// a cache served. Nothing for a design without structures and background loads.
std::string design_header();
std::string format_design(const Layout& layout, const LayoutCounts& counts, const trace::Header& header);

}  // namespace tessera::sim
