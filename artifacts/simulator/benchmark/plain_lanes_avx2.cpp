// plain_lanes_avx2.cpp - eight layouts a register, masks as words of all ones.
#include <immintrin.h>

#include "plain_lanes_impl.h"

namespace tessera::sim::benchmark {
namespace {

struct Avx2 {
    using Tags = __m256i;
    using Mask = __m256i;
    static constexpr unsigned width = 8;
    static Tags splat(uint32_t tag) { return _mm256_set1_epi32(int(tag)); }
    static Tags load(const uint32_t* way) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(way)); }
    static void store(uint32_t* way, Mask m, Tags a) { _mm256_maskstore_epi32(reinterpret_cast<int*>(way), m, a); }
    static Mask mask(uint32_t bits) {
        const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(bits)), each), each);
    }
    static Mask differing(Mask among, Tags a, Tags b) { return _mm256_andnot_si256(_mm256_cmpeq_epi32(a, b), among); }
    static Mask without(Mask a, Mask b) { return _mm256_andnot_si256(b, a); }
    static bool any(Mask m) { return !_mm256_testz_si256(m, m); }
    static void add(uint32_t* counts, Mask m) {
        __m256i* const at = reinterpret_cast<__m256i*>(counts);
        _mm256_storeu_si256(at, _mm256_sub_epi32(_mm256_loadu_si256(at), m));
    }
};

}  // namespace

void plain_lanes_avx2(const PlainLanesInput& input, PlainLanesCounts& counts) { plain_lanes_of<Avx2>(input, counts); }

}  // namespace tessera::sim::benchmark
