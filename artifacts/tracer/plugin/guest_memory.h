// SPDX-License-Identifier: GPL-2.0-only
// guest_memory.h - reads and writes the memory of the recorded program.
//
// For x86-64 on x86-64 QEMU's guest base is 0, so a guest address is a host address. check_guest_base() compares
// translated code with what lies at its address, so another base is an error and not wrong data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::tracer {

/// Copies `size` bytes at guest address `address`; false when they can't be read.
bool read_guest(uint64_t address, void* to, size_t size);

/// Writes `size` bytes to guest address `address`; false when they can't be written.
bool write_guest(uint64_t address, const void* from, size_t size);

/// False when the code at `address` is not `bytes`.
bool check_guest_base(uint64_t address, const void* bytes, size_t size);

}  // namespace tessera::tracer
