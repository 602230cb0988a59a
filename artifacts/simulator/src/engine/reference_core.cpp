#include "engine/reference_core.h"

#include <bit>

#include "base/woven.h"
#include "engine/instruction_kind.h"
#include "engine/instruction_pc.h"

namespace tessera::sim {

ReferenceCore::ReferenceCore(const Platform& p)
    : platform_(&p),
      dispatches_(p.dispatch_width),
      window_(p.rob_entries),
      loads_(p.load_queue_entries),
      stores_(p.store_buffer_entries),
      store_data_(p.store_buffer_entries),
      store_words_(p.store_buffer_entries),
      string_hold_(p.string),
      load_ports_(p.ports.load),
      store_ports_(p.ports.store),
      alu_ports_(p.ports.alu),
      store_drains_(p.ports.store),
      mshrs_(p.mshrs),
      walkers_(p.walkers),
      memory_(p, data_memory(p)) {
    if (tables_apart(p)) tables_.emplace(p, table_memory(p));
}

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
        case load:
        case store:
        case nop: return 0;
        case alu:
        case branch:
        case load_store:
        case other: break;
    }
    return l.alu;
}

/// When a walk that could begin at `ready` is done. It holds a walker, and an MSHR if it goes beyond L1D and the platform says so.
/// `lines` wait in memory's queues, for as long as they do when the walk could begin.
uint64_t ReferenceCore::walked(uint64_t ready, Cycles walk, bool missed_l1d, const std::vector<LineNumber>& lines, uint64_t dispatch) {
    const bool needs_mshr = platform_->walker_uses_mshrs != 0 && missed_l1d;
    if (needs_mshr) ready = std::max(ready, mshrs_.first_free());
    const uint64_t done = walkers_.serve(ready, (tables_ ? *tables_ : memory_).walk(lines, walk.value, ready, dispatch));
    if (needs_mshr) mshrs_.take_until(done);
    return done;
}

/// When the physical address of a page is known. A page whose walk is under way is waited for.
template <class Outcome>
uint64_t ReferenceCore::translated(const Outcome& access, uint64_t ready, uint64_t dispatch) {
    const uint64_t page = access.address.value >> 12;
    const uint64_t pending = pages_.arrival(page);
    uint64_t done = std::max(ready, pending) +
                    access.lookup_cycles.value_or(access.translation == Translation::l1_hit ? 0 : platform_->stlb_hit_cycles);
    const bool walks = access.translation == Translation::miss;
    if (walks) done = walked(done, access.walk, access.walk_missed_l1d, access.walk_lines, dispatch);
    if (access.background.value != 0 && platform_->walker_serves_background != 0) walkers_.serve(done, access.background.value);
    pages_.set(page, walks ? done : pending);
    return done;
}

/// When L1D can be asked: both pages of an access that crosses are known. Behind L3, the virtual address is enough.
uint64_t ReferenceCore::before_l1d(const AccessOutcome& access, uint64_t ready, uint64_t dispatch) {
    const auto claim = [&](VirtAddr address) { pages_.set(address.value >> 12, pages_.arrival(address.value >> 12)); };
    uint64_t done = ready;
    if (access.behind_l3) claim(access.address);
    else done = translated(access, ready, dispatch);
    if (!access.second) return done;
    if (!access.second->behind_l3) return std::max(done, translated(*access.second, ready, dispatch));
    claim(access.second->address);
    return done;
}

/// When the data has arrived. A line on its way is waited for.
uint64_t ReferenceCore::arrived(const AccessOutcome& access, uint64_t ready, uint64_t dispatch) {
    const uint64_t line = access.address.value >> line_shift;
    const uint64_t pending = lines_.arrival(line);
    if (access.level == MemoryLevel::l1d) {
        lines_.set(line, pending);
        return std::max(ready + platform_->l1d.load_cycles, pending);
    }
    const uint64_t begin = std::max(ready, mshrs_.first_free());
    uint64_t done = begin + load_cycles(*platform_, access.level).value;
    if (access.level == MemoryLevel::dram) {
        uint64_t delay = 0;  // of what comes behind L3: the line keeps its MSHR
        if (access.behind_l3 && access.translation != Translation::l1_hit) {
            const uint64_t missed_l3 = begin + platform_->l3.load_cycles;
            delay = translated(access, missed_l3, dispatch) - missed_l3;
        }
        done = memory_.load(access.physical.value >> line_shift, begin + delay, dispatch, DramAsker::program);
    }
    done = std::max({done, pending, lines_to_l2_.arrival(line)});
    mshrs_.take_until(done);
    lines_.set(line, done);
    return done;
}

/// A line from memory that is written goes back to it.
void ReferenceCore::write_back(const AccessOutcome& access, uint64_t dispatch) {
    if (platform_->write_backs == 0) return;
    const uint64_t line = access.physical.value >> line_shift;
    if (access.level == MemoryLevel::dram) unwritten_.came(line, 1);
    if (access.is_store && unwritten_.written(line) != 0) memory_.write_back(line, dispatch);
}

/// A prefetch goes out when the access that caused it has its physical address. Into L1D it needs an MSHR: it holds one that is free,
/// or else waits for the first to become free and goes without.
void ReferenceCore::prefetch(const PrefetchRequest& request, uint64_t issue, uint64_t dispatch) {
    const uint64_t line = request.address.value >> line_shift;
    InFlight& table = request.into_l1d ? lines_ : lines_to_l2_;
    const uint64_t pending = table.arrival(line);
    table.set(line, pending);
    if (request.level <= (request.into_l1d ? MemoryLevel::l1d : MemoryLevel::l2)) return;  // already there
    const uint64_t mshr = request.into_l1d ? mshrs_.first_free() : 0;
    const uint64_t begin = std::max(issue, mshr);
    uint64_t done = begin + load_cycles(*platform_, request.level).value;
    if (request.level == MemoryLevel::dram) {
        done = memory_.load(request.physical.value >> line_shift, begin, dispatch, DramAsker::prefetch);
        if (platform_->write_backs != 0) unwritten_.came(request.physical.value >> line_shift, 1);
    }
    done = std::max(done, pending);
    if (request.into_l1d) {
        done = std::max(done, lines_to_l2_.arrival(line));
        if (mshr <= issue) mshrs_.take_until(done);
    }
    table.set(line, done);
}

/// When a load's data is there that the caches have at `cached`. A store that is not written yet gives it if it covers the load, and
/// must be written first if it covers a part.
uint64_t ReferenceCore::forwarded(const StoreMatch& match, uint64_t physical, uint64_t cached) const {
    if (match.kind == StoreMatch::Kind::none) return cached;
    const uint64_t written = stores_.in_slot(match.slot);
    if (written <= physical) return cached;
    if (match.kind == StoreMatch::Kind::part) return written + platform_->l1d.load_cycles;
    return std::max(physical, store_data_.in_slot(match.slot)) + platform_->store_forward_cycles;
}

/// `early`: when the address registers are there. The stack pointer is then ready at once, others after an addition.
void ReferenceCore::write_registers(const trace::StaticInsn& insn, uint64_t result, uint64_t early) {
    const uint64_t early_set = platform_->early_registers != 0 ? insn.early_writes : 0;
    for (uint64_t set = insn.writes; set != 0; set &= set - 1) {
        const unsigned r = unsigned(std::countr_zero(set));
        const bool is_early = (early_set >> r & 1) != 0;
        registers_[r] = !is_early ? result : r == stack_pointer ? early : early + platform_->latency.alu;
    }
}

void ReferenceCore::execute(const trace::StaticBlock& block, const std::vector<FetchRequest>& fetches,
                            const std::vector<AccessOutcome>& accesses, bool redirected) {
    if (redirected) dispatched_ = std::max(dispatched_, redirect_);
    for (const FetchRequest& fetch : fetches) {  // nothing enters while a code page is being translated
        const uint64_t began = dispatched_;
        dispatched_ += platform_->stlb_hit_cycles;
        if (fetch.translation == Translation::miss)
            dispatched_ = walked(dispatched_, fetch.walk, fetch.walk_missed_l1d, fetch.walk_lines, began);
    }
    size_t access = 0;
    for (size_t index = 0; index < block.insns.size(); ++index) {
        const trace::StaticInsn& insn = block.insns[index];
        size_t end = access;
        while (end < accesses.size() && owner_of_access(block, end) == index) ++end;

        uint64_t dispatch = std::max({dispatched_, dispatches_.oldest(), window_.oldest()});
        if (platform_->overlap == 0) dispatch = std::max({dispatch, retired_, drained_});
        const uint64_t base_address = registers_ready(insn.address_reads);
        uint64_t ready = registers_ready(insn.reads | insn.address_reads), complete = 0;
        for (; access < end; ++access) {
            const AccessOutcome& a = accesses[access];
            History& queue = a.is_store ? stores_ : loads_;
            dispatch = std::max(dispatch, queue.oldest());
            const uint64_t port = (a.is_store ? store_ports_ : load_ports_).take(dispatch);
            const uint64_t physical = before_l1d(a, std::max({dispatch, base_address, port}), dispatch);
            uint64_t data = arrived(a, physical, dispatch);
            write_back(a, dispatch);
            for (const PrefetchRequest& request : a.prefetches) prefetch(request, physical, dispatch);
            StoreMatch match;
            if (platform_->store_forward_cycles != 0)
                match = store_words_.access(
                    {a.address.value, bytes_of_access(block, access), a.is_store, insn.string != trace::StringPart::none});
            if (a.is_store) {
                complete = std::max(complete, physical);
                const uint64_t drain = std::max({store_drains_.first_free(drained_), retired_, ready, data});
                store_drains_.push(drain);
                drained_ = drain;
                queue.push(drained_);
                store_data_.push(std::max(dispatch, ready) + latency(insn.kind));
                ++drained_;  // all stores up to here are written
            } else {
                data = forwarded(match, physical, data);
                ready = std::max(ready, data);
                queue.push(std::max(retired_, data));
            }
        }
        const uint64_t port = computes(insn.kind) ? alu_ports_.take(dispatch) : 0;
        const uint64_t result = std::max({dispatch, ready, port}) + latency(insn.kind);
        complete = std::max(complete, result);
        retired_ = std::max(retired_, complete);
        dispatched_ = dispatch + string_hold_.next(insn.string) + (calls_or_returns(insn.branch) ? platform_->call_cycles : 0) +
                      (index == 0 ? exception_hold(block, *platform_) : 0);
        dispatches_.push(dispatch + 1);
        window_.push(retired_);
        write_registers(insn, result, std::max(dispatch, base_address));
        if (insn.branch != trace::BranchKind::none) redirect_ = result + platform_->branch_refill_cycles;
    }
}

}  // namespace tessera::sim
