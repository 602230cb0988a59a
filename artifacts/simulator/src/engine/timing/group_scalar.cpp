// group_scalar.cpp - the clock's lanes built for scalar; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA scalar
#include "engine/timing/group_lanes.h"

namespace tessera::sim::timing {

Group* make_group_scalar(const ClockConfig& config, unsigned parts, void* memory) { return TESSERA_ISA::make_group(config, parts, memory); }

}  // namespace tessera::sim::timing
