// group_baseline.cpp - the clock's lanes built for plain x86-64; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA baseline
#include "engine/timing/group_lanes.h"

namespace tessera::sim::timing {

ClockGroup* make_group_baseline(const ClockConfig& config, unsigned parts, void* memory) {
    return TESSERA_ISA::make_group(config, parts, memory);
}

}  // namespace tessera::sim::timing
