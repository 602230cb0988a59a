// isa.h - which build of the vector code runs here.
#pragma once

#include <memory>

#include "engine/lanes/machine.h"

namespace tessera::sim::lanes {

/// `avx512` where the processor has it, else `avx2`; TESSERA_SIM_ISA overrides (tests compare the two). Throws Refusal.
const char* chosen_isa();
std::unique_ptr<Machine> make_machine(const Platform& platform, unsigned layouts);

}  // namespace tessera::sim::lanes
