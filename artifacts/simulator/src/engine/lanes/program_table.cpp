#include "engine/lanes/program_table.h"

#include <bit>

namespace tessera::sim::lanes {
namespace {

uint16_t latency_of(trace::InsnKind kind, const CoreLatencies& l) {
    using enum trace::InsnKind;
    switch (kind) {
        case load: case store: case nop: return 0;
        case multiply: return uint16_t(l.multiply);
        case divide: return uint16_t(l.divide);
        case fp_add: return uint16_t(l.fp_add);
        case fp_multiply: return uint16_t(l.fp_multiply);
        case fp_divide: return uint16_t(l.fp_divide);
        case alu: case branch: case load_store: case other: break;
    }
    return uint16_t(l.alu);
}

uint8_t list(uint64_t set, std::vector<uint8_t>& out) {
    const uint8_t count = uint8_t(std::popcount(set));
    for (; set != 0; set &= set - 1) out.push_back(uint8_t(std::countr_zero(set)));
    return count;
}

}  // namespace

ProgramTable::ProgramTable(const std::vector<trace::StaticBlock>& blocks, const CoreLatencies& latencies) {
    for (const trace::StaticBlock& block : blocks) {
        blocks_.push_back({uint32_t(ops_.size()), uint32_t(block.insns.size()), uint32_t(slot_ops_.size()), uint32_t(block.slots.size())});
        for (const trace::MemorySlot& slot : block.slots) slot_ops_.push_back(slot.insn);
        for (const trace::StaticInsn& insn : block.insns) {
            Op op{};
            op.first_reg = uint32_t(regs_.size());
            op.address_regs = list(insn.address_reads, regs_);
            op.other_regs = list(insn.reads & ~insn.address_reads, regs_);
            op.written_regs = list(insn.writes, regs_);
            op.latency = latency_of(insn.kind, latencies);
            ops_.push_back(op);
        }
    }
}

}  // namespace tessera::sim::lanes
