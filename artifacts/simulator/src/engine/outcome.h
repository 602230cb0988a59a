// outcome.h - the hits and misses of a chunk of accesses in up to 64 layouts: the interface between function and time.
//
// The functional stage (engine/lanes, or engine/any_design for designs without a lane implementation) fills it in program order;
// the clock (engine/timing) reads it, sixteen lanes at a time. Lane masks have bit l for the group's layout l; bits of
// lanes that do not exist are 0. Plain data only: it crosses into code compiled for other instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::sim {

inline constexpr unsigned max_lanes = 64;
inline constexpr size_t chunk_accesses = 2048;      ///< a chunk ends at the first execution that brings it here
inline constexpr size_t chunk_capacity = chunk_accesses + 65535;  ///< accesses of one chunk, at most: an execution may have 65535
inline constexpr size_t chunk_executions = 2048;    ///< block executions of one chunk, at most

/// A line that a prefetcher asked for after access `access` of the chunk. Masks as for demand accesses;
/// a prefetch into L2 leaves L1D alone, and its l1d_missed is all lanes.
struct PrefetchOutcome {
    uint32_t access;
    uint32_t into_l1d;     ///< 1: into L1D, 0: into L2
    uint64_t line;         ///< virtual address / 64, in the 4KB page of the access
    uint64_t l1d_missed, l2_missed, l3_missed;
};

/// The instruction side before execution `execution` of the chunk: a code page that missed the L1 ITLB.
struct FetchOutcome {
    uint32_t execution;
    uint32_t cycles_row;   ///< row of walk_cycles, when walks != 0
    uint64_t walks;        ///< lanes whose STLB missed too (all lanes looked it up)
    uint64_t walk_l1d_missed;
};

/// A load of a walk that missed L3 in `lanes`; what memory's queues need to know.
struct WalkLoad {
    uint32_t cycles_row;   ///< the walk, by its row of walk_cycles
    uint64_t line;         ///< physical address / 64 of the page-table entry
    uint64_t lanes;
};

/// Times of one access under a design that states them (engine/functional.h, needs_one_lane).
struct DesignTimes {
    uint32_t background_cycles;  ///< a walker is busy for so long behind the access's own walk
    uint16_t lookup_cycles;      ///< of all look-ups: in the place of tlb.stlb.hit_cycles
    uint16_t behind_l3;          ///< 1: look-up and walk begin when L3 has missed
};

/// The second translation of an access that crosses a 4KB page (engine/crossings.h). In lanes where one larger page holds both, there is
/// none: they neither looked up nor walked.
struct CrossingOutcome {
    uint32_t access;
    uint32_t cycles_row;  ///< row of walk_cycles, when walks != 0
    uint64_t looked_up, walks, walk_l1d_missed;
    DesignTimes times;    ///< if Outcomes::design_times are stated; behind_l3: nothing waits for it
};

struct Outcomes {
    size_t accesses = 0;
    uint64_t looked_up[chunk_capacity];        ///< lanes that missed the L1 DTLB (all arrays below hold `accesses` values)
    uint64_t walks[chunk_capacity];            ///< lanes that walked (a subset of looked_up)
    uint64_t walk_l1d_missed[chunk_capacity];  ///< lanes whose walk had a load that missed L1D (a subset of walks)
    uint32_t cycles_row[chunk_capacity];       ///< row of walk_cycles, meaningful when walks != 0
    uint64_t l1d_missed[chunk_capacity], l2_missed[chunk_capacity], l3_missed[chunk_capacity];  ///< the access's own line; nested

    /// Of each access, physical address / 64; null: physical = virtual. Same in all lanes (engine/functional.h, needs_one_lane).
    const uint64_t* physical_line = nullptr;

    /// What a design's accesses take beyond the rules above, for stages of one layout; null: nothing does.
    const DesignTimes* design_times = nullptr;

    size_t cycles_rows = 0;
    uint32_t (*walk_cycles)[max_lanes] = nullptr;  ///< latency of each lane's walk; 0 in lanes that did not walk. Owned by the producer

    size_t prefetches = 0;
    const PrefetchOutcome* prefetch = nullptr;  ///< in program order, owned by the producer
    size_t fetches = 0;
    const FetchOutcome* fetch = nullptr;  ///< in program order, owned by the producer
    size_t crossings = 0;
    const CrossingOutcome* crossing = nullptr;  ///< one for each of the chunk, owned by the producer
    size_t walk_loads = 0;
    const WalkLoad* walk_load = nullptr;  ///< of each walk and lane in order, owned by the producer; none unless dram.queues_walks
};

}  // namespace tessera::sim
