// machine_avx2.cpp - the machine built for avx2; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA avx2
#include "engine/lanes/machine_impl.h"

namespace tessera::sim::lanes {

Machine* make_machine_avx2(const MachineConfig& config) { return new TESSERA_ISA::LaneMachine(config); }

}  // namespace tessera::sim::lanes
