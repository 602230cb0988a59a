// passes.h - the cells of a run in the order of their rows, and those that go through the trace together.
//
// Conventional platforms under layouts run on engine/lanes, where a pass over many layouts takes about the time of one. Each
// such variant has passes of its own, or shares them with variants that differ in time alone and so have the same hits and
// misses. All other variants share their passes: a pass has a few layouts or mappings under all of these variants. Rows have
// this order, too, so that each is written soon after its pass: first the variants of the lanes, one after the other; then,
// layout by layout, the others. The order depends neither on threads nor on the size of groups.
#pragma once

#include <cstddef>
#include <vector>

namespace tessera::sim {

struct PlacedCell {
    size_t variant, layout;  ///< in their lists
};

struct Passes {
    std::vector<PlacedCell> cells;            ///< in the order of rows
    std::vector<std::vector<size_t>> passes;  ///< places in `cells`
};

/// Cells that cannot run are in `cells` only. stage: of each variant; 0: it does not run on the lanes; those with the same
/// number share a functional stage there. asked_group: layouts of a pass; 0: chosen here. most_layouts, has_clock: of the
/// engine.
Passes passes_of(const std::vector<bool>& variant_runs, const std::vector<size_t>& stage, const std::vector<bool>& layout_runs,
                 size_t threads, size_t asked_group, size_t most_layouts, bool has_clock);

}  // namespace tessera::sim
