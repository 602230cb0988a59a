// machine_baseline.cpp - the machine built for plain x86-64; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA baseline
#include "engine/lanes/machine_impl.h"

namespace tessera::sim::lanes {

Machine* make_machine_baseline(const MachineConfig& config) { return new TESSERA_ISA::LaneMachine(config); }

}  // namespace tessera::sim::lanes
