// woven.h - blocks of kernel work that are woven into a program's stream (weave/woven_stream.h), and how to tell them from the program's.
//
// A woven block has a program counter that no processor can have (it is not canonical), so no trace has one. Woven blocks stand behind
// all blocks of the program in Stream::blocks(). The first instruction of exception entry and exit holds dispatch for the
// cycles of the platform.
#pragma once

#include <algorithm>
#include <vector>

#include "base/platform.h"
#include "base/types.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

inline constexpr uint64_t woven_pc = 0x7e55e7a000000000, woven_pc_end = woven_pc + (uint64_t{1} << 32);
inline constexpr uint64_t exception_entry_pc = woven_pc, exception_exit_pc = woven_pc + 64;

inline bool is_woven(const trace::StaticBlock& block) { return block.pc >= woven_pc && block.pc < woven_pc_end; }

/// How many blocks are the program's: those from here on are woven.
inline size_t program_blocks(const std::vector<trace::StaticBlock>& blocks) {
    size_t count = blocks.size();
    while (count > 0 && is_woven(blocks[count - 1])) --count;
    return count;
}

/// Whether a woven fault ends with this block.
inline bool ends_fault(const trace::StaticBlock& block) { return block.pc == exception_exit_pc; }

/// Instructions of each block. Exception entry and exit are none: the instructions of a recorded fault are in the other blocks.
inline std::vector<uint32_t> woven_instruction_counts(const std::vector<trace::StaticBlock>& blocks) {
    std::vector<uint32_t> counts = trace::instruction_counts(blocks);
    for (size_t i = program_blocks(blocks); i < blocks.size(); ++i)
        if (blocks[i].pc == exception_entry_pc || blocks[i].pc == exception_exit_pc) counts[i] = 0;
    return counts;
}

/// The accesses of a frame that are the program's. program_blocks: of the stream.
inline uint64_t program_accesses(const trace::Frame& frame, size_t program_blocks) {
    uint64_t count = 0;
    for (size_t e = 0; e < frame.block_ids.size(); ++e) count += frame.block_ids[e] < program_blocks ? frame.access_counts[e] : 0;
    return count;
}

/// Of the kernel's own addresses.
inline PageSize direct_map(const Platform& platform) { return platform.direct_map_mb == 2 ? PageSize::large_2mb : PageSize::huge_1gb; }

/// How long the first instruction of a block holds dispatch because an exception begins or ends there.
inline uint64_t exception_hold(const trace::StaticBlock& block, const Platform& platform) {
    return block.pc == exception_entry_pc  ? platform.exception_entry_cycles
           : block.pc == exception_exit_pc ? platform.exception_exit_cycles
                                           : 0;
}

}  // namespace tessera::sim
