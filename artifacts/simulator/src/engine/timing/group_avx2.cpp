// group_avx2.cpp - the clock's lanes built for avx2; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA avx2
#include "engine/timing/group_lanes.h"

namespace tessera::sim::timing {

ClockGroup* make_group_avx2(const ClockConfig& config, unsigned parts, void* memory) {
    return TESSERA_ISA::make_group(config, parts, memory);
}

}  // namespace tessera::sim::timing
