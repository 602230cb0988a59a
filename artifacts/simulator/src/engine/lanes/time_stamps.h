// time_stamps.h - renumbering of a machine's 32-bit recency stamps before they run out.
//
// Only the order of stamps matters, so all that are in use are replaced by their ranks. Exact, and rare: once in
// some 800 million accesses.
#pragma once

#include "engine/lanes/machine.h"

namespace tessera::sim::lanes {

/// Makes room for `accesses` more accesses if there is too little.
void ensure_stamps(Machine& machine, size_t accesses);
void renumber_stamps(Machine& machine);

}  // namespace tessera::sim::lanes
