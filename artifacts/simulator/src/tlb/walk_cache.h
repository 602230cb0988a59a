// walk_cache.h - the page-walk caches: one array per level of non-leaf page-table entries.
//
// Models Intel's paging-structure caches (SDM vol. 3A, "Caching Translation Information"): an entry of level k
// covers an aligned region of virtual memory and lets a walk begin below level k. A walk looks in the PDE cache
// first, then PDPTE, then PML4E, and begins below the first that hits. Leaf entries are never held (they are the
// TLB's). Hits cost no cycles. Sizes are not published by Intel: platform files mark them.
#pragma once

#include "base/level.h"
#include "tlb/tlb.h"

namespace tessera::sim {

class WalkCaches {
public:
    explicit WalkCaches(const Platform& p) : pml4e_(p.pwc_pml4e), pdpte_(p.pwc_pdpte), pde_(p.pwc_pde) {}

    /// First level that a walk ending at `leaf` must read.
    Level begin(VirtAddr address, Level leaf) {
        for (int above = static_cast<int>(leaf) - 1; above >= 0; --above) {
            const Level level = static_cast<Level>(above);
            if (cache(level).lookup(region(address, level))) return next(level);
        }
        return Level::pml4e;
    }

    /// A walk has read the non-leaf entry of `level`.
    void fill(VirtAddr address, Level level) { cache(level).fill(region(address, level)); }

private:
    static PageNumber region(VirtAddr address, Level level) {
        return {address.value >> coverage_shift(level), PageSize::small_4kb};  // the size only pads the key
    }
    Tlb& cache(Level level) { return level == Level::pml4e ? pml4e_ : level == Level::pdpte ? pdpte_ : pde_; }

    Tlb pml4e_, pdpte_, pde_;
};

}  // namespace tessera::sim
