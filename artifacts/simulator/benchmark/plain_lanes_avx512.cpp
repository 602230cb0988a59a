// plain_lanes_avx512.cpp - sixteen layouts a register, masks in mask registers.
#include <immintrin.h>

#include "plain_lanes_impl.h"

namespace tessera::sim::benchmark {
namespace {

struct Avx512 {
    using Tags = __m512i;
    using Mask = __mmask16;
    static constexpr unsigned width = 16;
    static Tags splat(uint32_t tag) { return _mm512_set1_epi32(int(tag)); }
    static Tags load(const uint32_t* way) { return _mm512_load_si512(way); }
    static void store(uint32_t* way, Mask m, Tags a) { _mm512_mask_store_epi32(way, m, a); }
    static Mask mask(uint32_t bits) { return _cvtu32_mask16(bits); }
    static Mask differing(Mask among, Tags a, Tags b) { return _mm512_mask_cmpneq_epi32_mask(among, a, b); }
    static Mask without(Mask a, Mask b) { return _kandn_mask16(b, a); }
    static bool any(Mask m) { return !_kortestz_mask16_u8(m, m); }
    static void add(uint32_t* counts, Mask m) {
        const __m512i before = _mm512_loadu_si512(counts);
        _mm512_storeu_si512(counts, _mm512_mask_add_epi32(before, m, before, _mm512_set1_epi32(1)));
    }
};

}  // namespace

void plain_lanes_avx512(const PlainLanesInput& input, PlainLanesCounts& counts) { plain_lanes_of<Avx512>(input, counts); }

}  // namespace tessera::sim::benchmark
