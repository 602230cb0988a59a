// isa.h - chooses the build of the vector code for this processor.
#pragma once

#include <memory>

#include "engine/lanes/machine.h"

namespace tessera::sim::lanes {

/// For chosen_isa() (base/isa.h).
std::unique_ptr<Machine> make_machine(const MachineConfig& config);

}  // namespace tessera::sim::lanes
