// group_avx512.cpp - the clock's lanes built for avx512; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA avx512
#include "engine/timing/group_lanes.h"

namespace tessera::sim::timing {

ClockGroup* make_group_avx512(const ClockConfig& config, unsigned parts, void* memory) {
    return TESSERA_ISA::make_group(config, parts, memory);
}

}  // namespace tessera::sim::timing
