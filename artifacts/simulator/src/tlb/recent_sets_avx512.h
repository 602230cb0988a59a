// recent_sets_avx512.h - the steps of recent_sets.h with AVX-512: a set is a register. Only for files that may use it (CMakeLists.txt).
#pragma once

#include <immintrin.h>

#include "tlb/recent_sets.h"

namespace tessera::sim {

struct Avx512Steps {
    static inline __attribute__((always_inline)) uint32_t match(const RecentSet& set, uint64_t word) {
        const __m512i rest = _mm512_xor_si512(_mm512_load_si512(set.words), everywhere(word));
        return _mm512_cmplt_epu64_mask(rest, _mm512_set1_epi64(int64_t{1} << recent_value_bits));
    }
    static inline __attribute__((always_inline)) void shift_in(RecentSet& set, uint32_t ways, uint64_t front) {
        const __m512i words = _mm512_load_si512(set.words), shifted = _mm512_alignr_epi64(words, everywhere(front), 7);
        _mm512_store_si512(set.words, _mm512_mask_mov_epi64(words, __mmask8(ways), shifted));
    }

private:
    /// Through memory: the ports that load are free in these loops, and the one that moves words into vectors is not.
    static inline __attribute__((always_inline)) __m512i everywhere(uint64_t word) {
        asm("" : "+m"(word));
        return _mm512_set1_epi64(int64_t(word));
    }
};

}  // namespace tessera::sim
