// machine.h - the boundary between the driver (any x86-64-v3 machine) and the vector code (one build per
// instruction set): plain structs of pointers and an abstract class.
//
// A machine simulates up to 16 layouts at once, one per 32-bit vector lane. The driver numbers the 2MB regions that the
// program touches densely (so that tags fit 32 bits whatever the addresses) and says for each in which lanes it
// is mapped by large pages. Nothing of the C++ library crosses this boundary or is used behind it: a template
// instantiated with AVX-512 enabled could be the copy that the linker keeps for everyone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/platform.h"

namespace tessera::sim::lanes {

inline constexpr unsigned lane_count = 16;

/// A touched 2MB region. Ids are dense and begin at 1, so that no tag is ever 0 (an empty way).
struct Region {
    uint64_t number = 0;                          ///< virtual address / 2MB
    uint32_t pdpt_frame = 0, pd_frame = 0, pt_frame = 0;  ///< its page tables; pd_frame also names its gigabyte
    uint16_t lanes_2mb = 0, lanes_1gb = 0;
};

struct Accesses {
    const uint64_t* addresses;
    const uint32_t* regions;  ///< region id of each access
    const uint8_t* is_store;
    size_t count;
    const Region* region_table;
    uint32_t table_frames;    ///< page-table frames reserved so far
};

/// A static instruction, ready to replay. Registers are listed at regs[first_reg]: address sources, other
/// sources, destinations.
struct Op {
    uint32_t first_reg;
    uint8_t address_regs, other_regs, written_regs;
    uint16_t latency;
};

struct Block {
    uint32_t first_op, ops, first_slot, slots;
};

struct Program {
    const Block* blocks;
    const Op* ops;
    const uint8_t* regs;
    const uint16_t* slot_ops;  ///< op index within the block that owns each memory slot
};

struct Executions {
    const uint32_t* blocks;
    const uint16_t* access_counts;
    size_t count;
};

struct LaneCounts {
    uint64_t stlb_hits[lane_count], stlb_misses[lane_count];          ///< whole stream
    uint64_t unit_misses[lane_count], unit_walk_cycles[lane_count];   ///< since begin_unit()
    uint64_t program_missed[3][lane_count], walker_missed[3][lane_count];  ///< timed parts: references that missed each cache level
    uint64_t program_references, walker_loads[lane_count];                 ///< timed parts: all references
};

/// Recency stamps somewhere in the machine: `runs` runs of `run` stamps, `stride` words apart.
struct TimeSpan {
    uint32_t* first;
    size_t run, stride, runs;
};

class Machine {
public:
    virtual ~Machine() = default;
    virtual void tlb_only(const Accesses& accesses) = 0;
    virtual void warm(const Accesses& accesses) = 0;
    /// Counts without a clock.
    virtual void counted(const Accesses& accesses) = 0;
    /// Counts with the out-of-order window model.
    virtual void timed(const Accesses& accesses, const Executions& executions, const Program& program) = 0;
    /// Zeroes the unit's counters and empties the pipeline.
    virtual void begin_unit() = 0;
    virtual const LaneCounts& counts() const = 0;
    virtual void runtime(uint64_t cycles[lane_count]) const = 0;

    /// Recency stamps are 32 bits. When this is below what the next call may need, renumber: see driver.
    virtual uint32_t stamps_left() const = 0;
    /// Fills up to `room` spans, returns how many there are.
    virtual size_t time_spans(TimeSpan* spans, size_t room) = 0;
    virtual void set_now(uint32_t now) = 0;
};

/// Reference counts of one access: one walk of four loads and the access itself.
inline constexpr uint32_t stamps_per_access = 5;

Machine* make_machine_avx2(const Platform& platform, unsigned layouts);
Machine* make_machine_avx512(const Platform& platform, unsigned layouts);

}  // namespace tessera::sim::lanes
