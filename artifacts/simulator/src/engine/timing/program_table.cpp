#include "engine/timing/program_table.h"

#include <bit>

#include "base/woven.h"
#include "engine/instruction_kind.h"
#include "engine/instruction_pc.h"
#include "engine/string_hold.h"

namespace tessera::sim::timing {
namespace {

uint16_t latency_of(trace::InsnKind kind, const CoreLatencies& l) {
    using enum trace::InsnKind;
    switch (kind) {
        case load:
        case store:
        case nop: return 0;
        case multiply: return uint16_t(l.multiply);
        case divide: return uint16_t(l.divide);
        case fp_add: return uint16_t(l.fp_add);
        case fp_multiply: return uint16_t(l.fp_multiply);
        case fp_divide: return uint16_t(l.fp_divide);
        case alu:
        case branch:
        case load_store:
        case other: break;
    }
    return uint16_t(l.alu);
}

/// How long it holds dispatch; of strings the least, to which Schedule adds a cycle where it is due.
uint16_t hold_of(const trace::StaticInsn& insn, const Platform& p) {
    return uint16_t(StringHold(p.string).least(insn.string) + (calls_or_returns(insn.branch) ? p.call_cycles : 0));
}

uint8_t list(uint64_t set, std::vector<uint8_t>& out) {
    const uint8_t count = uint8_t(std::popcount(set));
    for (; set != 0; set &= set - 1) out.push_back(uint8_t(std::countr_zero(set)));
    return count;
}

/// The registers that each instruction writes and that something can still read: not those that the block overwrites
/// unread, as most flags are. Leaving such writes out changes no time and saves a store each.
std::vector<uint64_t> useful_writes(const trace::StaticBlock& block) {
    std::vector<uint64_t> useful(block.insns.size());
    uint64_t wanted = ~uint64_t{0};
    for (size_t i = block.insns.size(); i-- > 0;) {
        const trace::StaticInsn& insn = block.insns[i];
        useful[i] = insn.writes & wanted;
        wanted = (wanted & ~insn.writes) | insn.reads | insn.address_reads;
    }
    return useful;
}

}  // namespace

ProgramTable::ProgramTable(const std::vector<trace::StaticBlock>& blocks, const Platform& p) {
    const bool predicts = p.branch_predictor != "perfect";
    for (const trace::StaticBlock& block : blocks) {
        blocks_.push_back(
            {uint32_t(ops_.size()), uint32_t(block.insns.size()), uint32_t(block.slots.size()), uint32_t(uses_.size()), false, nullptr});
        if (block.insns.empty()) uses_.push_back({1, false});
        for (size_t i = 0; i < std::max<size_t>(block.slots.size(), 1) && !block.insns.empty(); ++i)
            uses_.push_back({uint8_t(bytes_of_access(block, i)), block.insns[owner_of_access(block, i)].string != trace::StringPart::none});
        const std::vector<uint64_t> writes = useful_writes(block);
        for (size_t i = 0; i < block.insns.size(); ++i) {
            const trace::StaticInsn& insn = block.insns[i];
            Op op{};
            op.first_reg = uint32_t(regs_.size());
            op.address_regs = list(insn.address_reads, regs_);
            op.other_regs = list(insn.reads & ~insn.address_reads, regs_);
            const uint64_t early = p.early_registers != 0 ? writes[i] & insn.early_writes : 0, stack = early & uint64_t{1} << stack_pointer;
            op.written_regs = list(writes[i] & ~early, regs_);
            op.early_regs = list(stack, regs_);
            op.early_regs = uint8_t(op.early_regs + list(early & ~stack, regs_));
            op.latency_cycles = latency_of(insn.kind, p.latency);
            op.hold_cycles = uint16_t(hold_of(insn, p) + (i == 0 ? exception_hold(block, p) : 0));
            op.flags = uint8_t((p.ports.alu != 0 && computes(insn.kind)) * needs_alu_port | (stack != 0) * early_stack |
                               (predicts && insn.branch != trace::BranchKind::none) * redirects |
                               (insn.string == trace::StringPart::begin) * begins_string |
                               (insn.string == trace::StringPart::middle) * goes_on_with_string);
            blocks_.back().strings |= insn.string != trace::StringPart::none;
            for (const trace::MemorySlot& slot : block.slots) op.slots = uint16_t(op.slots + (slot.insn == i));
            ops_.push_back(op);
            steps_.push_back({uint32_t(ops_.size() - 1), op.slots, 0});
        }
    }
    for (Block& block : blocks_) block.steps = steps_.data() + block.first_op;
}

}  // namespace tessera::sim::timing
