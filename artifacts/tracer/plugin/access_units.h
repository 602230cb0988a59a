// SPDX-License-Identifier: GPL-2.0-only
// access_units.h - how many accesses an instruction makes, as its code says: the measure of positions in a region.
//
// Between windows only such static counts are added up, by one addition for each block that runs. The unit is 1/64 of an
// access: QEMU runs `rep movs` and `rep stos` element by element, but a trace has one access for each 64-byte line. So an
// element of n bytes is n units for each of its directions. The first element of an instruction is a whole access, because
// it always enters a line.
// Not modelled: conditions (a masked or predicated access counts, whether it happens or not), and state that one
// instruction saves in many parts (xsave).
#pragma once

#include <cstddef>
#include <cstdint>

#include "head.h"

namespace tessera::tracer {

constexpr uint64_t units_per_access = 64;

struct Counted {
    uint64_t units;  ///< of units_per_access
    uint64_t insns;  ///< instructions retired: none for a further element of a string
};

/// `first_in_block`: a string instruction there is a further element of one that runs.
Counted counted_of(Decoder& decoder, const uint8_t* bytes, size_t size, uint64_t pc, bool first_in_block);

}  // namespace tessera::tracer
