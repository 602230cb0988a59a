// SPDX-License-Identifier: GPL-2.0-only
// head.h - finds blocks whose first access is certain. The callback of that access then also writes the block event.
//
// A callback costs about 10 ns and most blocks have one or two accesses, so this saves a third to half of them. Only
// plain instructions qualify, which access memory exactly once in at most 8 bytes whenever they execute: moves,
// arithmetic with a memory source, compares, push, pop, call, ret. Blocks with other first accesses keep their own callback.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode.h"

namespace tessera::tracer {

enum class Access { none, one_load, one_store, unknown };

/// The memory accesses of one instruction, if they are certain.
Access access_of(Decoder& decoder, const uint8_t* bytes, size_t size, uint64_t pc);

}  // namespace tessera::tracer
