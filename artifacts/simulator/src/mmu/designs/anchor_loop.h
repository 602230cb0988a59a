// anchor_loop.h - what anchor.cpp does behind an L1 miss, for many misses in one loop without branches that the host cannot predict.
//
// Compiled once for any x86-64 (anchor.cpp) and once with AVX-512 (anchor_avx512.cpp). So it must use no inline code of the C++
// library: the linker keeps one copy of it for the whole program. Steps: see tlb/recent_sets.h.
//
// Conditions are words: ~0 or 0 for those of ways and entries. A set may get both steps of a miss, so the second reads it again.
#pragma once

#include "mmu/shared_l1.h"
#include "tlb/recent_sets.h"

namespace tessera::sim {

inline constexpr uint64_t anchor_bits = 1, most_contiguity = 65536;  // low six bits of an anchor's name; pages

struct AnchorLoop {
    RecentSet* sets;
    uint64_t set_mask;
    uint32_t all_ways;
    unsigned shift;         ///< base-2 logarithm of the distance
    uint64_t have_anchors;  ///< bit s: pages of 2^s bytes can have anchors
};

struct AnchorHits {
    uint64_t regular = 0, anchor = 0;
};

/// pre: each miss knows the extent of its chunk.
template <class Steps>
AnchorHits anchor_loop(AnchorLoop of, const L1Miss* misses, size_t count) {
    const auto if_zero = [](uint32_t bits) {
        uint32_t all = uint32_t{0} - uint32_t(bits == 0);
        asm("" : "+r"(all));  // else the compiler makes it a branch
        return all;
    };
    const auto up_to = [](uint32_t way) { return way ^ (way - 1); };  // the way, and all that are more recent; all ways if 0
    uint64_t hits = 0;  // regular ones, and those of anchors times 2^32: registers are few here
    for (const L1Miss* const end = misses + count; misses != end; ++misses) {
        const L1Miss& miss = *misses;
        const uint64_t vpn = miss.address_bits >> 12, number = vpn >> of.shift, avpn = number << of.shift;
        const uint64_t page = miss.name << recent_value_bits, anchor = (number << 6 | anchor_bits) << recent_value_bits;
        RecentSet &page_set = of.sets[miss.name >> 6 & of.set_mask], &anchor_set = of.sets[number & of.set_mask];

        const uint32_t regular = Steps::match(page_set, page), not_regular = if_zero(regular);
        const uint32_t found_way = Steps::match(anchor_set, anchor), found = found_way & not_regular, not_found = if_zero(found);
        const uint64_t held = anchor_set.words[__builtin_ctz(found_way | 1u << 7)];
        const uint32_t serves = found & (uint32_t{0} - uint32_t((held ^ anchor) > vpn - avpn));

        const uint64_t to_end = miss.chunk_end - avpn, most = to_end < most_contiguity ? to_end : most_contiguity;
        const uint64_t can = uint64_t{0} - (of.have_anchors >> (miss.name & 63) & uint64_t(avpn >= miss.chunk_begin) & 1);
        const uint64_t contiguity = most & can;
        const uint32_t enters = not_regular & not_found & ~if_zero(uint32_t(contiguity >> 1));
        const uint64_t is_new = uint64_t(int64_t(int32_t(not_found)));
        Steps::shift_in(anchor_set, up_to(found) & of.all_ways & (enters | ~not_found), (is_new & (anchor | contiguity)) | (~is_new & held));

        const uint32_t enters_regular = not_regular & ~enters & if_zero(serves);
        Steps::shift_in(page_set, up_to(regular) & of.all_ways & (enters_regular | ~not_regular), page);
        hits += uint64_t(regular != 0) | uint64_t(serves != 0) << 32;
    }
    return {uint32_t(hits), hits >> 32};
}

/// With AVX-512; only if the processor has it.
AnchorHits anchor_loop_avx512(AnchorLoop of, const L1Miss* misses, size_t count);

}  // namespace tessera::sim
