// replay.h - runs functional stages, and the clock if there is one, over a stream by a sampling plan.
//
// The engines `timing` and `partial` are this code with and without a clock. Under layouts, conventional platforms run on
// engine/lanes, up to 64 layouts at once. Mappings, and platforms that the lanes do not support (lanes_lack), run on engine/any_design.
// There, each cell runs through a whole frame before the next one begins, so that its caches stay in those of the host.
//
// Cells of several platforms share the decoded frame and what does not depend on their designs (shared_logs.h). In a plan without
// units, cells of one layout also share its pages and the L1 DTLB (any_design/tlb_group.h).
#pragma once

#include <vector>

#include "engine/engine.h"

namespace tessera::sim {

/// Counts of each cell, in order. A platform or layout that cannot be simulated is a refusal of its cells. Throws what concerns all.
std::vector<CellCounts> replay(const CellsRequest& request, bool with_clock);

}  // namespace tessera::sim
