// instruction_side.h - models which code pages a program looks up in the L1 ITLB and which of them miss.
//
// The ITLB does not depend on the layout: code has 4KB pages in every layout, also inside a pool. Before each execution of a
// block, the model looks up the pages that its bytes overlap, in order, except the page that it looked up last. It fills a
// page that misses and passes it to the caller, who translates it (mmu/design.h, fetch). Blocks are contiguous in memory;
// a block without lengths counts as one byte. Not modelled: instruction bytes in the caches, large pages of code.
#pragma once

#include "base/platform.h"
#include "tlb/array.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

class InstructionSide {
public:
    explicit InstructionSide(const Platform& p) : l1i_(p.l1i, p.l1i_replacement, p) {}

    /// False: the platform does not simulate instruction pages and execute() would do nothing.
    bool exists() const { return l1i_.exists(); }

    static uint64_t bytes_of_block(const trace::StaticBlock& block) {
        uint64_t bytes = 0;
        for (const trace::StaticInsn& insn : block.insns) bytes += insn.length_bytes;
        return bytes == 0 ? 1 : bytes;
    }

    /// Calls missed(VirtAddr of the page) for each page that misses, in order.
    template <class Missed>
    void execute(uint64_t pc, uint64_t block_bytes, Missed&& missed) {
        if (!exists()) return;
        for (uint64_t number = pc >> 12; number <= (pc + block_bytes - 1) >> 12; ++number) {
            if (number == last_) continue;
            last_ = number;
            const PageNumber page{number, PageSize::small_4kb};
            if (l1i_.lookup(page)) continue;
            l1i_.fill(page);
            missed(VirtAddr(number << 12));
        }
    }

private:
    TlbArray l1i_;
    uint64_t last_ = ~uint64_t{0};
};

}  // namespace tessera::sim
