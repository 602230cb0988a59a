// memory_level.h - the levels that can serve a reference, and the load time of each level.
#pragma once

#include "base/platform.h"
#include "base/types.h"
#include "cache/memory_node.h"

namespace tessera::sim {

enum class MemoryLevel : uint8_t { l1d = 0, l2 = 1, l3 = 2, dram = 3 };

/// Fixed for each level: only the clock (R) adds time for queues and row buffers, never C.
inline Cycles load_cycles(const Platform& p, MemoryLevel level) {
    switch (level) {
        case MemoryLevel::l1d: return Cycles(p.l1d.load_cycles);
        case MemoryLevel::l2: return Cycles(p.l2.load_cycles);
        case MemoryLevel::l3: return Cycles(p.l3.load_cycles);
        case MemoryLevel::dram: break;
    }
    return Cycles(data_memory(p).load_cycles);
}

/// The same for a load of a page walk: what C sums.
inline Cycles walker_load_cycles(const Platform& p, MemoryLevel level) {
    const Cycles served = level == MemoryLevel::dram ? Cycles(table_memory(p).load_cycles) : load_cycles(p, level);
    return served + Cycles(p.walker_load_adds_cycles);
}

}  // namespace tessera::sim
