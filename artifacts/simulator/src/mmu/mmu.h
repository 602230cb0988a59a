// mmu.h - translation of one data access as the oracle does it: L1 DTLB, STLB, page walk.
//
// Functional, in program order. H counts L1 misses that the STLB serves, M counts misses of both, and a walk's
// cycles are the sum over its loads of the fixed load time of the level that serves each (MICRO'20 Table 2: H, M, C). TLB levels
// fill on a miss and are not inclusive of each other. Not modelled: instruction-side translations, faults,
// speculative walks on wrong paths.
#pragma once

#include <functional>

#include "os/address_space.h"
#include "pagetable/page_table.h"
#include "tlb/walk_cache.h"

namespace tessera::sim {

enum class Translation : uint8_t { l1_hit, stlb_hit, miss };

/// The TLBs of Table 4: one L1 array a page size, an STLB for 4KB and perhaps 2MB pages, one for 1GB pages.
class Tlbs {
public:
    explicit Tlbs(const Platform& p)
        : l1_4kb_(p.l1_4kb), l1_2mb_(p.l1_2mb), l1_1gb_(p.l1_1gb), stlb_(p.stlb), stlb_1gb_(p.stlb_1gb),
          nothing_(Geometry{}), shares_2mb_(p.stlb_holds_2mb != 0) {}

    Translation translate(PageNumber page) {
        Tlb &first = level1(page.size), &second = level2(page.size);
        if (first.lookup(page)) return Translation::l1_hit;
        const bool hit = second.lookup(page);
        if (!hit) second.fill(page);
        first.fill(page);
        return hit ? Translation::stlb_hit : Translation::miss;
    }

private:
    Tlb& level1(PageSize s) { return s == PageSize::small_4kb ? l1_4kb_ : s == PageSize::large_2mb ? l1_2mb_ : l1_1gb_; }
    Tlb& level2(PageSize s) {
        if (s == PageSize::huge_1gb) return stlb_1gb_;
        return s == PageSize::small_4kb || shares_2mb_ ? stlb_ : nothing_;
    }

    Tlb l1_4kb_, l1_2mb_, l1_1gb_, stlb_, stlb_1gb_, nothing_;
    bool shares_2mb_;
};

/// One page walk: calls load(line) for each entry that the walk-caches do not hold and adds up what it returns.
inline Cycles walk(WalkCaches& caches, const TablePath& path, VirtAddr address, PageSize size,
                   const std::function<Cycles(LineNumber)>& load) {
    const Level leaf = leaf_level(size);
    Cycles total;
    for (Level level = caches.begin(address, leaf);; level = next(level)) {
        total += load(line_of(PageTable::entry_address(path, address, level)));
        if (level == leaf) return total;
        caches.fill(address, level);
    }
}

}  // namespace tessera::sim
