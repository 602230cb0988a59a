// group_one.cpp - the clock's lanes built with a single lane: what runs one layout at a time carries no empty lanes along.
#define TESSERA_ISA one
#define TESSERA_ONE_LANE
#include "engine/timing/group_lanes.h"

namespace tessera::sim::timing {

ClockGroup* make_group_one(const ClockConfig& config, unsigned parts, void* memory) {
    return TESSERA_ISA::make_group(config, parts, memory);
}

}  // namespace tessera::sim::timing
