// floor_hm.cpp - H and M only: two TLB levels, nothing else.
#include "floor.h"

namespace tessera::sim::benchmark {

FloorCounts floor_hm(const FloorInput& input) {
    FloorTlbs tlbs;
    FloorCounts counts;
    for (const uint64_t offset : input.offsets) {
        const FloorTranslation t = tlbs.translate(offset, input.region_is_2mb[offset >> 21]);
        counts.hits += t == FloorTranslation::stlb;
        counts.misses += t == FloorTranslation::miss;
    }
    return counts;
}

}  // namespace tessera::sim::benchmark
