// program_table.h - the trace's static blocks in the flat form that the clock replays.
#pragma once

#include <vector>

#include "base/platform.h"
#include "engine/timing/batch.h"
#include "tessera/trace/trace.h"

namespace tessera::sim::timing {

/// What an access of a memory slot is.
struct SlotUse {
    uint8_t bytes;
    bool is_string;
};

struct Block {
    uint32_t first_op, ops, slots, first_use;
    bool strings;       ///< it has parts of string instructions
    const Step* steps;  ///< of an execution with one access a slot
};

class ProgramTable {
public:
    ProgramTable(const std::vector<trace::StaticBlock>& blocks, const Platform& platform);
    const Block& block(uint32_t id) const { return blocks_[id]; }
    /// Of access i of an execution.
    const SlotUse& use(const Block& block, uint32_t i) const {
        return uses_[block.first_use + (i < block.slots ? i : block.slots == 0 ? 0 : block.slots - 1)];
    }
    const Op* ops() const { return ops_.data(); }
    const uint8_t* regs() const { return regs_.data(); }

private:
    std::vector<Block> blocks_;
    std::vector<Op> ops_;
    std::vector<SlotUse> uses_;  ///< a block without slots has one, of its last instruction
    std::vector<Step> steps_;  ///< parallel to ops_
    std::vector<uint8_t> regs_;
};

}  // namespace tessera::sim::timing
