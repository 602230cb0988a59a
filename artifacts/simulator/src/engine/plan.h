// plan.h - which cells of a run go through the trace together, and what they share there.
//
// Conventional platforms under layouts run on engine/lanes, where a pass over many layouts takes about the time of one. Each
// such variant has passes of its own, or shares them with variants that differ in time alone and so have the same hits and
// misses. All other variants share their passes: a pass has a few layouts or mappings under all of these variants. Rows have
// this order, too, so that each is written soon after its pass: first the variants of the lanes, one after the other; then,
// layout by layout, the others. The order depends neither on threads nor on the size of groups, and neither do the counts.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/engine.h"

namespace tessera::sim {

struct PlacedCell {
    size_t variant, layout;  ///< in their lists
};

struct Passes {
    std::vector<PlacedCell> cells;            ///< in the order of rows
    std::vector<std::vector<size_t>> passes;  ///< places in `cells`; cells that cannot run are in none
};

/// What bounds a pass.
struct PassLimits {
    size_t threads = 1;        ///< > 0
    size_t asked_layouts = 0;  ///< of a pass; 0: chosen here
    size_t most_layouts;       ///< of the engine
    bool has_clock;            ///< the engine has
};

/// Layouts of a pass for one variant. The time of an engine with a clock is proportional to the layouts, so they are split (at
/// multiples of 16, the clock's lanes) until each thread has a pass. An engine without a clock takes about the same time for 16
/// and 55 layouts (37 and 38 s of CPU time on gups), so its passes are as large as possible.
size_t layouts_of_a_pass(size_t layouts, const PassLimits& limits);

/// Of every variant under every layout. Null: it was refused. mappings: the layouts are mappings, so no variant is on the lanes.
Passes passes_of(const std::vector<const Platform*>& variants, const std::vector<const Layout*>& layouts, bool mappings,
                 const PassLimits& limits);

/// Cells of a pass that share a functional stage.
struct StageCells {
    enum class Path { lanes, tlbs, any_design };  ///< tlbs: TlbGroup, for plans without units; any_design: one cell
    Path path;
    std::vector<const Platform*> platforms;  ///< lanes: they differ in time alone. tlbs: of each cell. any_design: one
    std::vector<const Layout*> layouts;      ///< lanes: each of them is under each platform. tlbs, any_design: one
    std::vector<size_t> cells;               ///< their places; lanes: those of the first platform come first
};

/// tlbs_only: the plan has no units. pre: the components of all platforms exist.
std::vector<StageCells> stages_of(const std::vector<Cell>& all, const std::vector<size_t>& places, bool tlbs_only);

}  // namespace tessera::sim
