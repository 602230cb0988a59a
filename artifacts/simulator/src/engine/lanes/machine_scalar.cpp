// machine_scalar.cpp - the machine built for scalar; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA scalar
#include "engine/lanes/machine_impl.h"

namespace tessera::sim::lanes {

Machine* make_machine_scalar(const MachineConfig& config) { return new TESSERA_ISA::LaneMachine(config); }

}  // namespace tessera::sim::lanes
