// replay.h - runs a functional stage, and the clock if there is one, over a stream by a sampling plan.
//
// The engines `timing` and `partial` are this code with and without a clock. Conventional platforms run on engine/lanes,
// up to 64 layouts at once; platforms that the lanes do not support (lanes_lack) run on engine/scalar. There, each layout
// runs through a whole frame before the next one begins, so that its caches stay in those of the host.
#pragma once

#include <vector>

#include "engine/engine.h"

namespace tessera::sim {

/// Counts of each layout of the request, in order. pre: 1..max_lanes layouts.
std::vector<LayoutCounts> replay(const Request& request, bool with_clock);

}  // namespace tessera::sim
