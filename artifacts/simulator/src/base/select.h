// select.h - one of two values by a condition that the host cannot predict.
#pragma once

#include <cstdint>

namespace tessera::sim {

/// condition ? a : b as arithmetic: for the operator, the compiler may choose a branch.
constexpr uint64_t select(bool condition, uint64_t a, uint64_t b) { return b ^ ((a ^ b) & (uint64_t{0} - uint64_t{condition})); }

}  // namespace tessera::sim
