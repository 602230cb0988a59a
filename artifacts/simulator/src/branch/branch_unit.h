// branch_unit.h - which branches of a stream are mispredicted: the conditional predictor, a return stack, a table of targets.
//
// Jumps and calls with fixed targets are always right, as a branch target buffer that is large enough makes them. A return is
// right if the return stack holds its target: calls push their fall-through, the deepest entry is lost when the stack is full,
// and an empty stack is wrong. An indirect jump or call is right if it goes where it went last time: a direct-mapped table by
// pc with the whole pc as its tag; a branch that is not in it is wrong.
#pragma once

#include <memory>
#include <vector>

#include "branch/predictor.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

/// How a block ends: its last instruction, if that is a branch.
struct BlockEnd {
    trace::BranchKind kind = trace::BranchKind::none;
    uint64_t pc = 0;            ///< of the branch
    uint64_t fall_through = 0;  ///< the address behind it
};

BlockEnd block_end(const trace::StaticBlock& block);

class BranchUnit {
public:
    /// Throws Refusal where the platform names a predictor that does not exist.
    explicit BranchUnit(const Platform& p);

    /// False: the platform has perfect prediction, and mispredicted() is always false.
    bool exists() const { return predictor_ != nullptr; }

    /// The program went from a block with this end to the block at `next_pc`. Predicts, learns, and returns whether it was wrong.
    bool mispredicted(const BlockEnd& end, uint64_t next_pc);

private:
    bool returns(uint64_t next_pc);
    bool indirect(uint64_t pc, uint64_t next_pc);
    void push(uint64_t address);

    struct Target {
        uint64_t pc = ~uint64_t{0}, target = 0;
    };
    std::unique_ptr<Predictor> predictor_;   ///< null: perfect
    std::vector<uint64_t> stack_;            ///< a ring of return addresses
    size_t top_ = 0, depth_ = 0;
    std::vector<Target> targets_;
};

}  // namespace tessera::sim
