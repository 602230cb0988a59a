// replay.h - drives a functional stage, and the clock where there is one, over a stream by a plan.
//
// The engines `partial` and `timing` are this with and without a clock. Conventional platforms run on the lanes of
// engine/lanes, up to 64 layouts in a pass; what lanes lack (lanes_lack) runs on engine/scalar.
#pragma once

#include <vector>

#include "engine/engine.h"

namespace tessera::sim {

/// Counts of each layout of the request, in order. pre: 1..max_lanes layouts.
std::vector<LayoutCounts> replay(const Request& request, bool with_clock);

}  // namespace tessera::sim
