#include "engine/reference_core.h"

#include <algorithm>
#include <bit>

namespace tessera::sim {

ReferenceCore::ReferenceCore(const Platform& p)
    : platform_(&p), dispatches_(p.dispatch_width), window_(p.rob_entries), loads_(p.load_queue_entries),
      stores_(p.store_buffer_entries), mshrs_(p.mshrs), walkers_(p.walkers) {}

uint64_t ReferenceCore::registers_ready(uint64_t set) const {
    uint64_t ready = 0;
    for (; set != 0; set &= set - 1) ready = std::max(ready, registers_[std::countr_zero(set)]);
    return ready;
}

uint64_t ReferenceCore::latency(trace::InsnKind kind) const {
    using enum trace::InsnKind;
    const CoreLatencies& l = platform_->latency;
    switch (kind) {
        case multiply: return l.multiply;
        case divide: return l.divide;
        case fp_add: return l.fp_add;
        case fp_multiply: return l.fp_multiply;
        case fp_divide: return l.fp_divide;
        case load: case store: case nop: return 0;
        case alu: case branch: case load_store: case other: break;
    }
    return l.alu;
}

/// When the physical address is known. A page whose walk is under way is waited for.
uint64_t ReferenceCore::translated(const AccessOutcome& access, uint64_t ready) {
    const uint64_t page = access.address.value >> 12;
    const uint64_t pending = pages_.arrival(page);
    uint64_t done = std::max(ready, pending);
    if (access.translation != Translation::l1_hit) done += platform_->stlb_hit_cycles;
    const bool walks = access.translation == Translation::miss;
    if (walks) done = walkers_.serve(done, access.walk.value);
    pages_.set(page, walks ? done : pending);
    return done;
}

/// When the data has arrived. A line on its way is waited for.
uint64_t ReferenceCore::arrived(const AccessOutcome& access, uint64_t ready) {
    const uint64_t line = access.address.value >> line_shift;
    const uint64_t pending = lines_.arrival(line);
    if (access.level == MemoryLevel::l1d) {
        lines_.set(line, pending);
        return std::max(ready + platform_->l1d.load_cycles, pending);
    }
    if (access.level == MemoryLevel::dram && platform_->memory_cycles_per_line > 0) {
        ready = std::max(ready, memory_free_);
        memory_free_ = ready + platform_->memory_cycles_per_line;
    }
    const uint64_t done = mshrs_.serve(ready, load_cycles(*platform_, access.level).value);
    lines_.set(line, done);
    return done;
}

void ReferenceCore::execute(const trace::StaticBlock& block, const std::vector<AccessOutcome>& accesses) {
    const auto owner = [&](size_t i) -> size_t {
        if (block.slots.empty()) return block.insns.size() - 1;
        return block.slots[std::min(i, block.slots.size() - 1)].insn;
    };
    size_t access = 0;
    for (size_t index = 0; index < block.insns.size(); ++index) {
        const trace::StaticInsn& insn = block.insns[index];
        size_t end = access;
        while (end < accesses.size() && owner(end) == index) ++end;

        uint64_t dispatch = std::max({dispatched_, dispatches_.oldest(), window_.oldest()});
        const uint64_t base_address = registers_ready(insn.address_reads);
        uint64_t ready = registers_ready(insn.reads | insn.address_reads), complete = 0;
        for (; access < end; ++access) {
            const AccessOutcome& a = accesses[access];
            History& queue = a.is_store ? stores_ : loads_;
            dispatch = std::max(dispatch, queue.oldest());
            const uint64_t physical = translated(a, std::max(dispatch, base_address));
            const uint64_t data = arrived(a, physical);
            if (a.is_store) {
                complete = std::max(complete, physical);
                drained_ = std::max({drained_, retired_, ready, data});
                queue.push(drained_);
                ++drained_;  // the next store leaves a cycle later at the earliest
            } else {
                ready = std::max(ready, data);
                queue.push(std::max(retired_, data));
            }
        }
        const uint64_t result = std::max(dispatch, ready) + latency(insn.kind);
        complete = std::max(complete, result);
        retired_ = std::max(retired_, complete);
        dispatched_ = dispatch;
        dispatches_.push(dispatch + 1);
        window_.push(retired_);
        for (uint64_t set = insn.writes; set != 0; set &= set - 1) registers_[std::countr_zero(set)] = result;
    }
}

}  // namespace tessera::sim
