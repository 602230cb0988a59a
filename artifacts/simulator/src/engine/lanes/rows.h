// rows.h - a row: one byte for each of 64 layouts; and sets of layouts ("lanes") in the form that selects bytes.
//
// A row is worked on in parts of the machine's register: one of 64 bytes (AVX-512, lanes in a mask register), two of 32
// (AVX2, lanes as bytes of 0 or 255), eight of 8 (plain C++ on 64-bit words). Parts do not depend on each other, so loops
// over ways are inside loops over parts and skip those without lanes. Between functions lanes travel as uint64_t, bit l for
// layout l.
#pragma once

#include "engine/lanes/inline.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tessera::sim::lanes::TESSERA_ISA {

struct alignas(64) Row {
    uint8_t byte[64];
};

#if defined(__AVX512BW__)

using Part = __m512i;
using PartLanes = __mmask64;  // operated on by intrinsics: plain operators would send masks through general registers
inline constexpr unsigned parts = 1;

LANES_INLINE Part splat(uint32_t byte) { return _mm512_set1_epi8(char(byte)); }
LANES_INLINE Part load(const Row* row, unsigned) { return _mm512_load_si512(row); }
LANES_INLINE void store(Row* row, unsigned, Part a) { _mm512_store_si512(row, a); }
LANES_INLINE PartLanes equal(Part a, Part b) { return _mm512_cmpeq_epi8_mask(a, b); }
LANES_INLINE Part select(PartLanes m, Part a, Part b) { return _mm512_mask_mov_epi8(b, m, a); }
LANES_INLINE Part count(Part a, PartLanes m) { return _mm512_mask_add_epi8(a, m, a, _mm512_set1_epi8(1)); }
LANES_INLINE Part sum(Part a, Part b) { return _mm512_add_epi8(a, b); }
LANES_INLINE Part difference(Part a, Part b) { return _mm512_sub_epi8(a, b); }
LANES_INLINE PartLanes lanes_of(uint64_t lanes, unsigned) { return _cvtu64_mask64(lanes); }
LANES_INLINE uint64_t bits_of(PartLanes m) { return _cvtmask64_u64(m); }
LANES_INLINE PartLanes without(PartLanes a, PartLanes b) { return _kandn_mask64(b, a); }
LANES_INLINE PartLanes both(PartLanes a, PartLanes b) { return _kand_mask64(a, b); }
LANES_INLINE PartLanes differing(PartLanes among, Part a, Part b) { return _mm512_mask_cmpneq_epi8_mask(among, a, b); }

#elif defined(__AVX2__)

using Part = __m256i;
using PartLanes = __m256i;
inline constexpr unsigned parts = 2;

LANES_INLINE Part splat(uint32_t byte) { return _mm256_set1_epi8(char(byte)); }
LANES_INLINE Part load(const Row* row, unsigned part) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(row->byte + 32 * part)); }
LANES_INLINE void store(Row* row, unsigned part, Part a) { _mm256_store_si256(reinterpret_cast<__m256i*>(row->byte + 32 * part), a); }
LANES_INLINE PartLanes equal(Part a, Part b) { return _mm256_cmpeq_epi8(a, b); }
// Three instructions, as many as vpblendvb becomes inside the processor, and a shorter way from mask to result.
LANES_INLINE Part select(PartLanes m, Part a, Part b) { return _mm256_xor_si256(b, _mm256_and_si256(_mm256_xor_si256(a, b), m)); }
LANES_INLINE Part count(Part a, PartLanes m) { return _mm256_sub_epi8(a, m); }
LANES_INLINE Part sum(Part a, Part b) { return _mm256_add_epi8(a, b); }
LANES_INLINE Part difference(Part a, Part b) { return _mm256_sub_epi8(a, b); }
LANES_INLINE PartLanes lanes_of(uint64_t lanes, unsigned part) {
    const __m256i low = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i high = _mm256_setr_epi64x(0x0404040404040404, 0x0505050505050505, 0x0606060606060606, 0x0707070707070707);
    const __m256i each = _mm256_set1_epi64x(int64_t(0x8040201008040201));
    const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi64x(int64_t(lanes)), part == 0 ? low : high);
    return _mm256_cmpeq_epi8(_mm256_and_si256(spread, each), each);
}
LANES_INLINE uint64_t bits_of(PartLanes m) { return uint32_t(_mm256_movemask_epi8(m)); }
LANES_INLINE PartLanes without(PartLanes a, PartLanes b) { return _mm256_andnot_si256(b, a); }
LANES_INLINE PartLanes both(PartLanes a, PartLanes b) { return _mm256_and_si256(a, b); }
LANES_INLINE PartLanes differing(PartLanes among, Part a, Part b) { return without(among, equal(a, b)); }

#else

using Part = uint64_t;
using PartLanes = uint64_t;  ///< bytes of 0 or 255
inline constexpr unsigned parts = 8;
inline constexpr uint64_t low_bits = 0x0101010101010101, high_bits = 0x8080808080808080;

LANES_INLINE Part splat(uint32_t byte) { return (byte & 255) * low_bits; }
LANES_INLINE Part load(const Row* row, unsigned part) {
    Part a;
    __builtin_memcpy(&a, row->byte + 8 * part, 8);
    return a;
}
LANES_INLINE void store(Row* row, unsigned part, Part a) { __builtin_memcpy(row->byte + 8 * part, &a, 8); }
/// 255 in each byte that is not 0: its low seven bits carry into the eighth, or that is set.
LANES_INLINE PartLanes filled(uint64_t a) { return (((((a & ~high_bits) + ~high_bits) | a) & high_bits) >> 7) * 255; }
LANES_INLINE PartLanes equal(Part a, Part b) { return ~filled(a ^ b); }
LANES_INLINE Part select(PartLanes m, Part a, Part b) { return (a & m) | (b & ~m); }
/// pre: no counted byte is 255 (counters are emptied in time), so nothing carries.
LANES_INLINE Part count(Part a, PartLanes m) { return a + (m & low_bits); }
/// pre: no sum of two bytes exceeds 255.
LANES_INLINE Part sum(Part a, Part b) { return a + b; }
/// pre: no byte of b exceeds that of a.
LANES_INLINE Part difference(Part a, Part b) { return a - b; }
LANES_INLINE PartLanes lanes_of(uint64_t lanes, unsigned part) {
    return filled(((lanes >> (8 * part) & 255) * low_bits) & 0x8040201008040201);
}
LANES_INLINE uint64_t bits_of(PartLanes m) { return (m & low_bits) * 0x0102040810204080 >> 56; }
LANES_INLINE PartLanes without(PartLanes a, PartLanes b) { return a & ~b; }
LANES_INLINE PartLanes both(PartLanes a, PartLanes b) { return a & b; }
LANES_INLINE PartLanes differing(PartLanes among, Part a, Part b) { return without(among, equal(a, b)); }

#endif

inline constexpr unsigned part_lanes = 64 / parts;

/// The bits of `lanes` that belong to a part, from bit 0.
LANES_INLINE uint64_t bits_of_part(uint64_t lanes, unsigned part) {
    return parts == 1 ? lanes : lanes >> (part * part_lanes) & ((uint64_t{1} << (part_lanes % 64)) - 1);
}

}  // namespace tessera::sim::lanes::TESSERA_ISA
