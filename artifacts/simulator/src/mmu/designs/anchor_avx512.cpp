#include "mmu/designs/anchor_step.h"
#include "tlb/recent_sets_avx512.h"

namespace tessera::sim {

AnchorHits anchor_steps_avx512(RecentSet* sets, uint64_t set_mask, uint32_t all_ways, const AnchorTable& table, const L1Miss* misses,
                               size_t count) {
    RecentSetsAvx512 array(sets, set_mask, all_ways);
    const AnchorTable of = table;
    AnchorHits hits;
    for (const L1Miss* const end = misses + count; misses != end; ++misses) {
        const L1Miss& miss = *misses;
        const PageNumber page = miss.page();
        const AnchorStep step = anchor_step(array, of, miss.address, page, of.contiguity(miss.address, page.size, miss.in_chunk));
        hits.regular += step.regular, hits.anchor += step.anchor;
    }
    return hits;
}

}  // namespace tessera::sim
