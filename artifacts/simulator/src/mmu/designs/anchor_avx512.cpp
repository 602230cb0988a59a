#include "mmu/designs/anchor_loop.h"
#include "tlb/recent_sets_avx512.h"

namespace tessera::sim {

AnchorHits anchor_loop_avx512(const AnchorLoop& of, const L1Miss* misses, size_t count) {
    return anchor_loop<Avx512Steps>(of, misses, count);
}

}  // namespace tessera::sim
