// program_table.h - the trace's static blocks in the flat form that the vector code replays.
#pragma once

#include <vector>

#include "base/platform.h"
#include "engine/lanes/machine.h"
#include "tessera/trace/trace.h"

namespace tessera::sim::lanes {

class ProgramTable {
public:
    ProgramTable(const std::vector<trace::StaticBlock>& blocks, const CoreLatencies& latencies);
    Program view() const { return {blocks_.data(), ops_.data(), regs_.data(), slot_ops_.data()}; }

private:
    std::vector<Block> blocks_;
    std::vector<Op> ops_;
    std::vector<uint8_t> regs_;
    std::vector<uint16_t> slot_ops_;
};

}  // namespace tessera::sim::lanes
