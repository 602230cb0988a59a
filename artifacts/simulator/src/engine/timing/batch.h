// batch.h - a chunk in the form that the vector code replays: steps, and the data of each access that all lanes share.
//
// Plain data; schedule.h makes it once a chunk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/outcome.h"
#include "engine/timing/config.h"

namespace tessera::sim::timing {

enum OpFlags : uint8_t {
    needs_alu_port = 1,  ///< and there are so many and no more
    redirects = 2,       ///< a branch, whose misprediction holds up what follows
    early_stack = 4,     ///< the first of early_regs is the stack pointer
    begins_string = 8,
    goes_on_with_string = 16,
};

/// A static instruction. Registers are listed at regs[first_reg]: address sources, other sources, destinations, early destinations.
struct Op {
    uint32_t first_reg;
    uint16_t slots, latency_cycles, hold_cycles;  ///< hold: of dispatch, by string instructions
    uint8_t address_regs, other_regs, written_regs, early_regs;
    uint8_t flags;
};

enum StepFlags : uint16_t {
    rebase = 1,      ///< move the origin of times first
    fetch = 2,       ///< not an instruction: fetch[op] of the outcomes holds up dispatch
    continued = 4,   ///< the instruction began in an earlier step
    unfinished = 8,  ///< and goes on in the next
    redirected = 16, ///< the branch before it was mispredicted
    longer = 32,     ///< it holds dispatch a cycle longer than its Op says
};

/// One instruction, with this many of the chunk's accesses.
struct Step {
    uint32_t op;
    uint16_t accesses, flags;
};

enum ReferenceFlags : uint8_t {
    new_page = 1,
    new_line = 2,
    is_store = 4,
    into_l1d = 8,
    writes_back = 16,
    covered = 32,
    overlapped = 64,
    crosses = 128
};

/// Where memory keeps a line: the same in all lanes.
struct LinePlace {
    uint32_t channel, bank;
    uint32_t row_low, row_high;     ///< row of the bank, plus 1 (0: no row is open)
};

/// A line that some lanes ask memory for.
struct PlacedLine {
    LinePlace place;
    uint64_t lanes;
};

/// What all lanes have in common of an access or a prefetch: where in-flight tables and memory keep its times.
struct Reference {
    uint8_t page_slot, line_slot;
    uint8_t l2_slot;                ///< of the table of lines on their way into L2; in_flight_slots: not in it
    uint8_t flags;                  ///< new_page, new_line: the slot held something else until now
    uint32_t store_slot;            ///< of a load, the store in the buffer that covered or overlapped it
    uint32_t prefetches;            ///< that follow this access
    LinePlace place;                    ///< for lanes that load from memory
};

/// The second page of an access that crosses: where the in-flight table keeps its time.
struct SecondReference {
    uint8_t page_slot;
    bool is_new;         ///< the slot held something else until now
    bool is_translated;  ///< before L1D; else its slot is only claimed
};

struct Batch {
    const Op* ops;
    const uint8_t* regs;
    const Step* steps;
    size_t step_count;
    const Reference* accesses;
    const Reference* prefetches;
    const Outcomes* outcomes;
    /// Walk of row r: its loads from memory are walk_loads[first_walk_load[r]] and on, below first_walk_load[r + 1]. Null: no walk has any.
    const uint32_t* first_walk_load;
    const PlacedLine* walk_loads;
    const PlacedLine* write_backs;  ///< of the accesses that have the flag, in their order
    const SecondReference* seconds;  ///< of each of Outcomes::crossing
};

}  // namespace tessera::sim::timing
