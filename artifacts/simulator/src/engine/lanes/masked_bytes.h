// masked_bytes.h - which of 64 bytes equal one byte, as a bit mask: the first step of a lookup in a masked cache.
#pragma once

#include <immintrin.h>

#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Bit i is set where bytes[i] == wanted. Reads 64 bytes; any alignment.
LANES_INLINE uint64_t equal_bytes(const uint8_t* bytes, uint8_t wanted) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(char(wanted)));
#elif defined(__AVX2__)
    const __m256i all = _mm256_set1_epi8(char(wanted));
    const auto half = [&](const uint8_t* at) {
        return uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), all)));
    };
    return uint64_t{half(bytes)} | uint64_t{half(bytes + 32)} << 32;
#elif defined(__SSE2__)
    const __m128i all = _mm_set1_epi8(char(wanted));
    uint64_t equal = 0;
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * quarter));
        equal |= uint64_t{uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(some, all)))} << (16 * quarter);
    }
    return equal;
#else
    uint64_t equal = 0;
    for (unsigned i = 0; i < 64; ++i) equal |= uint64_t{bytes[i] == wanted} << i;
    return equal;
#endif
}

}  // namespace tessera::sim::lanes::TESSERA_ISA
