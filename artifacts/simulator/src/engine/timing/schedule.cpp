#include "engine/timing/schedule.h"

#include <algorithm>

#include "engine/crossings.h"
#include "engine/dram.h"

namespace tessera::sim::timing {

Schedule::Schedule(const Platform& platform, const std::vector<trace::StaticBlock>& blocks, uint32_t steps_between_rebases,
                   RedirectLog* shared)
    : dram_(platform.dram),
      program_(blocks, platform),
      own_redirects_(shared == nullptr ? std::make_unique<RedirectLog>(platform, blocks) : nullptr),
      redirects_(shared == nullptr ? own_redirects_.get() : shared),
      store_words_(platform.store_buffer_entries),
      string_hold_(platform.string),
      uneven_strings_(platform.string.page_cycles % lines_of_4kb != 0),
      forwards_(platform.store_forward_cycles != 0),
      steps_between_rebases_(steps_between_rebases),
      writes_back_(platform.write_backs != 0) {}

void Schedule::begin_unit() {
    for (InFlightKeys* keys : {&pages_, &lines_, &lines_to_l2_}) keys->clear();
    unwritten_.clear();
    store_words_.clear();
    string_hold_.reset();
    since_rebase_ = 0;
    redirects_->forget();
}

void Schedule::warm(const Chunk& chunk) { redirects_of(chunk); }

/// Of each execution; null: no branch is ever mispredicted.
const uint8_t* Schedule::redirects_of(const Chunk& chunk) {
    if (!redirects_->exist()) return nullptr;
    if (own_redirects_) redirects_->begin_frame();
    return redirects_->next(chunk).data();
}

LinePlace Schedule::locate(uint64_t physical_line) const {
    if (dram_.channels == 0) return {};
    const DramPlace place = dram_place(dram_, physical_line);
    return {place.channel, place.bank, uint32_t(place.row + 1), uint32_t((place.row + 1) >> 32)};
}

/// Sorts the loads by their walks' rows; those of one walk keep their order.
void Schedule::place_walk_loads(const Outcomes& outcomes) {
    first_walk_load_.assign(outcomes.cycles_rows + 2, 0);
    walk_loads_.resize(outcomes.walk_loads);
    for (size_t i = 0; i < outcomes.walk_loads; ++i) ++first_walk_load_[outcomes.walk_load[i].cycles_row + 2];
    for (size_t row = 2; row < first_walk_load_.size(); ++row) first_walk_load_[row] += first_walk_load_[row - 1];
    for (size_t i = 0; i < outcomes.walk_loads; ++i) {
        const WalkLoad& load = outcomes.walk_load[i];
        walk_loads_[first_walk_load_[load.cycles_row + 1]++] = {locate(load.line), load.lanes};
    }
}

/// Writes its place: a copy of a fresh one would wait for the stores of its parts.
void Schedule::access(Reference& r, uint64_t address, bool store, uint64_t physical_line, bool from_memory) {
    const uint64_t page = address >> 12, line = address >> 6;
    r.page_slot = uint8_t(page % in_flight_slots);
    r.line_slot = uint8_t(line % in_flight_slots);
    r.l2_slot = lines_to_l2_.find(line);
    r.flags = uint8_t(pages_.claim(page) * new_page | lines_.claim(line) * new_line | store * is_store);
    r.prefetches = 0;
    if (from_memory) r.place = locate(physical_line);
}

Reference Schedule::prefetch(const PrefetchOutcome& outcome, uint64_t physical_line) {
    Reference r{};
    r.line_slot = uint8_t(outcome.line % in_flight_slots);
    if (outcome.into_l1d) {
        r.l2_slot = lines_to_l2_.find(outcome.line);
        r.flags = uint8_t(into_l1d | lines_.claim(outcome.line) * new_line);
    } else {
        r.flags = uint8_t(lines_to_l2_.claim(outcome.line) * new_line);
    }
    if (outcome.l3_missed != 0) r.place = locate(physical_line);
    return r;
}

/// `from_memory`: the lanes that missed L3.
void Schedule::write_back(Reference& access, uint64_t physical_line, uint64_t from_memory) {
    if (from_memory != 0) unwritten_.came(physical_line, from_memory);
    if (!(access.flags & is_store)) return;
    const uint64_t lanes = unwritten_.written(physical_line);
    if (lanes == 0) return;
    access.flags |= writes_back;
    write_backs_.push_back({locate(physical_line), lanes});
}

void Schedule::refer(const Chunk& chunk, const Outcomes& outcomes) {
    accesses_.resize(chunk.accesses);
    prefetches_.resize(outcomes.prefetches);
    write_backs_.clear();
    seconds_.clear();
    size_t next = 0;
    for (size_t i = 0; i < chunk.accesses; ++i) {
        const uint64_t line = chunk.addresses[i] >> 6;
        const uint64_t physical = outcomes.physical_line == nullptr ? line : outcomes.physical_line[i];
        Reference& r = accesses_[i];
        access(r, chunk.addresses[i], chunk.is_store[i] != 0, physical, outcomes.l3_missed[i] != 0);
        if (const size_t n = seconds_.size(); n < outcomes.crossings && outcomes.crossing[n].access == i) [[unlikely]] {
            const uint64_t page = next_4kb_page(VirtAddr(chunk.addresses[i])).value >> 12;
            const bool behind_l3 = outcomes.design_times != nullptr && outcomes.crossing[n].times.behind_l3 != 0;
            seconds_.push_back({uint8_t(page % in_flight_slots), pages_.claim(page), !behind_l3});
            r.flags |= crosses;
        }
        if (writes_back_) write_back(r, physical, outcomes.l3_missed[i]);
        for (; next < outcomes.prefetches && outcomes.prefetch[next].access == i; ++next, ++r.prefetches) {
            const PrefetchOutcome& asked = outcomes.prefetch[next];
            const uint64_t its_line = physical + (asked.line - line);
            prefetches_[next] = prefetch(asked, its_line);
            if (writes_back_ && asked.l3_missed != 0) unwritten_.came(its_line, asked.l3_missed);
        }
    }
}

/// Which loads may take bytes of which stores.
void Schedule::match_stores(const Chunk& chunk) {
    size_t at = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        const Block& block = program_.block(chunk.block_ids[e]);
        for (uint32_t i = 0; i < chunk.access_counts[e]; ++i, ++at) {
            const SlotUse& use = program_.use(block, i);
            const StoreMatch match = store_words_.access({chunk.addresses[at], use.bytes, chunk.is_store[at] != 0, use.is_string});
            if (match.kind == StoreMatch::Kind::none) continue;
            accesses_[at].flags |= match.kind == StoreMatch::Kind::whole ? covered : overlapped;
            accesses_[at].store_slot = match.slot;
        }
    }
}

void Schedule::step(uint32_t op, uint32_t accesses) {
    for (uint32_t done = 0;;) {
        const uint32_t now = std::min(accesses - done, steps_between_rebases_ - 1);
        uint32_t flags = done > 0 ? continued : 0;
        since_rebase_ += now + 1;
        if (since_rebase_ > steps_between_rebases_) {
            flags |= rebase;
            since_rebase_ = now + 1;
        }
        done += now;
        if (done < accesses) flags |= unfinished;
        steps_.push_back({op, uint16_t(now), uint16_t(flags)});
        if (done == accesses) return;
    }
}

/// String instructions among the steps from `first_step` on, which are of one execution.
void Schedule::hold_longer(size_t first_step) {
    for (size_t i = first_step; i < steps_.size(); ++i) {
        Step& step = steps_[i];
        if (step.flags & (fetch | unfinished)) continue;
        const Op& op = program_.ops()[step.op];
        if (!(op.flags & (begins_string | goes_on_with_string))) continue;
        const auto part = op.flags & begins_string ? trace::StringPart::begin : trace::StringPart::middle;
        if (string_hold_.next(part) != string_hold_.least(part)) step.flags |= longer;
    }
}

/// An execution with one access a slot, which nearly all are: the block's steps as they stand.
void Schedule::usual_execution(const Block& block) {
    const size_t first = steps_.size();
    steps_.resize(first + block.ops);
    std::copy_n(block.steps, block.ops, steps_.begin() + ptrdiff_t(first));
    since_rebase_ += block.ops + block.slots;
    if (since_rebase_ <= steps_between_rebases_) return;
    steps_[first].flags |= rebase;
    since_rebase_ = block.ops + block.slots;
}

/// Access i belongs to slot i, or to the last slot beyond it; without slots to the last instruction.
void Schedule::execution(const Block& block, uint32_t accesses) {
    uint32_t slot = 0;
    for (uint32_t o = 0; o < block.ops; ++o) {
        const uint32_t op = block.first_op + o, slots = program_.ops()[op].slots;
        uint32_t own = std::min(slots, accesses - std::min(accesses, slot));
        const bool has_last = block.slots == 0 ? o + 1 == block.ops : slots > 0 && slot + slots == block.slots;
        if (has_last && accesses > block.slots) own += accesses - block.slots;
        slot += slots;
        step(op, own);
    }
}

Batch Schedule::make(const Chunk& chunk, const Outcomes& outcomes) {
    refer(chunk, outcomes);
    if (forwards_) match_stores(chunk);
    steps_.clear();
    const uint8_t* const mispredicted = redirects_of(chunk);
    size_t fetched = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        const size_t first = steps_.size();
        for (; fetched < outcomes.fetches && outcomes.fetch[fetched].execution == e; ++fetched) {
            since_rebase_ += 1;
            const bool move = since_rebase_ > steps_between_rebases_;
            if (move) since_rebase_ = 1;
            steps_.push_back({uint32_t(fetched), 0, uint16_t(fetch | (move ? rebase : 0))});
        }
        const Block& block = program_.block(chunk.block_ids[e]);
        const uint32_t count = chunk.access_counts[e];
        if (count == block.slots && block.ops + block.slots <= steps_between_rebases_) usual_execution(block);
        else execution(block, count);
        if (uneven_strings_ && block.strings) hold_longer(first);
        if (mispredicted != nullptr && mispredicted[e]) steps_[first].flags |= redirected;
    }
    if (outcomes.walk_loads != 0) place_walk_loads(outcomes);
    return {program_.ops(),     program_.regs(),     steps_.data(),  steps_.size(),
            accesses_.data(),   prefetches_.data(),  &outcomes,      outcomes.walk_loads != 0 ? first_walk_load_.data() : nullptr,
            walk_loads_.data(), write_backs_.data(), seconds_.data()};
}

}  // namespace tessera::sim::timing
