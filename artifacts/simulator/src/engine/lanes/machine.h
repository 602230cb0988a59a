// machine.h - the interface between plain code (any x86-64 machine) and vector code (one build per instruction set):
// plain structs of pointers and an abstract class.
//
// A machine simulates up to 64 layouts at once, one per byte lane. The plain code gives dense numbers to the 2MB regions
// that the program touches, and stores for each region the lanes of each page size. Vector code does not use the C++
// library, and no library type crosses this interface (inline.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/lanes/machine_config.h"
#include "engine/outcome.h"

namespace tessera::sim::lanes {

/// A touched 2MB region, as TLBs see it. Ids are dense and begin at 1.
struct alignas(32) Region {
    uint64_t lanes[3] = {};      ///< lanes that map it with 4KB, 2MB, 1GB pages
    uint32_t gigabyte = 0;       ///< id of the first touched region of its gigabyte
    uint32_t half_terabyte = 0;  ///< dense number of its 512GB region
};

/// Its page tables, as walks see it: by Level, the frame of the table that holds this level's entry.
struct RegionTables {
    uint32_t frame[5] = {};
};

/// A code page that missed the ITLB before access `access` (and those after it) of the chunk.
struct ItlbMiss {
    uint64_t address;
    uint32_t region, execution, access;
};

/// The second page of an access that crosses a 4KB page: the address of its first byte.
struct SecondPage {
    uint64_t address;
    uint32_t region, access;
};

struct Work {
    const uint64_t* addresses;
    const uint32_t* regions;       ///< region id of each access
    size_t count;
    const Region* region_table;       ///< by id
    size_t region_count;              ///< ids are below
    const RegionTables* page_tables;  ///< by id
    const ItlbMiss* fetches;          ///< in program order
    size_t fetch_count;
    FetchOutcome* fetched;         ///< of each
    PrefetchOutcome* wanted;       ///< what prefetchers ask for, in program order: access, into_l1d and line are set
    size_t wanted_count;
    const SecondPage* seconds;     ///< in program order
    size_t second_count;
    CrossingOutcome* crossed;      ///< of each
};

/// Totals since the machine was made.
struct LaneCounts {
    uint64_t stlb_hits[max_lanes], stlb_misses[max_lanes];
    uint64_t instruction_stlb_hits[max_lanes], instruction_stlb_misses[max_lanes];
    uint64_t counted_misses[max_lanes], counted_instruction_misses[max_lanes];  ///< of counted chunks: their walks
    uint64_t program_missed[3][max_lanes], walker_loads[max_lanes], walker_missed[3][max_lanes];
    uint64_t fetcher_loads[max_lanes], fetcher_missed[3][max_lanes];  ///< of instruction-side walks
    uint64_t counted_accesses;
};

class Machine {
public:
    virtual ~Machine() = default;
    virtual void tlb_only(const Work& work) = 0;
    virtual void warm(const Work& work) = 0;
    /// `out` null: counts only. Fills out's arrays of accesses and walk_cycles, and work.fetched, work.wanted and work.crossed.
    virtual void counted(const Work& work, Outcomes* out) = 0;
    virtual const LaneCounts& counts() = 0;
    /// Arrays that went over to names of two bytes (tests ask).
    virtual unsigned wide_arrays() const = 0;
};

Machine* make_machine_avx512(const MachineConfig& config);
Machine* make_machine_avx2(const MachineConfig& config);
Machine* make_machine_baseline(const MachineConfig& config);

}  // namespace tessera::sim::lanes
