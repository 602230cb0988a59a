// recent_sets_avx512.h - the steps of recent_sets.h with a set in one register. Only for files that may use AVX-512 (CMakeLists.txt).
//
// Such a file must use no inline code of the C++ library: the linker keeps one copy of it for the whole program.
#pragma once

#include <immintrin.h>

#include "tlb/recent_sets.h"

namespace tessera::sim {

/// Of a RecentSets, which outlives it.
class RecentSetsAvx512 {
public:
    RecentSetsAvx512(RecentSet* sets, uint64_t set_mask, uint32_t all_ways) : sets_(sets), set_mask_(set_mask), all_ways_(all_ways) {}

    inline __attribute__((always_inline)) EntryPlace seek(uint64_t index, uint64_t name) const {
        const size_t set = index & set_mask_;
        const __m512i rest = _mm512_xor_si512(_mm512_load_si512(sets_[set].words), everywhere(name << RecentSets::payload_bits));
        const size_t way = _mm512_cmple_epu64_mask(rest, _mm512_set1_epi64(int64_t(RecentSets::most_payload)));
        return {set, way, way != 0};
    }
    inline __attribute__((always_inline)) uint64_t payload(const EntryPlace& at) const {
        return sets_[at.set].words[__builtin_ctzll(at.way | 1u << 7)] & RecentSets::most_payload;
    }
    inline __attribute__((always_inline)) void enter(const EntryPlace& at, uint64_t name, uint64_t payload) const {
        enter_if(true, at, name, payload);
    }
    inline __attribute__((always_inline)) void enter_if(bool condition, const EntryPlace& at, uint64_t name, uint64_t payload) const {
        const uint64_t up_to = at.way ^ (at.way - 1);  // the way, and all that are more recent; all bits if it is 0
        const __mmask8 moved = __mmask8(up_to & all_ways_ & (uint64_t{0} - uint64_t{condition}));
        RecentSet& set = sets_[at.set];
        const __m512i words = _mm512_load_si512(set.words);
        const __m512i shifted = _mm512_alignr_epi64(words, everywhere(name << RecentSets::payload_bits | payload), 7);
        _mm512_store_si512(set.words, _mm512_mask_mov_epi64(words, moved, shifted));
    }

private:
    /// Through memory: the ports that load are free in these loops, and the one that moves words into vectors is not.
    static inline __attribute__((always_inline)) __m512i everywhere(uint64_t word) {
        asm("" : "+m"(word));
        return _mm512_set1_epi64(int64_t(word));
    }

    RecentSet* sets_;
    uint64_t set_mask_;
    uint32_t all_ways_;  ///< a bit for each
};

}  // namespace tessera::sim
