#include "engine/weave/compiled.h"

#include <algorithm>

#include "base/woven.h"

namespace tessera::sim::weave {
namespace {

constexpr size_t most_accesses = 48, most_insns = 256, pc_step = 4096;
/// A vector register: programs hardly wait for it behind a fault.
constexpr uint64_t pointer = uint64_t{1} << 32;

trace::StaticInsn plain(trace::InsnKind kind) { return {0, 0, 0, kind, 0, 4}; }

}  // namespace

/// Makes the blocks of one template, one after the other.
class CompiledTemplates::Maker {
public:
    Maker(std::vector<trace::StaticBlock>& blocks, uint32_t first, Compiled& into) : blocks_(blocks), first_(first), into_(into) {}

    void add(const TemplateStep& step) {
        for (uint32_t i = 1; i < step.instructions; ++i) addition();
        if (!step.string) return access(step, step.instructions > 0, step.offset, step.bytes, trace::StringPart::none);
        for (uint64_t at = step.offset, end = step.offset + step.bytes; at < end; at = (at / 64 + 1) * 64) {
            const bool begins = at == step.offset && step.instructions > 0;
            access(step, true, at, 64, begins ? trace::StringPart::begin : trace::StringPart::middle);
        }
    }
    void addition() {
        room(1);
        block_.insns.push_back(plain(trace::InsnKind::alu));
    }
    void close() {
        if (block_.insns.empty()) return;
        into_.pieces.push_back({first_ + uint32_t(blocks_.size()), uint32_t(block_.slots.size())});
        block_.pc = woven_pc + (blocks_.size() + 1) * pc_step;
        blocks_.push_back(std::move(block_));
        block_ = {};
    }

private:
    void room(size_t insns) {
        if (block_.insns.size() + insns > most_insns || block_.slots.size() >= most_accesses) close();
    }
    /// own: of an instruction of its own, else of the one before, which stays in this block.
    void access(const TemplateStep& step, bool own, uint64_t offset, uint32_t bytes, trace::StringPart part) {
        using trace::InsnKind;
        if (own) {
            room(1);
            trace::StaticInsn insn = plain(step.store ? InsnKind::store : InsnKind::load);
            insn.string = part;
            if (!step.store && step.base != Base::stack && part == trace::StringPart::none)
                insn.reads = insn.writes = insn.address_reads = pointer;
            block_.insns.push_back(insn);
        } else if (trace::StaticInsn& insn = block_.insns.back(); (insn.kind == InsnKind::store) != step.store) {
            insn.kind = InsnKind::load_store;
        }
        ++block_.insns.back().memory_slots;
        block_.slots.push_back({uint16_t(block_.insns.size() - 1), step.store, uint8_t(bytes)});
        into_.places.push_back({step.base, step.store, offset});
    }

    std::vector<trace::StaticBlock>& blocks_;
    uint32_t first_;
    Compiled& into_;
    trace::StaticBlock block_;
};

CompiledTemplates::CompiledTemplates(const Templates& templates, size_t first_block) : first_(uint32_t(first_block)), entry_(first_) {
    const trace::StaticInsn one = plain(trace::InsnKind::other);
    blocks_.push_back({exception_entry_pc, {one}, {}});
    blocks_.push_back({exception_exit_pc, {one, one}, {}});  // the second one waits for the first, so that the wait is the kernel's
    for (const FaultTemplate& one : templates.all) by_kind_[one.kind].push_back(compile(one));
}

Compiled CompiledTemplates::compile(const FaultTemplate& of) {
    Compiled made{of.kind, of.tables, of.batch, {}, {}};
    Maker maker(blocks_, first_, made);
    for (const TemplateStep& step : of.steps) maker.add(step);
    for (uint32_t i = 0; i < of.tail; ++i) maker.addition();
    maker.close();
    return made;
}

const Compiled* CompiledTemplates::find(const std::string& kind, uint32_t tables, bool batch) const {
    const auto found = by_kind_.find(kind);
    if (found == by_kind_.end()) return nullptr;
    const Compiled* best = nullptr;
    const auto rank = [&](const Compiled& one) { return std::pair(one.batch == batch, one.tables); };
    for (const Compiled& one : found->second)
        if (one.tables <= tables && (best == nullptr || rank(one) > rank(*best))) best = &one;
    return best;
}

}  // namespace tessera::sim::weave
