// SPDX-License-Identifier: GPL-2.0-only
// kernel_blocks.h - copies by system calls as blocks of a trace: one instruction, one access of 64 bytes.
//
// Their pc lies in trace::kernel_page, so readers can tell them from the program's own blocks, and all of them share
// one instruction page. A buffer of n lines is n executions.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "decode.h"
#include "event.h"
#include "syscalls.h"

namespace tessera::tracer {

/// The block of one direction of one system call; made on first use, numbered after the program's blocks.
class KernelBlocks {
public:
    /// `next_number` is called when the block is new.
    const TranslatedBlock* of(int64_t call, bool stores, uint32_t (*next_number)()) {
        auto& slot = blocks_[{call, stores}];
        if (!slot) {
            slot = std::make_unique<TranslatedBlock>();
            slot->pc = trace::kernel_page + (static_cast<uint64_t>(call) * 2 + stores) % 4096;
            slot->number = next_number();
            slot->kernel = true;
        }
        return slot.get();
    }

private:
    std::map<std::pair<int64_t, bool>, std::unique_ptr<TranslatedBlock>> blocks_;
};

/// `rep movsb` of one line: the address comes from rsi (loads of the program's memory) or rdi (stores).
inline DecodedInsn decoded_kernel_copy() {
    DecodedInsn out;
    constexpr uint64_t rsi_and_rdi = uint64_t{1} << 6 | uint64_t{1} << 7;
    out.insn.reads = out.insn.writes = out.insn.address_reads = rsi_and_rdi;
    out.insn.kind = trace::InsnKind::alu;
    out.insn.length_bytes = 2;
    out.operand_bytes = kernel_line_bytes;
    out.separate_elements = true;
    return out;
}

}  // namespace tessera::tracer
