// SPDX-License-Identifier: GPL-2.0-only
// registers.h - capstone's registers as the bits of trace.h: 0-15 general purpose in encoding order, 16
// flags, 17-32 vector registers. x87, MMX, segment, mask and control registers have no bit: chains through
// them are not modelled.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>

namespace tessera::tracer {

constexpr uint64_t flags_bit = uint64_t{1} << 16;
constexpr uint64_t rcx_bit = uint64_t{1} << 1;
constexpr uint64_t rsp_bit = uint64_t{1} << 4;
constexpr uint64_t rbp_bit = uint64_t{1} << 5;
constexpr uint64_t rsi_bit = uint64_t{1} << 6;
constexpr uint64_t rdi_bit = uint64_t{1} << 7;

constexpr uint64_t all_registers = (uint64_t{1} << 33) - 1;

/// The bit of the full register that holds `reg` (al, ax, eax and rax are one), or 0.
uint64_t register_bit(unsigned reg);

}  // namespace tessera::tracer
