// floor_r.cpp - R: floor_hmc with a clock. In-order entry of four instructions a cycle into a 192-entry window,
// in-order retirement, one walker; the six instructions of streams.h written out as they depend on each other.
#include <algorithm>

#include "floor.h"

namespace tessera::sim::benchmark {

FloorCounts floor_r(const FloorInput& input) {
    constexpr unsigned window = 192;
    FloorTlbs tlbs;
    FloorCaches caches;
    FloorWalker walker;
    FloorCounts counts;
    std::vector<uint64_t> retired_ring(window);
    uint64_t slots = 0, retired = 0, generator = 0, sum = 0, walker_free = 0;
    unsigned at = 0;
    const auto enter = [&] {  // time at which the next instruction enters, in quarter cycles
        slots = std::max(slots + 1, retired_ring[at] * 4);
        return slots / 4;
    };
    const auto retire = [&](uint64_t done) {
        retired = std::max(retired, done);
        retired_ring[at] = retired;
        at = at + 1 == window ? 0 : at + 1;
    };
    for (const uint64_t offset : input.offsets) {
        const bool is_2mb = input.region_is_2mb[offset >> 21];
        generator = std::max(enter(), generator) + 1, retire(generator);
        generator = std::max(enter(), generator) + 1, retire(generator);
        uint64_t ready = std::max(enter(), generator) + 1;
        retire(ready);
        ready = std::max(enter(), ready);
        const FloorTranslation t = tlbs.translate(offset, is_2mb);
        if (t != FloorTranslation::l1) ready += 7;
        counts.hits += t == FloorTranslation::stlb;
        if (t == FloorTranslation::miss) {
            const uint32_t cycles = walker.walk(caches, offset, is_2mb);
            ++counts.misses;
            counts.walk_cycles += cycles;
            ready = walker_free = std::max(ready, walker_free) + cycles;
        }
        ready += caches.load(uint32_t(offset >> 6));
        retire(ready);
        sum = std::max({enter(), sum, ready}) + 1, retire(sum);
        retire(std::max(enter(), sum) + 1);
    }
    counts.runtime_cycles = retired;
    return counts;
}

}  // namespace tessera::sim::benchmark
