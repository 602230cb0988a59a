// configure.h - converts a platform to plain numbers for the vector code.
#pragma once

#include "base/platform.h"
#include "engine/lanes/machine_config.h"

namespace tessera::sim::lanes {

/// pre: lanes_lack(platform) is empty; layouts 1..64.
MachineConfig configure(const Platform& platform, size_t layouts);

}  // namespace tessera::sim::lanes
