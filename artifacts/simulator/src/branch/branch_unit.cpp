#include "branch/branch_unit.h"

namespace tessera::sim {

BlockEnd block_end(const trace::StaticBlock& block) {
    if (block.insns.empty() || block.insns.back().branch == trace::BranchKind::none) return {};
    uint64_t behind = block.pc;
    for (const trace::StaticInsn& insn : block.insns) behind += insn.length_bytes;
    return {block.insns.back().branch, behind - block.insns.back().length_bytes, behind};
}

BranchUnit::BranchUnit(const Platform& p)
    : predictor_(p.branch_predictor == "perfect" ? nullptr : predictors().make(p.branch_predictor)),
      stack_(p.return_stack_entries),
      targets_(p.target_entries) {}

bool BranchUnit::mispredicted(const BlockEnd& end, uint64_t next_pc) {
    using enum trace::BranchKind;
    if (!exists() || end.kind == none) return false;
    if (end.kind == conditional) {
        const bool taken = next_pc != end.fall_through;
        return predictor_->conditional(end.pc, taken) != taken;
    }
    predictor_->unconditional(end.pc, next_pc);
    bool wrong = false;
    if (end.kind == ret) wrong = returns(next_pc);
    if (end.kind == indirect_jump || end.kind == indirect_call) wrong = indirect(end.pc, next_pc);
    if (end.kind == call || end.kind == indirect_call) push(end.fall_through);
    return wrong;
}

/// Takes the youngest return address off the stack.
bool BranchUnit::returns(uint64_t next_pc) {
    if (stack_.empty()) return false;
    if (depth_ == 0) return true;
    --depth_;
    top_ = (top_ + stack_.size() - 1) % stack_.size();
    return stack_[top_] != next_pc;
}

bool BranchUnit::indirect(uint64_t pc, uint64_t next_pc) {
    if (targets_.empty()) return false;
    Target& last = targets_[pc % targets_.size()];
    const bool wrong = last.pc != pc || last.target != next_pc;
    last = {pc, next_pc};
    return wrong;
}

void BranchUnit::push(uint64_t address) {
    if (stack_.empty()) return;
    stack_[top_] = address;
    top_ = (top_ + 1) % stack_.size();
    if (depth_ < stack_.size()) ++depth_;
}

}  // namespace tessera::sim
