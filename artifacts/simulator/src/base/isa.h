// isa.h - the instruction set of vector code on this processor. Files that use one are listed in CMakeLists.txt.
#pragma once

namespace tessera::sim {

/// The widest of `avx512`, `avx2` and `baseline` that the processor has; TESSERA_SIM_ISA overrides (tests compare them).
/// Throws Refusal.
const char* chosen_isa();

}  // namespace tessera::sim
