// anchor_step.h - what an anchor TLB (anchor.cpp) does behind an L1 miss, on any array with the steps of tlb/entry_array.h.
//
// Both entries are sought, and each is used or enters under a condition. So one text serves the look-up of an access on every array, and a
// loop over many misses without branches on what the array holds, which the host cannot predict (anchor_avx512.cpp: with AVX-512).
#pragma once

#include "base/select.h"
#include "mmu/shared_l1.h"
#include "tlb/entry_name.h"
#include "tlb/recent_sets.h"

namespace tessera::sim {

inline constexpr uint64_t anchor_bits = 1;          ///< low six bits of an anchor's name
inline constexpr uint64_t most_contiguity = InChunk::most;  ///< in pages of 4KB

/// The anchors of the page table.
struct AnchorTable {
    unsigned shift;  ///< base-2 logarithm of the distance

    uint64_t number(VirtAddr address) const { return address.value >> 12 >> shift; }
    /// Pages of this size have anchors: a distance is longer than such a page.
    bool exist_for(PageSize size) const { return 12 + shift > shift_of(size); }
    /// Of the anchor of a page that is there in its chunk, if it reaches beyond the page; else 0, also if the AVPN is in another chunk,
    /// as its contiguity ends before the page. Above `most_contiguity` if it is that: distances are not larger, so this makes no
    /// difference.
    uint64_t contiguity(VirtAddr address, PageSize size, InChunk page) const {
        const uint64_t behind_anchor = address.value >> 12 & ((uint64_t{1} << shift) - 1), contiguity = page.from + behind_anchor;
        const bool beyond = contiguity > uint64_t{1} << (shift_of(size) - 12);  // false outside chunks, where `from` is 0
        return select(exist_for(size) & (behind_anchor <= page.before) & beyond, contiguity, 0);
    }
};

/// Who served the page; a miss if nobody did.
struct AnchorStep {
    uint64_t regular, anchor;  ///< 0 or 1
    bool anchor_found;         ///< also without a match
};

/// contiguity: AnchorTable::contiguity() of the page; an anchor enters if it is not 0.
template <class Array>
inline __attribute__((always_inline)) AnchorStep anchor_step(Array& array, const AnchorTable& table, VirtAddr address, PageNumber page,
                                                             uint64_t contiguity) {
    const uint64_t number = table.number(address), name = number << 6 | anchor_bits;
    const EntryPlace regular = array.seek(page.number, entry_name(page)), anchor = array.seek(number, name);
    const uint64_t held = array.payload(anchor);
    const uint64_t missed = regular.found ^ 1, matches = anchor.found & ((address.value >> 12) - (number << table.shift) < held);
    const uint64_t to_anchor = missed & (anchor.found | (contiguity != 0));  // it is used or enters
    const uint64_t to_regular = (to_anchor ^ 1) | (anchor.found & (matches ^ 1));
    array.enter_if(to_anchor, anchor, name, select(anchor.found, held, contiguity));
    array.enter_if(to_regular, regular, entry_name(page), 0);
    return {regular.found, missed & matches, anchor.found};
}

struct AnchorHits {
    uint64_t regular = 0, anchor = 0;
};

/// The steps of `count` misses. A page outside the pools has no anchor.
template <class Array>
inline __attribute__((always_inline)) AnchorHits anchor_steps(Array& array, const AnchorTable& table, const L1Miss* misses, size_t count) {
    AnchorHits hits;
    for (const L1Miss* const end = misses + count; misses != end; ++misses) {
        const PageNumber page = misses->page();
        const uint64_t contiguity = table.contiguity(misses->address, page.size, misses->in_chunk);
        const AnchorStep step = anchor_step(array, table, misses->address, page, contiguity);
        hits.regular += step.regular, hits.anchor += step.anchor;
    }
    return hits;
}

/// On the sets of a RecentSets; only if the processor has AVX-512.
AnchorHits anchor_steps_avx512(RecentSet* sets, uint64_t set_mask, uint32_t all_ways, const AnchorTable& table, const L1Miss* misses,
                               size_t count);

}  // namespace tessera::sim
