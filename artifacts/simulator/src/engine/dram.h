// dram.h - maps a line to its place in memory: channel, bank, row.
//
// Lines are interleaved over channels; within a channel consecutive lines fill a row buffer, consecutive rows go to consecutive
// banks. Channels and banks need not be powers of two. Not modelled: ranks, bank groups, refresh, permuted mappings.
#pragma once

#include <cstdint>

#include "base/platform.h"
#include "engine/dram_rows.h"

namespace tessera::sim {

/// Lines of prefetches that may queue at a channel or a bank; a prefetch that finds more waits no longer (docs/clock.md).
inline constexpr uint64_t prefetch_queue_lines = 32;
/// The same for write-backs: more than the loads and stores in flight of any processor at hand can be waiting for, so that it
/// bounds nothing but what nobody waits for (prefetched lines that are written).
inline constexpr uint64_t write_queue_lines = 512;

struct DramPlace {
    uint32_t channel = 0;
    uint32_t bank = 0;  ///< among all banks of all channels
    uint64_t row = 0;   ///< within the bank
};

/// `line`: physical address / 64. pre: dram.channels != 0, and then banks != 0 and row_bytes >= 64.
inline DramPlace dram_place(const Dram& dram, uint64_t line) {
    const uint64_t channel = line % dram.channels, row = line / dram.channels / (dram.row_bytes / 64);
    return {uint32_t(channel), uint32_t(channel * dram.banks + row % dram.banks), row / dram.banks};
}

}  // namespace tessera::sim
