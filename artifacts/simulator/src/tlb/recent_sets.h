// recent_sets.h - the sets of an array with at most eight ways and true LRU, each a cache line in the order of use, with payloads.
//
// Encoding. A word is an entry: name << 17 | payload. Of a name it holds the low 47 bits: the size of a page and the address bits
// up to 52, which tell all canonical addresses of 48 bits apart. The first word of a set is its most recent entry; unused ways hold ~0
// and come last. A use shifts the words before the entry by one place and puts it in front, and a fill does the same with all ways: the
// last word leaves. Words of ways that do not exist stay ~0. Invariant: the names of a set differ.
//
// No branch depends on what a set holds. The steps here are SSE2, which all x86-64 have; recent_sets_avx512.h has the same on one register.
//
// Why it is beside lru_sets.h: a set with its payloads is one cache line instead of three, and anchor.cpp makes two steps a miss. Twenty
// designs in one run, thirteen of them anchors (benchmark/shared_rows.cpp, a processor with AVX2, nothing beside), run 2.0 times as fast
// on gups and 1.9 times on zipf as with lru_sets.h.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/platform.h"
#include "tlb/entry_name.h"

namespace tessera::sim {

struct alignas(64) RecentSet {
    static constexpr size_t most_ways = 8;
    static constexpr unsigned payload_bits = 17;
    static constexpr uint64_t most_payload = (uint64_t{1} << payload_bits) - 1;
    uint64_t words[most_ways];
};

/// The steps of tlb/entry_array.h on sets that belong to a RecentSets. A loop has one of its own: what it points to changes, and it does not.
/// A place's way is a bit, and 0 if not found. pre: no name has 47 low bits that are all 1; payload <= most_payload.
class RecentSteps {
public:
    RecentSteps(RecentSet* sets, uint64_t set_mask, uint32_t all_ways) : sets_(sets), set_mask_(set_mask), all_ways_(all_ways) {}

    inline __attribute__((always_inline)) EntryPlace seek(uint64_t index, uint64_t name) const {
        const size_t set = index & set_mask_, way = match(sets_[set], name << RecentSet::payload_bits);
        return {set, way, way != 0};
    }
    /// Any payload if the entry was not found.
    inline __attribute__((always_inline)) uint64_t payload(EntryPlace at) const {
        return sets_[at.set].words[std::countr_zero(at.way | size_t{1} << (RecentSet::most_ways - 1))] & RecentSet::most_payload;
    }
    inline __attribute__((always_inline)) void enter_if(bool condition, EntryPlace at, uint64_t name, uint64_t payload) const {
        const uint64_t up_to = at.way ^ (at.way - 1);  // the way, and all that are more recent; all bits if it is 0
        shift_in(sets_[at.set], uint32_t(up_to & all_ways_ & (uint64_t{0} - uint64_t{condition})),
                 name << RecentSet::payload_bits | payload);
    }

private:
    /// The way whose entry has the name of this word, as a bit; 0 if there is none. pre: the word's payload is 0.
    static inline __attribute__((always_inline)) uint32_t match(const RecentSet& set, uint64_t word) {
        const __m128i wanted = _mm_set1_epi64x(int64_t(word));
        const auto rest = [&](size_t way) __attribute__((always_inline)) {  // of two words: 0 where the names are equal
            const __m128i two = _mm_load_si128(reinterpret_cast<const __m128i*>(set.words + way));
            return _mm_castsi128_ps(_mm_srli_epi64(_mm_xor_si128(two, wanted), RecentSet::payload_bits));
        };
        const auto equal = [&](size_t way) __attribute__((always_inline)) {  // of four words
            const __m128 low = _mm_shuffle_ps(rest(way), rest(way + 2), 0x88), high = _mm_shuffle_ps(rest(way), rest(way + 2), 0xdd);
            return _mm_cmpeq_epi32(_mm_castps_si128(_mm_or_ps(low, high)), _mm_setzero_si128());
        };
        return uint32_t(_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(equal(0), equal(4)), _mm_setzero_si128())));
    }

    /// Shifts the words of these ways, which are the first ones, by one place, and puts `front` before them. ways 0: does nothing.
    static inline __attribute__((always_inline)) void shift_in(RecentSet& set, uint32_t ways, uint64_t front) {
        const uint64_t* const shifts = first_ways[std::countr_one(ways)];
        __m128i before = _mm_set1_epi64x(int64_t(front));  // its high half: the word before those at hand
        for (size_t way = 0; way < RecentSet::most_ways; way += 2) {
            __m128i* const place = reinterpret_cast<__m128i*>(set.words + way);
            const __m128i words = _mm_load_si128(place), moved = _mm_unpacklo_epi64(_mm_unpackhi_epi64(before, before), words);
            const __m128i which = _mm_load_si128(reinterpret_cast<const __m128i*>(shifts + way));
            _mm_store_si128(place, _mm_or_si128(_mm_and_si128(which, moved), _mm_andnot_si128(which, words)));
            before = words;
        }
    }
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

    RecentSet* sets_;
    uint64_t set_mask_;
    uint32_t all_ways_;  ///< a bit for each
};

class RecentSets {
public:
    static constexpr unsigned payload_bits = RecentSet::payload_bits;
    static constexpr uint64_t most_payload = RecentSet::most_payload;

    static bool can_be(const Geometry& geometry, const Chosen& replacement) {
        return geometry.entries != 0 && std::has_single_bit(geometry.sets()) && geometry.ways <= RecentSet::most_ways &&
               replacement == "lru";
    }

    /// pre: can_be().
    RecentSets(const Geometry& geometry, const Chosen&, const Platform&) : ways_(geometry.ways), sets_(geometry.sets()) {
        for (RecentSet& set : sets_) std::fill_n(set.words, RecentSet::most_ways, unused);
    }

    /// Steps of tlb/entry_array.h.
    EntryPlace seek(uint64_t index, uint64_t name) { return steps().seek(index, name); }
    void enter(EntryPlace at, uint64_t name, uint64_t payload) { steps().enter_if(true, at, name, payload); }
    void enter_if(bool condition, EntryPlace at, uint64_t name, uint64_t payload) { steps().enter_if(condition, at, name, payload); }
    uint64_t payload(EntryPlace at) { return steps().payload(at); }
    RecentSteps steps() { return {sets(), set_mask(), all_ways()}; }

    /// Forgets the entries for which test(name, payload) is true; of the name, the low 47 bits.
    template <class Test>
    void drop(Test&& test) {
        for (RecentSet& set : sets_) {
            uint64_t* const end = set.words + ways_;
            const auto drops = [&](uint64_t word) { return word != unused && test(word >> payload_bits, word & most_payload); };
            std::fill(std::remove_if(set.words, end, drops), end, unused);
        }
    }

    RecentSet* sets() { return sets_.data(); }
    uint64_t set_mask() const { return sets_.size() - 1; }
    uint32_t all_ways() const { return (uint32_t{1} << ways_) - 1; }  ///< a bit for each

private:
    static constexpr uint64_t unused = ~uint64_t{0};

    size_t ways_;
    std::vector<RecentSet> sets_;
};

}  // namespace tessera::sim
