// synonym_filter.h - which addresses may belong to synonym pages: two Bloom filters of 1,024 bits (Park, 2.3.2).
//
// One filter has granules of 32KB, the other of 16MB. An address is a candidate if both filters hold its granule, that is, if all
// four bits are set. There are no false negatives. Granules are never removed (Park rebuilds the filters from time to time).
//
// Hashes. The number of the granule (VA[47:15] or VA[47:24]) is cut in two parts, by one hash 1:1 and by the other 1:2. Each part
// gives five bits: its groups of five bits, from bit 0 on, XORed. The index is the high part's five bits, then the low part's. Park
// does not say where an odd bit goes, nor which part is the smaller one: the low part has fewer bits (assumed).
//
// The two hashes of a granule are not independent: in the fine filter they differ only by a function of granule bits 11 to 15, so they
// are equal for one granule in 32. A filter thus has more false positives than (1 - (1 - 1/1024)^(2n))^2, for n random granules.
#pragma once

#include <array>
#include <bitset>

#include "base/types.h"

namespace tessera::sim {

class BloomFilter {
public:
    /// Granules of 2^shift bytes in an address space of 48 bits.
    explicit constexpr BloomFilter(unsigned shift) : shift_(shift) {}

    /// The two bits of the address's granule, first that of the parts 1:1.
    constexpr std::array<uint32_t, 2> bits(VirtAddr address) const {
        const unsigned width = 48 - shift_;
        const uint64_t granule = address.value >> shift_ & ((uint64_t{1} << width) - 1);
        return {index(granule, width / 2), index(granule, width / 3)};
    }
    void add(VirtAddr address) {
        for (const uint32_t bit : bits(address)) set_.set(bit);
    }
    bool has(VirtAddr address) const {
        const auto [even, uneven] = bits(address);
        return set_[even] && set_[uneven];
    }

private:
    static constexpr uint32_t fold(uint64_t part) {
        uint32_t folded = 0;
        for (; part != 0; part >>= 5) folded ^= part & 31;
        return folded;
    }
    static constexpr uint32_t index(uint64_t granule, unsigned low_bits) {
        return fold(granule >> low_bits) << 5 | fold(granule & ((uint64_t{1} << low_bits) - 1));
    }

    unsigned shift_;
    std::bitset<1024> set_;
};

class SynonymFilter {
public:
    static constexpr unsigned fine_shift = 15, coarse_shift = 24;

    void add(VirtAddr address) {
        fine_.add(address);
        coarse_.add(address);
        empty_ = false;
    }
    bool candidate(VirtAddr address) const { return !empty_ && fine_.has(address) && coarse_.has(address); }

private:
    bool empty_ = true;
    BloomFilter fine_{fine_shift}, coarse_{coarse_shift};
};

}  // namespace tessera::sim
