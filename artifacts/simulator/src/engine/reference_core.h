// reference_core.h - the out-of-order window model, scalar and in the open. README.md ("Cost model") is its text.
//
// Instructions enter in program order: at most dispatch_width a cycle, at most rob_entries between the oldest
// not retired and the youngest, a load only with a load-queue entry, a store only with a store-buffer entry. An instruction
// issues when its source registers are ready; address registers alone gate memory accesses, so independent
// misses overlap and dependent ones do not. Translation: an STLB look-up adds its time, a walk needs one of the
// walkers for its whole latency. An L1D miss needs one of the MSHRs for its latency; later accesses to a line or
// page in flight wait for it. Retirement is in order; stores drain in order behind it. Not modelled: branch
// mispredictions, execution ports, instruction fetch, memory disambiguation, store-to-load forwarding.
#pragma once

#include <vector>

#include "cache/hierarchy.h"
#include "mmu/mmu.h"

namespace tessera::sim {

struct AccessOutcome {
    VirtAddr address;
    bool is_store = false;
    Translation translation = Translation::l1_hit;
    Cycles walk;
    MemoryLevel level = MemoryLevel::l1d;
};

/// Fixed number of identical servers; a job takes the one that is free first.
class Servers {
public:
    explicit Servers(size_t count) : free_(count, 0) {}
    uint64_t serve(uint64_t ready, uint64_t duration) {
        auto first = std::min_element(free_.begin(), free_.end());
        return *first = std::max(ready, *first) + duration;
    }

private:
    std::vector<uint64_t> free_;
};

/// The last n values of a sequence; before[n] reads 0.
class History {
public:
    explicit History(size_t n) : values_(n, 0) {}
    uint64_t oldest() const { return values_[at_]; }
    void push(uint64_t value) {
        values_[at_] = value;
        at_ = (at_ + 1) % values_.size();
    }

private:
    std::vector<uint64_t> values_;
    size_t at_ = 0;
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

class ReferenceCore {
public:
    explicit ReferenceCore(const Platform& p);
    /// Runs one block execution; access i belongs to slot i, or to the last slot beyond it.
    void execute(const trace::StaticBlock& block, const std::vector<AccessOutcome>& accesses);
    /// Retirement of the youngest instruction.
    Cycles elapsed() const { return Cycles(retired_); }

private:
    uint64_t translated(const AccessOutcome& access, uint64_t ready);
    uint64_t arrived(const AccessOutcome& access, uint64_t ready);
    uint64_t registers_ready(uint64_t set) const;
    uint64_t latency(trace::InsnKind kind) const;

    const Platform* platform_;
    uint64_t retired_ = 0, dispatched_ = 0, drained_ = 0, memory_free_ = 0;
    std::vector<uint64_t> registers_ = std::vector<uint64_t>(64, 0);
    History dispatches_, window_, loads_, stores_;
    Servers mshrs_, walkers_;
    InFlight lines_, pages_;
};

}  // namespace tessera::sim
