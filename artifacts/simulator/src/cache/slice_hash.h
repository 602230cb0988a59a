// slice_hash.h - the set of a sliced L3 that a line is in: a slice by a hash of the line, and a set of that slice.
//
// With 2, 4 or 8 slices, bit k of the slice is the parity of the line's bits in masks[k]. These are the functions o0, o1, o2 that
// Maurice et al. (RAID 2015, "Reverse Engineering Intel Last-Level Cache Complex Addressing Using Performance Counters") found in
// processors from Sandy Bridge to Broadwell; they cover the address bits 6 to 37. Vendors do not publish the functions for other numbers.
// Here the slice is then the fraction of a multiplication by the golden ratio (Knuth, vol. 3, 6.4), scaled to their number: assumed.
//
// The set within a slice is (line XOR number of its 2MB region) mod (sets of a slice): assumed. Inside a region these are the
// line's own low bits, which index the slices of real processors. With these bits alone, a stride of 32 KB would use four sets of each slice
// of 2048, as many in all as without slices.
//
// Plain code without the C++ library, and static: vector code (engine/lanes) has its own copy in each of its builds.
#pragma once

#include <cstdint>

namespace tessera::sim {

/// pre: slices is 1 to 2^32 - 1.
static constexpr uint64_t slice_of(uint64_t line, uint64_t slices) {
    constexpr uint64_t masks[3] = {0x1B5F575440 >> 6, 0x2EB5FAA880 >> 6, 0x3CCCC93100 >> 6};
    if (slices <= 8 && (slices & (slices - 1)) == 0) {
        uint64_t slice = 0;
        for (unsigned bit = 0; uint64_t{1} << bit < slices; ++bit) slice |= uint64_t(__builtin_parityll(line & masks[bit])) << bit;
        return slice;
    }
    return (line * 0x9E3779B97F4A7C15u >> 32) * slices >> 32;
}

/// Which set, counted over all slices. `within(number)` is number mod (sets of a slice), in the caller's fastest way.
template <class Modulo>
static constexpr uint64_t sliced_set(uint64_t line, uint64_t slices, uint64_t sets_of_a_slice, Modulo&& within) {
    return slice_of(line, slices) * sets_of_a_slice + within(line ^ line >> 15);
}

}  // namespace tessera::sim
