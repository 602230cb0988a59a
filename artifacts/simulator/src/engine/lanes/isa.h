// isa.h - chooses the build of the vector code for this processor.
#pragma once

#include <memory>

#include "engine/lanes/machine.h"

namespace tessera::sim::lanes {

/// The widest of `avx512`, `avx2` and `scalar` that the processor has; TESSERA_SIM_ISA overrides (tests compare them).
/// Throws Refusal.
const char* chosen_isa();
std::unique_ptr<Machine> make_machine(const MachineConfig& config);

}  // namespace tessera::sim::lanes
