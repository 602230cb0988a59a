// SPDX-License-Identifier: GPL-2.0-only
// kernel_blocks.h - copies by system calls as blocks of a trace: `rep movsb`, one access of 64 bytes.
//
// Their pc lies in trace::kernel_page, so readers can tell them from the program's own blocks, and all of them share
// one instruction page. A buffer of n lines is n executions: the first line of a string instruction, and n - 1 further ones.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "decode.h"
#include "event.h"
#include "registers.h"
#include "syscalls.h"

namespace tessera::tracer {

/// The blocks of one direction of one system call; made on first use, numbered after the program's blocks.
class KernelBlocks {
public:
    /// The block of a buffer's first line, or of a further one. `next_number` is called when the block is new.
    const TranslatedBlock* of(int64_t call, bool stores, bool first_line, uint32_t (*next_number)()) {
        auto& slot = blocks_[{call, stores, first_line}];
        if (!slot) {
            slot = std::make_unique<TranslatedBlock>();
            slot->pc = trace::kernel_page + (static_cast<uint64_t>(call) * 2 + stores) % 4096;
            slot->number = next_number();
            slot->kernel = true;
            slot->kernel_begin = first_line;
        }
        return slot.get();
    }

private:
    std::map<std::tuple<int64_t, bool, bool>, std::unique_ptr<TranslatedBlock>> blocks_;
};

/// `rep movsb` of one line: the address comes from rsi (loads of the program's memory) or rdi (stores).
inline DecodedInsn decoded_kernel_copy(bool first_line) {
    DecodedInsn out;
    out.insn.reads = out.insn.writes = out.insn.address_reads = out.insn.early_writes = rsi_bit | rdi_bit;
    out.insn.kind = trace::InsnKind::alu;
    out.insn.length_bytes = 2;
    out.insn.string = first_line ? trace::StringPart::begin : trace::StringPart::middle;
    out.moves = true;
    out.operand_bytes = kernel_line_bytes;
    out.separate_elements = true;
    return out;
}

}  // namespace tessera::tracer
