// vec.h - sixteen unsigned 32-bit lanes and a mask over them, for AVX-512 or AVX2.
//
// Included only by the per-instruction-set builds of the machine; TESSERA_ISA names the namespace, so that the two
// builds share no symbol.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace tessera::sim::lanes::TESSERA_ISA {

#define LANES_INLINE static inline __attribute__((always_inline))
#define LANES_INLINE_MEMBER inline __attribute__((always_inline))

#if defined(__AVX512F__)

// Mask operations by intrinsics: plain integer operators send masks through general registers and back, which
// costs seven cycles in the middle of every move-to-front chain.
struct V { __m512i v; };
struct Mask { __mmask16 k; };

LANES_INLINE V broadcast(uint32_t x) { return {_mm512_set1_epi32(int(x))}; }
LANES_INLINE V load(const V* p) { return {_mm512_load_si512(p)}; }
LANES_INLINE void store(V* p, V a) { _mm512_store_si512(p, a.v); }
LANES_INLINE V operator+(V a, V b) { return {_mm512_add_epi32(a.v, b.v)}; }
LANES_INLINE V operator-(V a, V b) { return {_mm512_sub_epi32(a.v, b.v)}; }
LANES_INLINE V max(V a, V b) { return {_mm512_max_epu32(a.v, b.v)}; }
LANES_INLINE V min(V a, V b) { return {_mm512_min_epu32(a.v, b.v)}; }
LANES_INLINE Mask eq(V a, V b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
LANES_INLINE Mask gt(V a, V b) { return {_mm512_cmpgt_epu32_mask(a.v, b.v)}; }
LANES_INLINE V select(Mask m, V a, V b) { return {_mm512_mask_mov_epi32(b.v, m.k, a.v)}; }
LANES_INLINE V add_if(Mask m, V a, V b) { return {_mm512_mask_add_epi32(a.v, m.k, a.v, b.v)}; }
LANES_INLINE Mask mask_of(uint16_t bits) { return {bits}; }
LANES_INLINE uint16_t bits(Mask m) { return m.k; }
LANES_INLINE bool any(Mask m) { return !_kortestz_mask16_u8(m.k, m.k); }
LANES_INLINE Mask operator&(Mask a, Mask b) { return {_kand_mask16(a.k, b.k)}; }
LANES_INLINE Mask operator|(Mask a, Mask b) { return {_kor_mask16(a.k, b.k)}; }
LANES_INLINE Mask without(Mask a, Mask b) { return {_kandn_mask16(b.k, a.k)}; }

#else

struct alignas(64) V { __m256i lo, hi; };
struct Mask { __m256i lo, hi; };

LANES_INLINE V broadcast(uint32_t x) { const __m256i b = _mm256_set1_epi32(int(x)); return {b, b}; }
LANES_INLINE V load(const V* p) { return *p; }
LANES_INLINE void store(V* p, V a) { *p = a; }
LANES_INLINE V operator+(V a, V b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
LANES_INLINE V operator-(V a, V b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
LANES_INLINE V max(V a, V b) { return {_mm256_max_epu32(a.lo, b.lo), _mm256_max_epu32(a.hi, b.hi)}; }
LANES_INLINE V min(V a, V b) { return {_mm256_min_epu32(a.lo, b.lo), _mm256_min_epu32(a.hi, b.hi)}; }
LANES_INLINE Mask eq(V a, V b) { return {_mm256_cmpeq_epi32(a.lo, b.lo), _mm256_cmpeq_epi32(a.hi, b.hi)}; }
LANES_INLINE Mask without(Mask a, Mask b) { return {_mm256_andnot_si256(b.lo, a.lo), _mm256_andnot_si256(b.hi, a.hi)}; }
LANES_INLINE Mask gt(V a, V b) {  // a > b unless max(a, b) is b
    const __m256i ones = _mm256_set1_epi32(-1);
    const Mask not_above = eq(max(a, b), b);
    return without({ones, ones}, not_above);
}
LANES_INLINE V select(Mask m, V a, V b) { return {_mm256_blendv_epi8(b.lo, a.lo, m.lo), _mm256_blendv_epi8(b.hi, a.hi, m.hi)}; }
LANES_INLINE V add_if(Mask m, V a, V b) {
    return {_mm256_add_epi32(a.lo, _mm256_and_si256(m.lo, b.lo)), _mm256_add_epi32(a.hi, _mm256_and_si256(m.hi, b.hi))};
}
LANES_INLINE Mask mask_of(uint16_t bits) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i lo = _mm256_and_si256(_mm256_set1_epi32(bits & 255), each), hi = _mm256_and_si256(_mm256_set1_epi32(bits >> 8), each);
    return {_mm256_cmpeq_epi32(lo, each), _mm256_cmpeq_epi32(hi, each)};
}
LANES_INLINE uint16_t bits(Mask m) {
    return uint16_t(_mm256_movemask_ps(_mm256_castsi256_ps(m.lo)) | _mm256_movemask_ps(_mm256_castsi256_ps(m.hi)) << 8);
}
LANES_INLINE bool any(Mask m) { const __m256i both = _mm256_or_si256(m.lo, m.hi); return !_mm256_testz_si256(both, both); }
LANES_INLINE Mask operator&(Mask a, Mask b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
LANES_INLINE Mask operator|(Mask a, Mask b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }

#endif

LANES_INLINE V zero() { return broadcast(0); }
LANES_INLINE V max_if(Mask m, V a, V b) { return select(m, max(a, b), a); }

}  // namespace tessera::sim::lanes::TESSERA_ISA
