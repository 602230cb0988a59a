// far_literals.h - reads literals of far misses, grouped by width, each group in planes of byte positions.
#pragma once

#include <cstdint>

#include "far_slots.h"

namespace tessera::trace {

struct FarLiterals {
    uint64_t count[max_far_width + 1] = {};
    const uint8_t* from[max_far_width + 1] = {};  ///< `width` planes of count[width] bytes
    uint64_t at[max_far_width + 1] = {};

    uint64_t total() const {
        uint64_t sum = 0;
        for (const uint64_t some : count) sum += some;
        return sum;
    }

    /// The next literal of this width; false (and 0) when there is none, as for width 0.
    bool take(int width, uint64_t& value) {
        value = 0;
        if (at[width] == count[width]) return false;
        const uint64_t planes = count[width];
        const uint8_t* byte = from[width] + at[width]++;
        for (int shift = 0; shift < 8 * width; shift += 8, byte += planes) value |= uint64_t{*byte} << shift;
        return true;
    }
};

}  // namespace tessera::trace
