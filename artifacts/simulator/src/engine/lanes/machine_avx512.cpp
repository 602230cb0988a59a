// machine_avx512.cpp - the machine built for avx512; CMakeLists.txt sets the compiler's flags for this file.
#define TESSERA_ISA avx512
#include "engine/lanes/machine_impl.h"

namespace tessera::sim::lanes {

Machine* make_machine_avx512(const MachineConfig& config) { return new TESSERA_ISA::LaneMachine(config); }

}  // namespace tessera::sim::lanes
