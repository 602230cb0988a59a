// recent_sets.h - the sets of an array with at most eight ways and true LRU, each a cache line in the order of use.
//
// Encoding. A word is an entry: name << 17 | value. Of a name it holds the low 47 bits: the size of a page and the address bits
// up to 52, which tell all canonical addresses of 48 bits apart. The first word of a set is its most recent entry; unused ways hold ~0
// and come last. So a use shifts the words before the entry by one place and puts it in front, and a fill does the same with all ways: the
// last word leaves. Words of ways that do not exist stay ~0. Invariant: the names of a set differ.
//
// For loops over many misses, the steps are match() and shift_in(): no branch depends on what a set holds, as that cannot be
// predicted. PlainSteps are for any x86-64, recent_sets_avx512.h needs one instruction for what takes ten here.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/platform.h"

namespace tessera::sim {

struct alignas(64) RecentSet {
    static constexpr size_t most_ways = 8;
    uint64_t words[most_ways];
};

/// An entry's word is name << recent_value_bits | value.
inline constexpr unsigned recent_value_bits = 17;

class RecentSets {
public:
    static constexpr uint64_t most_value = (uint64_t{1} << recent_value_bits) - 1;

    static bool can_be(const Geometry& geometry) {
        return geometry.entries != 0 && std::has_single_bit(geometry.sets()) && geometry.ways <= RecentSet::most_ways;
    }

    /// pre: can_be(geometry).
    explicit RecentSets(const Geometry& geometry) : ways_(geometry.ways), sets_(geometry.sets()) {
        for (RecentSet& set : sets_) std::fill_n(set.words, RecentSet::most_ways, unused);
    }

    /// The value of the entry, which is then the most recent one of its set; its set is index modulo sets.
    std::optional<uint64_t> lookup(uint64_t index, uint64_t name) {
        uint64_t* const words = words_of(index);
        for (size_t way = 0; way < ways_; ++way)
            if ((words[way] ^ name << recent_value_bits) <= most_value) {
                std::rotate(words, words + way, words + way + 1);
                return words[0] & most_value;
            }
        return std::nullopt;
    }

    /// pre: the entry is not present, value <= most_value. No name has 47 low bits that are all 1.
    void fill(uint64_t index, uint64_t name, uint64_t value) {
        uint64_t* const words = words_of(index);
        std::copy_backward(words, words + ways_ - 1, words + ways_);
        words[0] = name << recent_value_bits | value;
    }

    /// Forgets the entries for which test(name, value) is true; of the name, the low 47 bits.
    template <class Test>
    void drop(Test&& test) {
        for (RecentSet& set : sets_) {
            uint64_t* const end = set.words + ways_;
            const auto drops = [&](uint64_t word) { return word != unused && test(word >> recent_value_bits, word & most_value); };
            std::fill(std::remove_if(set.words, end, drops), end, unused);
        }
    }

    RecentSet* sets() { return sets_.data(); }
    uint64_t set_mask() const { return sets_.size() - 1; }
    uint32_t all_ways() const { return (uint32_t{1} << ways_) - 1; }  ///< a bit for each

private:
    static constexpr uint64_t unused = ~uint64_t{0};

    uint64_t* words_of(uint64_t index) { return sets_[index & set_mask()].words; }

    size_t ways_;
    std::vector<RecentSet> sets_;
};

/// Steps of loops, in plain x86-64 (SSE2).
struct PlainSteps {
    /// The way whose entry has the name of this word, as a bit; 0 if there is none. pre: the word's value is 0.
    static uint32_t match(const RecentSet& set, uint64_t word) {
        const __m128i wanted = _mm_set1_epi64x(int64_t(word));
        const auto rest = [&](size_t way) {  // of two words: 0 where the names are equal
            return _mm_srli_epi64(_mm_xor_si128(_mm_load_si128(reinterpret_cast<const __m128i*>(set.words + way)), wanted),
                                  recent_value_bits);
        };
        const auto equal = [&](size_t way) {  // of four words
            const __m128 a = _mm_castsi128_ps(rest(way)), b = _mm_castsi128_ps(rest(way + 2));
            const __m128 low = _mm_shuffle_ps(a, b, 0x88), high = _mm_shuffle_ps(a, b, 0xdd);
            return _mm_cmpeq_epi32(_mm_castps_si128(_mm_or_ps(low, high)), _mm_setzero_si128());
        };
        const __m128i found = _mm_packs_epi16(_mm_packs_epi32(equal(0), equal(4)), _mm_setzero_si128());
        return uint32_t(_mm_movemask_epi8(found));
    }

    /// Shifts the words of these ways, which are the first ones, by one place, and puts `front` before them. ways 0: does nothing.
    static void shift_in(RecentSet& set, uint32_t ways, uint64_t front) {
        const uint64_t* const shifts = first_ways[__builtin_ctz(~ways)];
        __m128i before = _mm_set1_epi64x(int64_t(front));  // its high half: the word before those at hand
        for (size_t way = 0; way < RecentSet::most_ways; way += 2) {
            __m128i* const place = reinterpret_cast<__m128i*>(set.words + way);
            const __m128i words = _mm_load_si128(place), moved = _mm_unpacklo_epi64(_mm_unpackhi_epi64(before, before), words);
            const __m128i which = _mm_load_si128(reinterpret_cast<const __m128i*>(shifts + way));
            _mm_store_si128(place, _mm_or_si128(_mm_and_si128(which, moved), _mm_andnot_si128(which, words)));
            before = words;
        }
    }

private:
    static constexpr uint64_t all = ~uint64_t{0};
    alignas(64) static constexpr uint64_t first_ways[RecentSet::most_ways + 1][RecentSet::most_ways] = {
        {},
        {all},
        {all, all},
        {all, all, all},
        {all, all, all, all},
        {all, all, all, all, all},
        {all, all, all, all, all, all},
        {all, all, all, all, all, all, all},
        {all, all, all, all, all, all, all, all}};
};

}  // namespace tessera::sim
