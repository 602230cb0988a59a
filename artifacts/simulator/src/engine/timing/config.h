// config.h - the platform as plain 32-bit numbers, for the vector code of the clock.
//
// Vector code is compiled once per instruction set. It must not use inline code of the C++ library: the linker keeps one
// copy of a template for the whole program, and this could be a copy compiled with AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::sim {
struct Platform;
}

namespace tessera::sim::timing {

inline constexpr unsigned part_lanes = 16;        ///< layouts of one vector, except in the build for one layout
inline constexpr unsigned in_flight_slots = 64;   ///< pages, and lines, whose arrival is remembered
inline constexpr unsigned idle_intervals = 8;     ///< of walkers, that are remembered
inline constexpr unsigned row_counters = 9;       ///< of each DramAsker: hits, closed, conflicts
inline constexpr uint32_t walk_bound_cycles = 1u << 19;  ///< each walk takes less: five loads at the bound of memory.load_cycles fit

struct ClockConfig {
    uint32_t dispatch_width, rob_entries, load_queue_entries, store_buffer_entries, mshrs, walkers;
    uint32_t overlap, walker_uses_mshrs, walker_serves_background;
    uint32_t stlb_hit_cycles, l1d_load_cycles, l2_load_cycles, l3_load_cycles, memory_load_cycles;
    uint32_t channels, transfer_cycles;           ///< at least one channel; cycles between two lines of one channel
    uint32_t banks;                               ///< of all channels together; 0: memory has no rows
    uint32_t bank_busy_cycles, row_hit_cycles, row_conflict_cycles;  ///< load times of an open row, of another row's
    uint32_t tables_apart;                        ///< page tables have a memory of their own, with as many channels and banks:
    uint32_t table_load_cycles, table_transfer_cycles, table_row_hit_cycles, table_row_conflict_cycles;
    uint32_t prefetch_queue_lines, write_queue_lines;
    uint32_t load_ports, store_ports, alu_ports;  ///< 0: any number
    uint32_t alu_cycles, refill_cycles, forward_cycles;  ///< forward: 0: loads do not see stores
    uint32_t counts_rows;                         ///< what loads find in the rows of memory
    uint32_t extended;                            ///< any of ports, redirects, early registers, strings, forwarding, exceptions is on
    uint32_t steps_between_rebases;
};

/// weaves: the stream has exceptions (base/woven.h). counts_rows: where memory has rows. Throws Refusal when times since an origin that moves every few steps would not fit 32 bits.
ClockConfig clock_config(const Platform& platform, bool weaves = false, bool counts_rows = false);

}  // namespace tessera::sim::timing
