// markers.h - finds the markers of workloads/common/roi.h in the loaded program, and makes them jump to the hook.
#pragma once

#include "counters/region.h"

namespace tessera::counters {

/// Patches the markers of the executable. If it does not have both, those of the libraries too that are loaded now.
/// Counts them, or the error, in `page`.
void patch_markers(RegionPage* page);

}  // namespace tessera::counters
