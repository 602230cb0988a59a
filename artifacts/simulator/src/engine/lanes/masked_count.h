// masked_count.h - counts bits in 64 lanes at once and finds the lanes with at least `limit` bits.
//
// A masked cache asks this of the entries above a line: a lane that is in `ways` of them holds the line no longer. With
// AVX-512 each lane has a byte counter. Elsewhere the counters are bit planes that start at 2^planes - limit, so that
// the carry out of the last plane says that the limit is reached; what a counter holds after that does not matter.
#pragma once

#include <immintrin.h>

#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

inline constexpr unsigned most_masked_ways = 64;

class LaneCount {
public:
    /// limit: 1 to most_masked_ways.
    LANES_INLINE_MEMBER explicit LaneCount(unsigned limit) {
#if defined(__AVX512BW__)
        limit_ = _mm512_set1_epi8(char(limit));
        count_ = _mm512_setzero_si512();
#else
        const unsigned start = most_masked_ways - limit;
        for (unsigned k = 0; k < planes; ++k) plane_[k] = start >> k & 1 ? ~uint64_t{0} : 0;
#endif
    }

    LANES_INLINE_MEMBER void add(uint64_t lanes) {
#if defined(__AVX512BW__)
        count_ = _mm512_mask_adds_epu8(count_, lanes, count_, _mm512_set1_epi8(1));
#else
        for (unsigned k = 0; k < planes; ++k) {
            const uint64_t carry = plane_[k] & lanes;
            plane_[k] ^= lanes;
            lanes = carry;
        }
        reached_ |= lanes;
#endif
    }

    /// Lanes added fewer than `limit` times.
    LANES_INLINE_MEMBER uint64_t below() const {
#if defined(__AVX512BW__)
        return _mm512_cmplt_epu8_mask(count_, limit_);
#else
        return ~reached_;
#endif
    }

private:
#if defined(__AVX512BW__)
    __m512i limit_, count_;
#else
    static constexpr unsigned planes = 6;
    uint64_t plane_[planes], reached_ = 0;
#endif
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
