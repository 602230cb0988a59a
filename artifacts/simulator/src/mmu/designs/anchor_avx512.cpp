#include "mmu/designs/anchor_step.h"
#include "tlb/recent_sets_avx512.h"

namespace tessera::sim {

AnchorHits anchor_steps_avx512(RecentSet* sets, uint64_t set_mask, uint32_t all_ways, const AnchorTable& table, const L1Miss* misses,
                               size_t count) {
    RecentSetsAvx512 array(sets, set_mask, all_ways);
    const AnchorTable of = table;
    return anchor_steps(array, of, misses, count);
}

}  // namespace tessera::sim
