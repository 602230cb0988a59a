#include "mmu/designs/anchor_step.h"
#include "tlb/recent_sets_avx512.h"

namespace tessera::sim {

AnchorHits anchor_steps_avx512(RecentSet* sets, uint64_t set_mask, uint32_t all_ways, const AnchorTable& table, const L1Miss* misses,
                               size_t count, const PageChunk* chunks) {
    RecentSetsAvx512 array(sets, set_mask, all_ways);
    const AnchorTable of = table;
    AnchorHits hits;
    for (const L1Miss* const end = misses + count; misses != end; ++misses) {
        const L1Miss& miss = *misses;
        const uint64_t contiguity = miss.chunk == L1Miss::unknown ? 0 : of.contiguity(miss.address, miss.size, chunks[miss.chunk]);
        const AnchorStep step = anchor_step(array, of, miss.address, miss.page(), contiguity);
        hits.regular += step.regular, hits.anchor += step.anchor;
    }
    return hits;
}

}  // namespace tessera::sim
