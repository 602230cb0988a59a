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

inline constexpr uint64_t anchor_bits = 1;  ///< low six bits of an anchor's name

struct AnchorLoop {
    RecentSet* sets;
    uint64_t set_mask;
    uint32_t all_ways;
    unsigned shift;         ///< base-2 logarithm of the distance
    uint64_t have_anchors;  ///< bit s, and no other bit: pages of 2^s bytes can have anchors
};

struct AnchorHits {
    uint64_t regular = 0, anchor = 0;
};

/// A miss whose chunk is unknown gets no anchor.
///
/// The contiguity of an anchor here is that of anchor.cpp, or above 65536 if that is 65536, which makes no difference: distances
/// are at most 65536. It is below 2^17.
template <class Steps>
AnchorHits anchor_loop(const AnchorLoop& of, const L1Miss* misses, size_t count) {
    const auto if_zero = [](uint32_t bits) {
        uint32_t all = uint32_t{0} - uint32_t(bits == 0);
        asm("" : "+r"(all));  // else the compiler makes it a branch
        return all;
    };
    const auto up_to = [](uint32_t way) { return way ^ (way - 1); };  // the way, and all that are more recent; all ways if 0
    const uint32_t in_distance = (uint32_t{1} << of.shift) - 1;
    uint64_t not_regular_times = 0, no_anchor_times = 0;
    for (const L1Miss* const end = misses + count; misses != end; ++misses) {
        const L1Miss& miss = *misses;
        const uint64_t vpn = miss.address_bits >> 12, number = vpn >> of.shift;
        const uint64_t page = miss.name << recent_value_bits, anchor = (number << 6 | anchor_bits) << recent_value_bits;
        const uint32_t behind_anchor = uint32_t(vpn) & in_distance;  // pages from the AVPN to this one
        RecentSet &page_set = of.sets[miss.name >> 6 & of.set_mask], &anchor_set = of.sets[number & of.set_mask];

        const uint32_t regular = Steps::match(page_set, page), not_regular = if_zero(regular);
        const uint32_t found_way = Steps::match(anchor_set, anchor), found = found_way & not_regular, not_found = if_zero(found);
        const uint64_t held = anchor_set.words[__builtin_ctz(found_way | 1u << 7)];
        const uint32_t serves = found & (uint32_t{0} - uint32_t((held ^ anchor) > behind_anchor)), no_anchor = if_zero(serves);

        const uint32_t can = uint32_t(of.have_anchors >> (miss.name & 63)) & uint32_t(int32_t(behind_anchor) <= miss.pages_before);
        const uint32_t contiguity = (miss.pages_from + behind_anchor) & (uint32_t{0} - can);
        const uint32_t enters = not_regular & not_found & uint32_t(int32_t(1 - contiguity) >> 31);  // if contiguity > 1
        const uint64_t is_new = uint64_t(int64_t(int32_t(not_found)));
        Steps::shift_in(anchor_set, up_to(found) & of.all_ways & (enters | ~not_found), held ^ ((held ^ (anchor | contiguity)) & is_new));

        const uint32_t enters_regular = not_regular & ~enters & no_anchor;
        Steps::shift_in(page_set, up_to(regular) & of.all_ways & (enters_regular | ~not_regular), page);
        not_regular_times -= uint64_t(int64_t(int32_t(not_regular))), no_anchor_times -= uint64_t(int64_t(int32_t(no_anchor)));
    }
    return {count - not_regular_times, count - no_anchor_times};
}

/// With AVX-512; only if the processor has it.
AnchorHits anchor_loop_avx512(const AnchorLoop& of, const L1Miss* misses, size_t count);

}  // namespace tessera::sim
