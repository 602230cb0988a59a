// redirects.h - follows a stream from block to block, and says which blocks are entered after a mispredicted branch.
//
// It sees the plan's warm and timed parts. Where the stream has a gap (a part of TLBs only, a unit that begins with an empty
// core), the branch before it has no known successor and is left out. The same in all layouts.
#pragma once

#include <optional>

#include "base/woven.h"
#include "branch/branch_unit.h"

namespace tessera::sim {

class Redirects {
public:
    /// Throws Refusal where the platform names a predictor that does not exist. Ends of blocks are kept only if there is one.
    /// Woven blocks (base/woven.h) change nothing, either: the branch before them is judged by the program's next block.
    Redirects(const Platform& platform, const std::vector<trace::StaticBlock>& blocks) : unit_(platform) {
        if (!unit_.exists()) return;
        for (const trace::StaticBlock& block : blocks)
            blocks_.push_back({block.pc, block_end(block), block.insns.empty() || is_woven(block)});
    }

    /// False: no branch is ever mispredicted.
    bool exist() const { return unit_.exists(); }

    /// The program goes on with this block. True: the branch before it was mispredicted. A block without instructions changes nothing.
    bool enter(uint32_t block) {
        if (!exist() || blocks_[block].is_empty) return false;
        const bool wrong = last_ && unit_.mispredicted(blocks_[*last_].end, blocks_[block].pc);
        last_ = block;
        return wrong;
    }

    /// A gap: the block that is entered next does not follow the last one.
    void forget() { last_.reset(); }

private:
    struct Block {
        uint64_t pc;
        BlockEnd end;
        bool is_empty;  ///< or woven
    };
    BranchUnit unit_;
    std::vector<Block> blocks_;
    std::optional<uint32_t> last_;
};

}  // namespace tessera::sim
