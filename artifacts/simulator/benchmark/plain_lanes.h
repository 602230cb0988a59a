// plain_lanes.h - the plain form of layouts as lanes: simple code that simulates all layouts in one pass.
//
// tag[set][way][layout] of 32 bits, for each 2MB region a bit a layout that says whether it is huge, and a masked move-to-front
// in both TLB levels. Page numbers of the pool are dense, so a tag is one. No names, no queues, no branches on sets. The
// processor is the floor's (floor.h). A register of layouts that the page does not concern is skipped, and so is an access to the
// page of the access before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::sim::benchmark {

inline constexpr unsigned plain_lanes_most = 64;

struct PlainLanesInput {
    const uint64_t* offsets;  ///< pool offset of each access
    size_t count;
    const uint64_t* huge;     ///< by 2MB region: bit l for layout l
    unsigned layouts;         ///< at most plain_lanes_most
    unsigned stlb_ways;       ///< 8 (Haswell), or 4 as a reading of published figures; 128 sets
};

struct PlainLanesCounts {
    uint32_t hits[plain_lanes_most], misses[plain_lanes_most];  ///< by layout; pre: fewer than 2^32 accesses
};

/// The caller has found that the processor has these instructions (base/isa.h).
void plain_lanes_avx512(const PlainLanesInput& input, PlainLanesCounts& counts);
void plain_lanes_avx2(const PlainLanesInput& input, PlainLanesCounts& counts);

}  // namespace tessera::sim::benchmark
