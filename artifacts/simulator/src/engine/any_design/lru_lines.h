// lru_lines.h - the sets of a data cache under true LRU, each in a few cache lines of the host and without branches on which way holds what.
//
// Encoding. The caller gives lines of a set numbers that differ (tags). A set is the tag that was used last, then of each way: the low 32
// bits of its tag, the high ones (8 or 16), and its rank, 0 for the most recent way and ways - 1 for the one that leaves next. A use adds
// 1 to all lower ranks and clears its own. Invariant: the ranks of a set are 0 to ways - 1, each once. So a use writes little, and
// twenty ways are 128 bytes, where eight-byte lines in the order of use were 160 that a use moves. With as many instructions, gups took
// about 0.95 of its time: a large part of it is what the host's caches must bring.
//
// Which way holds a line cannot be predicted, so four are compared at once (SSE2, which all x86-64 have). What can be: that a line is the
// one that its set saw last.
#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/large_memory.h"

namespace tessera::sim::any_design {

class LruLines {
public:
    static constexpr uint64_t most_ways = 64;

    /// pre: 1 <= ways <= most_ways. Tags are below 2^tag_bits, tag_bits at most 47.
    LruLines(size_t sets, uint64_t ways, unsigned tag_bits)
        : ways_((ways + 3) / 4 * 4),
          last_rank_(char(ways - 1)),
          is_wide_(tag_bits >= 40),  // an unused way has a tag whose bits are all 1
          pieces_((sizeof(uint64_t) + ways_ * (4 + 1 + (is_wide_ ? 2 : 1)) + sizeof(Piece) - 1) / sizeof(Piece)),
          memory_(sets * pieces_ * sizeof(Piece)) {
        if (sets == 0) return;
        newest(at(0)) = nothing;
        for (uint64_t way = 0; way < ways_; ++way) {
            put(at(0), way, nothing);
            ranks(at(0))[way] = char(way < ways ? way : no_way);
        }
        for (size_t set = 1; set < sets; ++set) std::memcpy(at(set), at(0), pieces_ * sizeof(Piece));
    }

    /// True if the set holds the tag, else the least recent one leaves for it. It is then the most recent one.
    bool use(size_t set, uint64_t tag) { return newest(at(set)) == tag || use_other(at(set), tag); }
    bool holds(size_t set, uint64_t tag) const { return find(at(set), tag, ways_) != ways_; }

    /// Brings the set towards this processor; changes nothing.
    void fetch(size_t set) const {
        for (size_t piece = 0; piece < pieces_; ++piece) __builtin_prefetch(at(set) + piece * sizeof(Piece));
    }

private:
    static constexpr uint64_t nothing = ~uint64_t{0};
    static constexpr char no_way = 0x7f;  ///< the rank of a way that does not exist

    template <size_t ways>
    using Known = std::integral_constant<size_t, ways>;

    /// A cache line of the host.
    struct Piece {
        uint64_t words[8];
    };

    // The parts of a set.
    char* at(size_t set) const { return reinterpret_cast<char*>(memory_.data()) + set * pieces_ * sizeof(Piece); }
    static uint64_t& newest(char* set) { return *reinterpret_cast<uint64_t*>(set); }
    static uint32_t* lows(char* set) { return reinterpret_cast<uint32_t*>(set + sizeof(uint64_t)); }
    char* ranks(char* set) const { return set + sizeof(uint64_t) + ways_ * 4; }
    char* highs(char* set) const { return ranks(set) + ways_; }
    uint64_t high(char* set, size_t way) const {
        return is_wide_ ? reinterpret_cast<uint16_t*>(highs(set))[way] : reinterpret_cast<uint8_t*>(highs(set))[way];
    }
    void put(char* set, size_t way, uint64_t tag) {
        lows(set)[way] = uint32_t(tag);
        if (is_wide_) reinterpret_cast<uint16_t*>(highs(set))[way] = uint16_t(tag >> 32);
        else highs(set)[way] = char(tag >> 32);
    }

    __attribute__((noinline)) bool use_other(char* set, uint64_t tag) {
        newest(set) = tag;
        switch (ways_) {
            case 8: return use_in(set, tag, Known<8>());
            case 12: return use_in(set, tag, Known<12>());
            case 16: return use_in(set, tag, Known<16>());
            case 20: return use_in(set, tag, Known<20>());
        }
        return use_in_any(set, tag);
    }
    __attribute__((noinline)) bool use_in_any(char* set, uint64_t tag) { return use_in(set, tag, ways_); }

    /// The way that holds the tag; `ways` if none does.
    template <class Ways>
    size_t find(char* set, uint64_t tag, Ways ways) const {
        const __m128i wanted = _mm_set1_epi32(int(uint32_t(tag)));
        uint64_t equal = 0;
        for (size_t way = 0; way < ways; way += 4) {
            const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lows(set) + way));
            equal |= uint64_t(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(low, wanted)))) << way;
        }
        for (; equal != 0; equal &= equal - 1)
            if (const auto way = size_t(std::countr_zero(equal)); high(set, way) == tag >> 32) return way;
        return ways;
    }

    template <class Ways>
    bool use_in(char* set, uint64_t tag, Ways ways) {
        size_t way = find(set, tag, ways);
        const bool hit = way != ways;
        if (!hit) {
            way = least_recent(set, ways);
            put(set, way, tag);
        }
        make_newest(set, ranks(set)[way], ways);
        return hit;
    }

    template <class Ways>
    size_t least_recent(char* set, Ways ways) const {
        uint64_t found = 0;
        each_ranks(set, ways, [&](size_t way, __m128i ranks, auto&&) {
            found |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(ranks, _mm_set1_epi8(last_rank_))))) << way;
        });
        return size_t(std::countr_zero(found));
    }
    /// The way of this rank.
    template <class Ways>
    void make_newest(char* set, char rank, Ways ways) const {
        const __m128i its = _mm_set1_epi8(rank);
        each_ranks(set, ways, [&](size_t, __m128i before, auto&& store) {
            const __m128i older = _mm_sub_epi8(before, _mm_cmplt_epi8(before, its));
            store(_mm_andnot_si128(_mm_cmpeq_epi8(before, its), older));
        });
    }
    /// work(first way, ranks, store(new ranks)) for sixteen ways at once, then for eight and four.
    template <class Ways, class Work>
    void each_ranks(char* set, Ways ways, Work&& work) const {
        char* const first = ranks(set);
        size_t way = 0;
        for (; way + 16 <= ways; way += 16) {
            __m128i* const sixteen = reinterpret_cast<__m128i*>(first + way);
            work(way, _mm_loadu_si128(sixteen), [=](__m128i changed) { _mm_storeu_si128(sixteen, changed); });
        }
        if (way + 8 <= ways) {
            __m128i* const eight = reinterpret_cast<__m128i*>(first + way);
            work(way, _mm_loadl_epi64(eight), [=](__m128i changed) { _mm_storel_epi64(eight, changed); });
            way += 8;
        }
        if (way < ways) {
            char* const four = first + way;
            int old;
            std::memcpy(&old, four, sizeof old);
            work(way, _mm_cvtsi32_si128(old), [=](__m128i changed) {
                const int fresh = _mm_cvtsi128_si32(changed);
                std::memcpy(four, &fresh, sizeof fresh);
            });
        }
    }

    size_t ways_;  ///< of a set, rounded up to fours
    char last_rank_;
    bool is_wide_;
    size_t pieces_;  ///< of a set
    LargeMemory memory_;
};

}  // namespace tessera::sim::any_design
