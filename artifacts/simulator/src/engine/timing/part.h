// part.h - sixteen unsigned 32-bit lanes and a mask over them, for AVX-512, AVX2 or plain x86-64; vec.h puts several together.
// Or one lane: a part is then a number, for layouts that run one at a time.
//
// Included only by the builds of the clock for one instruction set each; TESSERA_ISA names the namespace, so that the builds
// share no symbol.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__) && !defined(TESSERA_ONE_LANE)
#include <immintrin.h>
#endif

namespace tessera::sim::timing::TESSERA_ISA {

#if defined( \
    TESSERA_OUT_OF_LINE)  // sanitizers: thousands of checked accesses in one function take a compiler half an hour; plain x86-64: 95 s
#define CLOCK_INLINE [[maybe_unused]] static inline
#define CLOCK_MEMBER inline
#else
#define CLOCK_INLINE static inline __attribute__((always_inline))
#define CLOCK_MEMBER inline __attribute__((always_inline))
#endif

#if defined(TESSERA_ONE_LANE)

inline constexpr unsigned width = 1;  ///< lanes of a part
struct Part {
    uint32_t v;
};
struct PartMask {
    uint32_t m;
};  ///< 0 or all bits

CLOCK_INLINE Part load_part(const uint32_t* p) { return {*p}; }
CLOCK_INLINE void store_part(uint32_t* p, Part a) { *p = a.v; }
CLOCK_INLINE Part part_of(uint32_t x) { return {x}; }
CLOCK_INLINE Part operator+(Part a, Part b) { return {a.v + b.v}; }
CLOCK_INLINE Part operator-(Part a, Part b) { return {a.v - b.v}; }
CLOCK_INLINE Part operator|(Part a, Part b) { return {a.v | b.v}; }
CLOCK_INLINE Part max(Part a, Part b) { return {a.v > b.v ? a.v : b.v}; }
CLOCK_INLINE Part min(Part a, Part b) { return {a.v < b.v ? a.v : b.v}; }
CLOCK_INLINE PartMask eq(Part a, Part b) { return {a.v == b.v ? ~0u : 0u}; }
CLOCK_INLINE Part select(PartMask m, Part a, Part b) { return {m.m ? a.v : b.v}; }
CLOCK_INLINE Part add_if(PartMask m, Part a, Part b) { return {a.v + (b.v & m.m)}; }
CLOCK_INLINE PartMask part_mask(uint32_t bits) { return {0u - (bits & 1)}; }
CLOCK_INLINE bool any(PartMask m) { return m.m != 0; }
CLOCK_INLINE PartMask operator&(PartMask a, PartMask b) { return {a.m & b.m}; }
CLOCK_INLINE PartMask without(PartMask a, PartMask b) { return {a.m & ~b.m}; }

#elif defined(__AVX512BW__)

inline constexpr unsigned width = 16;
// PartMask operations by intrinsics: plain integer operators send masks through general registers and back.
struct Part {
    __m512i v;
};
struct PartMask {
    __mmask16 k;
};

CLOCK_INLINE Part load_part(const uint32_t* p) { return {_mm512_loadu_si512(p)}; }
CLOCK_INLINE void store_part(uint32_t* p, Part a) { _mm512_storeu_si512(p, a.v); }
CLOCK_INLINE Part part_of(uint32_t x) { return {_mm512_set1_epi32(int(x))}; }
CLOCK_INLINE Part operator+(Part a, Part b) { return {_mm512_add_epi32(a.v, b.v)}; }
CLOCK_INLINE Part operator-(Part a, Part b) { return {_mm512_sub_epi32(a.v, b.v)}; }
CLOCK_INLINE Part operator|(Part a, Part b) { return {_mm512_or_si512(a.v, b.v)}; }
CLOCK_INLINE Part max(Part a, Part b) { return {_mm512_max_epu32(a.v, b.v)}; }
CLOCK_INLINE Part min(Part a, Part b) { return {_mm512_min_epu32(a.v, b.v)}; }
CLOCK_INLINE PartMask eq(Part a, Part b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
CLOCK_INLINE Part select(PartMask m, Part a, Part b) { return {_mm512_mask_mov_epi32(b.v, m.k, a.v)}; }
CLOCK_INLINE Part add_if(PartMask m, Part a, Part b) { return {_mm512_mask_add_epi32(a.v, m.k, a.v, b.v)}; }
CLOCK_INLINE PartMask part_mask(uint32_t bits) { return {__mmask16(bits)}; }
CLOCK_INLINE bool any(PartMask m) { return !_kortestz_mask16_u8(m.k, m.k); }
CLOCK_INLINE PartMask operator&(PartMask a, PartMask b) { return {_kand_mask16(a.k, b.k)}; }
CLOCK_INLINE PartMask without(PartMask a, PartMask b) { return {_kandn_mask16(b.k, a.k)}; }

#elif defined(__AVX2__)

inline constexpr unsigned width = 16;
struct alignas(64) Part {
    __m256i lo, hi;
};
struct PartMask {
    __m256i lo, hi;
};

// Halves by intrinsics: the compiler copies a struct of two through the stack, in pieces that stores cannot be forwarded from.
CLOCK_INLINE __m256i load_half(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
CLOCK_INLINE void store_half(void* p, __m256i a) { _mm256_storeu_si256(static_cast<__m256i*>(p), a); }
CLOCK_INLINE Part load_part(const uint32_t* p) { return {load_half(p), load_half(p + 8)}; }
CLOCK_INLINE void store_part(uint32_t* p, Part a) { store_half(p, a.lo), store_half(p + 8, a.hi); }
CLOCK_INLINE Part part_of(uint32_t x) {
    const __m256i b = _mm256_set1_epi32(int(x));
    return {b, b};
}
CLOCK_INLINE Part operator+(Part a, Part b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
CLOCK_INLINE Part operator-(Part a, Part b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
CLOCK_INLINE Part operator|(Part a, Part b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
CLOCK_INLINE Part max(Part a, Part b) { return {_mm256_max_epu32(a.lo, b.lo), _mm256_max_epu32(a.hi, b.hi)}; }
CLOCK_INLINE Part min(Part a, Part b) { return {_mm256_min_epu32(a.lo, b.lo), _mm256_min_epu32(a.hi, b.hi)}; }
CLOCK_INLINE PartMask eq(Part a, Part b) { return {_mm256_cmpeq_epi32(a.lo, b.lo), _mm256_cmpeq_epi32(a.hi, b.hi)}; }
CLOCK_INLINE Part select(PartMask m, Part a, Part b) {
    return {_mm256_blendv_epi8(b.lo, a.lo, m.lo), _mm256_blendv_epi8(b.hi, a.hi, m.hi)};
}
CLOCK_INLINE Part add_if(PartMask m, Part a, Part b) {
    return {_mm256_add_epi32(a.lo, _mm256_and_si256(m.lo, b.lo)), _mm256_add_epi32(a.hi, _mm256_and_si256(m.hi, b.hi))};
}
CLOCK_INLINE PartMask part_mask(uint32_t bits) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i lo = _mm256_and_si256(_mm256_set1_epi32(int(bits)), each), hi = _mm256_and_si256(_mm256_set1_epi32(int(bits >> 8)), each);
    return {_mm256_cmpeq_epi32(lo, each), _mm256_cmpeq_epi32(hi, each)};
}
CLOCK_INLINE bool any(PartMask m) {
    const __m256i both = _mm256_or_si256(m.lo, m.hi);
    return !_mm256_testz_si256(both, both);
}
CLOCK_INLINE PartMask operator&(PartMask a, PartMask b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
CLOCK_INLINE PartMask without(PartMask a, PartMask b) { return {_mm256_andnot_si256(b.lo, a.lo), _mm256_andnot_si256(b.hi, a.hi)}; }

#else

inline constexpr unsigned width = 16;
// GCC's vectors: sums of SSE2 instructions on x86-64, and correct on any machine.
typedef uint32_t Lanes __attribute__((vector_size(64)));
typedef uint32_t AnyLanes __attribute__((vector_size(64), aligned(4), may_alias));
struct Part {
    Lanes v;
};
struct PartMask {
    Lanes m;
};

CLOCK_INLINE Part load_part(const uint32_t* p) { return {*reinterpret_cast<const AnyLanes*>(p)}; }
CLOCK_INLINE void store_part(uint32_t* p, Part a) { *reinterpret_cast<AnyLanes*>(p) = a.v; }
CLOCK_INLINE Part part_of(uint32_t x) { return {Lanes{} + x}; }
CLOCK_INLINE Part operator+(Part a, Part b) { return {a.v + b.v}; }
CLOCK_INLINE Part operator-(Part a, Part b) { return {a.v - b.v}; }
CLOCK_INLINE Part operator|(Part a, Part b) { return {a.v | b.v}; }
CLOCK_INLINE Part max(Part a, Part b) { return {a.v > b.v ? a.v : b.v}; }
CLOCK_INLINE Part min(Part a, Part b) { return {a.v < b.v ? a.v : b.v}; }
CLOCK_INLINE PartMask eq(Part a, Part b) { return {Lanes(a.v == b.v)}; }
CLOCK_INLINE Part select(PartMask m, Part a, Part b) { return {(a.v & m.m) | (b.v & ~m.m)}; }
CLOCK_INLINE Part add_if(PartMask m, Part a, Part b) { return {a.v + (b.v & m.m)}; }
CLOCK_INLINE PartMask part_mask(uint32_t bits) {
    const Lanes each = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    return {Lanes(((Lanes{} + bits) & each) == each)};
}
CLOCK_INLINE bool any(PartMask m) {
    typedef uint64_t Words __attribute__((vector_size(64)));
    const Words w = reinterpret_cast<Words>(m.m);
    return (w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) != 0;
}
CLOCK_INLINE PartMask operator&(PartMask a, PartMask b) { return {a.m & b.m}; }
CLOCK_INLINE PartMask without(PartMask a, PartMask b) { return {a.m & ~b.m}; }

#endif

}  // namespace tessera::sim::timing::TESSERA_ISA
