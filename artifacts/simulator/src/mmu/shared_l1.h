// shared_l1.h - what a design does behind an L1 DTLB of the platform, for engines that look L1 up once for several designs.
//
// A first level (tlb/levels.h) sees each data access of the program, and its fills do not depend on what is behind it: each miss
// fills the page. So designs with equal keys tlb.l1d.* and equal page sizes have the same hits and misses in L1, and those behind
// it need only the misses. For H and M only: walks and data caches are not shared. Used by engine/scalar/tlb_group.h.
#pragma once

#include "base/types.h"
#include "tlb/translation.h"

namespace tessera::sim {

/// The pages that the L1 DTLB of a design holds: those of the layout or mapping, or 4KB pages whatever they say.
enum class L1Pages : uint8_t { of_the_space, only_4kb };

class BehindSharedL1 {
public:
    virtual ~BehindSharedL1() = default;
    virtual L1Pages l1_pages() const = 0;
    /// What Design::access_tlb_only() does for a page that missed L1, except to fill L1. stlb_hit or miss.
    virtual Translation missed_l1_tlb_only(VirtAddr address, PageNumber page) = 0;
    /// What Design::changed() does, except to L1.
    virtual void changed_behind_l1(VirtRange range) = 0;
};

}  // namespace tessera::sim
