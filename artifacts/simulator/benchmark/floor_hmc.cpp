// floor_hmc.cpp - H, M and C: TLBs, a page-directory-entry cache, three data caches that walks and data share.
#include "floor.h"

namespace tessera::sim::benchmark {

FloorCounts floor_hmc(const FloorInput& input) {
    FloorTlbs tlbs;
    FloorCaches caches;
    FloorWalker walker;
    FloorCounts counts;
    for (const uint64_t offset : input.offsets) {
        const bool is_2mb = input.region_is_2mb[offset >> 21];
        const FloorTranslation t = tlbs.translate(offset, is_2mb);
        counts.hits += t == FloorTranslation::stlb;
        if (t == FloorTranslation::miss) {
            ++counts.misses;
            counts.walk_cycles += walker.walk(caches, offset, is_2mb);
        }
        caches.load(uint32_t(offset >> 6));
    }
    return counts;
}

}  // namespace tessera::sim::benchmark
