// instruction_pc.h - finds the instruction of a block that an access belongs to, and its address.
//
// Access i of an execution belongs to memory slot i, or to the last slot beyond it (tracer's Frame); in a block without
// slots to the last instruction. Prefetchers learn by the instruction's address.
#pragma once

#include <algorithm>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::sim {

inline size_t owner_of_access(const trace::StaticBlock& block, size_t access) {
    if (block.slots.empty()) return block.insns.size() - 1;
    return block.slots[std::min(access, block.slots.size() - 1)].insn;
}

/// 1 in a block without slots.
inline uint64_t bytes_of_access(const trace::StaticBlock& block, size_t access) {
    if (block.slots.empty()) return 1;
    return block.slots[std::min(access, block.slots.size() - 1)].size_bytes;
}

inline uint64_t pc_of_access(const trace::StaticBlock& block, size_t access) {
    uint64_t pc = block.pc;
    for (size_t before = 0; before < owner_of_access(block, access); ++before) pc += block.insns[before].length_bytes;
    return pc;
}

}  // namespace tessera::sim
