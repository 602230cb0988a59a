// lru_sets.h - the sets of an array with at most eight ways and true LRU: names and order of use, without branches.
//
// Encoding. A set is one cache line: the low halves of eight names, then their high halves, so that a look-up compares four names
// in one instruction of plain x86-64 (SSE2). The order of use is one word: byte w is the rank of way w, 0 for the most recent. A use of a
// way adds 1 to all lower ranks and clears its own; the way with rank ways - 1 is the victim. Bytes of ways that do not exist are 0x7f.
// Invariants: the ranks of a set are 0 to ways - 1, each once. Unused ways have the highest ranks, the lowest way the highest one,
// so they are filled first, from the lowest way on. The caller knows payloads by set and way.
//
// No branch depends on what a set holds. Which way holds a name, and whether one does, cannot be predicted; a wrong prediction
// costs the host as much as two of these look-ups.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::sim {

class LruSets {
public:
    static constexpr size_t most_ways = 8;
    static constexpr uint64_t unused = ~uint64_t{0};  ///< the name of an unused way

    /// pre: 1 <= ways <= most_ways.
    LruSets(size_t sets, size_t ways) : ways_(ways), highest_rank_((ways - 1) * each), names_(sets), ranks_(sets) {
        for (Names& names : names_) {
            std::fill_n(names.low, most_ways, ~uint32_t{0});
            std::fill_n(names.high, most_ways, ~uint32_t{0});
        }
        std::fill(ranks_.begin(), ranks_.end(), order_of([](size_t) { return false; }, 0));
    }

    /// The way that holds the name; most_ways if none does. pre: name != unused.
    size_t find(size_t set, uint64_t name) const {
        const Names& names = names_[set];
        const __m128i low = _mm_set1_epi32(int(uint32_t(name))), high = _mm_set1_epi32(int(uint32_t(name >> 32)));
        const auto equal = [&](size_t first) {
            return _mm_and_si128(_mm_cmpeq_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(names.low + first)), low),
                                 _mm_cmpeq_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(names.high + first)), high));
        };
        const __m128i found = _mm_packs_epi16(_mm_packs_epi32(equal(0), equal(4)), _mm_setzero_si128());
        return size_t(std::countr_zero(uint32_t(_mm_movemask_epi8(found)) | 1u << most_ways));
    }

    uint64_t name(size_t set, size_t way) const { return uint64_t{names_[set].high[way]} << 32 | names_[set].low[way]; }
    void put(size_t set, size_t way, uint64_t name) {
        names_[set].low[way] = uint32_t(name);
        names_[set].high[way] = uint32_t(name >> 32);
    }

    /// The lowest unused way, else the least recent one.
    size_t victim(size_t set) const {
        const uint64_t other = ranks_[set] ^ highest_rank_;  // its zero byte is the victim's
        return size_t(std::countr_zero(~(other + 0x7f * each) & high_bits)) / 8;
    }

    /// Makes the way the most recent one.
    void use(size_t set, size_t way) {
        const uint64_t ranks = ranks_[set], rank = ranks >> 8 * way & 0xff;
        const uint64_t lower = ~((ranks | high_bits) - rank * each) & high_bits;  // no borrow leaves a byte: ranks are below 0x80
        ranks_[set] = (ranks + (lower >> 7)) & ~(uint64_t{0xff} << 8 * way);
    }

    /// Forgets the names for which test(set, way, name) is true.
    template <class Test>
    void drop(Test&& test) {
        for (size_t set = 0; set < names_.size(); ++set) {
            bool any = false;
            for (size_t way = 0; way < ways_; ++way) {
                const uint64_t held = name(set, way);
                if (held == unused || !test(set, way, held)) continue;
                put(set, way, unused);
                any = true;
            }
            if (any) ranks_[set] = order_of([&](size_t way) { return name(set, way) != unused; }, ranks_[set]);
        }
    }

private:
    static constexpr uint64_t each = 0x0101010101010101, high_bits = 0x80 * each;

    struct alignas(64) Names {
        uint32_t low[most_ways], high[most_ways];
    };

    /// Ways that hold a name in their old order, then the others from the highest to the lowest.
    template <class Held>
    uint64_t order_of(Held&& held, uint64_t before) const {
        uint64_t ranks = 0x7f * each;
        uint64_t next = 0;
        const auto give = [&](size_t way) { ranks = (ranks & ~(uint64_t{0xff} << 8 * way)) | next++ << 8 * way; };
        for (uint64_t rank = 0; rank < ways_; ++rank)
            for (size_t way = 0; way < ways_; ++way)
                if (held(way) && (before >> 8 * way & 0xff) == rank) give(way);
        for (size_t way = ways_; way-- > 0;)
            if (!held(way)) give(way);
        return ranks;
    }

    size_t ways_;
    uint64_t highest_rank_;  ///< in each byte
    std::vector<Names> names_;
    std::vector<uint64_t> ranks_;  ///< [set]
};

}  // namespace tessera::sim
