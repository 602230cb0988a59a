// plain_lanes_impl.h - the loop of plain_lanes.h; each of plain_lanes_*.cpp gives it a register of layouts, Vec: `width` tags, with
// masks of type Mask.
#pragma once

#include <cstdlib>
#include <cstring>

#include "plain_lanes.h"

namespace tessera::sim::benchmark {

struct PlainLanesArrays {
    static constexpr unsigned l1_4kb_sets = 16, l1_2mb_sets = 8, l1_ways = 4, stlb_sets = 128;
    alignas(64) uint32_t l1_4kb[l1_4kb_sets][l1_ways][plain_lanes_most];
    alignas(64) uint32_t l1_2mb[l1_2mb_sets][l1_ways][plain_lanes_most];
    alignas(64) uint32_t stlb[stlb_sets * 8 * plain_lanes_most];
};

/// Moves `tag` to the front of the set in `pending` lanes of one register; returns those that did not have it.
template <class Vec, unsigned ways>
inline __attribute__((always_inline)) typename Vec::Mask plain_move_to_front(uint32_t* way, typename Vec::Tags tag,
                                                                             typename Vec::Mask pending) {
    typename Vec::Tags carry = tag;
#pragma GCC unroll 8
    for (unsigned w = 0; w < ways; ++w, way += plain_lanes_most) {
        const typename Vec::Tags old = Vec::load(way);
        Vec::store(way, pending, carry);  // a masked store: selecting in registers is slower in both instruction sets
        carry = old;
        pending = Vec::differing(pending, old, tag);
    }
    return pending;
}

template <class Vec, unsigned stlb_ways>
void plain_lanes_loop(const PlainLanesInput& in, PlainLanesCounts& counts) {
    static PlainLanesArrays a;  // in the caller's build alone
    std::memset(&a, 0, sizeof a);
    std::memset(&counts, 0, sizeof counts);
    const uint64_t all = in.layouts == 64 ? ~uint64_t{0} : (uint64_t{1} << in.layouts) - 1;
    const auto reference = [&](uint32_t* l1, uint32_t* stlb, uint32_t page_tag, uint64_t lanes) __attribute__((always_inline)) {
        const typename Vec::Tags tag = Vec::splat(page_tag);
        for (unsigned first = 0; first < in.layouts; first += Vec::width) {
            const uint32_t here = uint32_t(lanes >> first) & ((1u << Vec::width) - 1);
            if (here == 0) continue;
            const typename Vec::Mask missed = plain_move_to_front<Vec, PlainLanesArrays::l1_ways>(l1 + first, tag, Vec::mask(here));
            if (!Vec::any(missed)) continue;
            const typename Vec::Mask walks = plain_move_to_front<Vec, stlb_ways>(stlb + first, tag, missed);
            Vec::add(counts.hits + first, Vec::without(missed, walks));
            Vec::add(counts.misses + first, walks);
        }
    };
    for (size_t i = 0; i < in.count; ++i) {
        const uint32_t page = uint32_t(in.offsets[i] >> 12), region = uint32_t(in.offsets[i] >> 21);
        if (i > 0 && page == uint32_t(in.offsets[i - 1] >> 12)) continue;  // hit in every layout, and already the most recent
        const uint64_t huge = in.huge[region] & all;
        const size_t set_words = stlb_ways * plain_lanes_most;
        if (huge != all)
            reference(a.l1_4kb[page % a.l1_4kb_sets][0], a.stlb + page % a.stlb_sets * set_words, (page + 1) << 1, all & ~huge);
        if (huge != 0)
            reference(a.l1_2mb[region % a.l1_2mb_sets][0], a.stlb + region % a.stlb_sets * set_words, (region + 1) << 1 | 1, huge);
    }
}

template <class Vec>
void plain_lanes_of(const PlainLanesInput& in, PlainLanesCounts& counts) {
    if (in.stlb_ways == 8) return plain_lanes_loop<Vec, 8>(in, counts);
    if (in.stlb_ways == 4) return plain_lanes_loop<Vec, 4>(in, counts);
    std::abort();  // plain_lanes.h says which there are
}

}  // namespace tessera::sim::benchmark
