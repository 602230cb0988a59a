// reference_resources.h - the resources that instructions and accesses wait for, in simple code for the reference core.
#pragma once

#include <algorithm>
#include <vector>

#include "base/types.h"
#include "cache/memory_node.h"
#include "engine/dram.h"

namespace tessera::sim {

/// Identical servers; a job takes the one that is free first and holds it until it is done.
class Servers {
public:
    explicit Servers(size_t count) : free_(count, 0) {}
    uint64_t first_free() const { return *std::min_element(free_.begin(), free_.end()); }
    void take_until(uint64_t done) { *std::min_element(free_.begin(), free_.end()) = done; }

private:
    std::vector<uint64_t> free_;
};

/// The page walkers. A job takes the first idle interval that it fits, among the last few that earlier jobs, whose addresses came late,
/// have left; else the walker that is free first. count 0: any number.
class Walkers {
public:
    static constexpr size_t remembered = 8;
    explicit Walkers(size_t count) : count_(count), servers_(count) {}
    /// When a walk that is ready at `ready` is done.
    uint64_t serve(uint64_t ready, uint64_t duration) {
        if (count_ == 0) return ready + duration;
        for (Idle& idle : idle_) {
            const uint64_t begin = std::max(ready, idle.begin);
            if (begin + std::max<uint64_t>(duration, 1) <= idle.end) return idle.begin = begin + duration;
        }
        const uint64_t free = servers_.first_free(), begin = std::max(ready, free);
        servers_.take_until(begin + duration);
        if (begin > free) remember({free, begin});
        return begin + duration;
    }

private:
    struct Idle {
        uint64_t begin = 0, end = 0;
    };
    /// Sorted by end, the later one behind its equals; the one that ends first is forgotten.
    void remember(Idle idle) {
        if (idle.end < idle_.front().end) return;
        idle_.erase(idle_.begin());
        const auto behind = std::find_if(idle_.begin(), idle_.end(), [&](const Idle& other) { return other.end > idle.end; });
        idle_.insert(behind, idle);
    }

    size_t count_;
    Servers servers_;
    std::vector<Idle> idle_ = std::vector<Idle>(remembered);
};

/// The last n values of a sequence; before[n] reads 0.
class History {
public:
    explicit History(size_t n) : values_(n, 0) {}
    uint64_t oldest() const { return values_[at_]; }
    /// Value k is in slot k % n, from 0.
    uint64_t in_slot(size_t slot) const { return values_[slot]; }
    void push(uint64_t value) {
        values_[at_] = value;
        at_ = (at_ + 1) % values_.size();
    }

private:
    std::vector<uint64_t> values_;
    size_t at_ = 0;
};

/// Ports, of which each begins one job a cycle. A job takes the port that was taken longest ago. It books from its dispatch on,
/// so that one whose address or operands come late does not hold up those behind it. count 0: any number.
class PortRing {
public:
    explicit PortRing(size_t count) : count_(count), free_(std::max<size_t>(count, 1)) {}
    /// When the job can begin.
    uint64_t take(uint64_t dispatch) {
        if (count_ == 0) return 0;
        const uint64_t free = free_.oldest();
        free_.push(std::max(free, dispatch) + 1);
        return free;
    }

private:
    size_t count_;
    History free_;
};

/// Stores leave their buffer in order, at most `ports` in a cycle (0: one).
class StoreDrains {
public:
    explicit StoreDrains(uint64_t ports) : several_(ports > 1), last_(several_ ? ports : 1) {}
    /// When the next one can leave at the earliest. `behind_last`: a cycle after the one before it, or 0.
    uint64_t first_free(uint64_t behind_last) const {
        return several_ ? std::max(std::max<uint64_t>(behind_last, 1) - 1, last_.oldest()) : behind_last;
    }
    void push(uint64_t drain) { last_.push(drain + 1); }

private:
    bool several_;
    History last_;  ///< of so many stores, a cycle after each
};

/// When the thing last seen in each slot (line or page, direct mapped) arrives.
class InFlight {
public:
    static constexpr size_t slots = 64;
    /// Arrival of `what` if it is this slot's thing, else 0.
    uint64_t arrival(uint64_t what) const { return keys_[what % slots] == what ? times_[what % slots] : 0; }
    void set(uint64_t what, uint64_t time) {
        keys_[what % slots] = what;
        times_[what % slots] = time;
    }

private:
    std::vector<uint64_t> keys_ = std::vector<uint64_t>(slots, ~uint64_t{0}), times_ = std::vector<uint64_t>(slots, 0);
};

/// Something that takes one job every `distance` cycles. A job books the earliest time at which its instruction could have asked,
/// its dispatch, so that one whose address comes late does not hold up those behind it.
class Rate {
public:
    /// When a job that is ready at `ready` begins.
    uint64_t demand(uint64_t ready, uint64_t dispatch, uint64_t distance) {
        const uint64_t begin = std::max(ready, next_);
        next_ = std::max(next_, dispatch) + distance;
        return begin;
    }
    /// The same for a prefetch, which queues behind prefetch_queue_lines jobs at most.
    uint64_t prefetch(uint64_t ready, uint64_t dispatch, uint64_t distance) {
        const uint64_t limit = dispatch + prefetch_queue_lines * distance;
        const uint64_t begin = std::max(ready, std::min(next_, limit));
        book(dispatch, distance, limit);
        return begin;
    }
    /// The same for a write-back, which nobody waits for.
    void write_back(uint64_t dispatch, uint64_t distance) { book(dispatch, distance, dispatch + write_queue_lines * distance); }

private:
    void book(uint64_t dispatch, uint64_t distance, uint64_t limit) {
        next_ = std::max(next_, std::min(std::max(next_, dispatch) + distance, limit));
    }

    uint64_t next_ = 0;
};

/// Memory of one node behind L3: a transfer rate a channel; banks with a rate and an open row each. Rows open in program order.
class ReferenceMemory {
public:
    ReferenceMemory(const Platform& p, MemoryNode node)
        : platform_(&p), node_(node), channels_(std::max<uint64_t>(p.dram.channels, 1)), banks_(p.dram.channels * p.dram.banks) {}

    /// When the line is there. `dispatch`: of the instruction that asks, or caused the prefetch.
    uint64_t load(uint64_t line, uint64_t ready, uint64_t dispatch, DramAsker asker) {
        const Answer answer = ask(line, ready, dispatch, asker);
        return answer.begin + answer.load_cycles;
    }
    /// A line that an instruction dispatched at `dispatch` has written takes its transfer, and its bank; the open row stays.
    void write_back(uint64_t line, uint64_t dispatch) {
        const Dram& d = platform_->dram;
        const DramPlace place = d.channels == 0 ? DramPlace{} : dram_place(d, line);
        channels_[place.channel].write_back(dispatch, node_.cycles_per_line * channels_.size());
        if (d.channels != 0) banks_[place.bank].rate.write_back(dispatch, d.bank_busy_cycles);
    }
    /// How long a walk takes that begins at `ready` and has `cycles`, of which the node's load time for each of these lines. Each asks
    /// memory when the one before has begun: the walk waits once for a queue that holds up all of them.
    uint64_t walk(const std::vector<LineNumber>& lines, uint64_t cycles, uint64_t ready, uint64_t dispatch) {
        uint64_t asked = ready, counted = 0;
        for (const LineNumber line : lines) {
            const Answer answer = ask(line.value, asked, dispatch, DramAsker::walk);
            asked = answer.begin;
            cycles += answer.load_cycles;
            counted += node_.load_cycles;
        }
        cycles += asked - ready;
        return std::max(cycles, counted) - counted;
    }
    /// What all loads found so far; of a memory without rows, nothing.
    const DramCounts& counts() const { return counts_; }

private:
    struct Answer {
        uint64_t begin, load_cycles;
    };
    Answer ask(uint64_t line, uint64_t ready, uint64_t dispatch, DramAsker asker) {
        const Dram& d = platform_->dram;
        const auto book = [&](Rate& rate, uint64_t distance) {
            return asker == DramAsker::prefetch ? rate.prefetch(ready, dispatch, distance) : rate.demand(ready, dispatch, distance);
        };
        const uint64_t transfer_cycles = node_.cycles_per_line * channels_.size();
        if (d.channels == 0) return {book(channels_[0], transfer_cycles), node_.load_cycles};
        const DramPlace place = dram_place(d, line);
        Bank& bank = banks_[place.bank];
        const uint64_t begin = std::max(book(channels_[place.channel], transfer_cycles), book(bank.rate, d.bank_busy_cycles));
        uint64_t load_cycles = node_.load_cycles;
        DramRows& found = counts_.of[size_t(asker)];
        ++(!bank.has_row ? found.closed : bank.row == place.row ? found.hits : found.conflicts);
        if (bank.has_row && bank.row == place.row) load_cycles -= d.row_hit_saves_cycles;
        if (bank.has_row && bank.row != place.row) load_cycles += d.row_conflict_adds_cycles;
        bank.has_row = true;
        bank.row = place.row;
        return {begin, load_cycles};
    }

    struct Bank {
        Rate rate;
        bool has_row = false;
        uint64_t row = 0;
    };
    const Platform* platform_;
    MemoryNode node_;
    std::vector<Rate> channels_;
    std::vector<Bank> banks_;
    DramCounts counts_;
};

}  // namespace tessera::sim
