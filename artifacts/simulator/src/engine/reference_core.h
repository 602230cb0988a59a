// reference_core.h - the out-of-order window model, in simple scalar code. docs/clock.md describes the model.
//
// Instructions enter in program order: at most dispatch_width a cycle, at most rob_entries between the oldest
// not retired and the youngest, a load only with a load-queue entry, a store only with a store-buffer entry. An instruction
// issues when its source registers are ready; address registers alone gate memory accesses, so independent
// misses overlap and dependent ones do not. Translation: an STLB look-up adds its time, a walk needs one of the
// walkers for its whole latency. An L1D miss needs one of the MSHRs until its line is there; later accesses to a line or
// page in flight wait for it. Retirement is in order; stores drain in order behind it. Behind a mispredicted branch nothing
// enters until it is resolved; ports begin so many loads, stores and computations in a cycle; string instructions hold
// dispatch. A load takes the bytes of a store that waits in the store buffer from there. Not modelled: wrong paths, instruction
// bytes, memory disambiguation. A design may give its own look-up times, translate behind an L3 miss, and keep a walker busy in the
// background (mmu/design.h).
#pragma once

#include <optional>
#include <vector>

#include "base/types.h"
#include "cache/memory_level.h"
#include "engine/reference_resources.h"
#include "engine/store_words.h"
#include "engine/string_hold.h"
#include "engine/unwritten_lines.h"
#include "tlb/translation.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

/// A line that a prefetcher asked for after an access; also one that was there already (it takes its in-flight slot).
struct PrefetchRequest {
    VirtAddr address;
    PhysAddr physical;
    bool into_l1d = false;                   ///< else into L2
    MemoryLevel level = MemoryLevel::l1d;    ///< who has it, asked from the level it goes into on
};

/// The second translation of an access that crosses a page (engine/crossings.h): an l1_hit where one larger page holds both.
struct SecondOutcome {
    VirtAddr address;                        ///< of its page
    Translation translation = Translation::l1_hit;
    Cycles walk;
    bool walk_missed_l1d = false;
    std::vector<LineNumber> walk_lines = {};
    std::optional<uint32_t> lookup_cycles;
    Cycles background;
    bool behind_l3 = false;                  ///< nothing waits for it: data caches do not see its page
};

struct AccessOutcome {
    VirtAddr address;
    bool is_store = false;
    Translation translation = Translation::l1_hit;
    Cycles walk;
    MemoryLevel level = MemoryLevel::l1d;
    bool walk_missed_l1d = false;            ///< a load of the walk was not served by L1D
    std::vector<LineNumber> walk_lines = {}; ///< that the walk loads from memory, in order; none unless dram.queues_walks
    PhysAddr physical;                       ///< of the data; read by DRAM mapping only
    std::vector<PrefetchRequest> prefetches; ///< in the order asked for
    std::optional<uint32_t> lookup_cycles;   ///< of its look-ups; none: tlb.stlb.hit_cycles unless it hit L1
    bool behind_l3 = false;                  ///< look-up and walk begin when L3 has missed
    Cycles background;                       ///< a walker is busy for so long behind the access's own walk
    std::optional<SecondOutcome> second;     ///< is waited for, too
};

/// A code page of a block that missed the L1 ITLB.
struct FetchRequest {
    Translation translation = Translation::stlb_hit;  ///< stlb_hit or miss
    Cycles walk;
    bool walk_missed_l1d = false;
    std::vector<LineNumber> walk_lines = {};
};

class ReferenceCore {
public:
    explicit ReferenceCore(const Platform& p);
    /// Runs one block execution; access i belongs to slot i, or to the last slot beyond it. `redirected`: the branch at the end of the
    /// execution before was mispredicted.
    void execute(const trace::StaticBlock& block, const std::vector<FetchRequest>& fetches, const std::vector<AccessOutcome>& accesses,
                 bool redirected = false);
    void execute(const trace::StaticBlock& block, const std::vector<AccessOutcome>& accesses) { execute(block, {}, accesses); }
    /// Retirement of the youngest instruction.
    Cycles elapsed() const { return Cycles(retired_); }
    /// What loads found in the rows of memory so far.
    DramCounts rows() const {
        DramCounts all = memory_.counts();
        if (tables_) all += tables_->counts();
        return all;
    }

private:
    uint64_t walked(uint64_t ready, Cycles walk, bool missed_l1d, const std::vector<LineNumber>& lines, uint64_t dispatch);
    template <class Outcome>
    uint64_t translated(const Outcome& access, uint64_t ready, uint64_t dispatch);
    uint64_t before_l1d(const AccessOutcome& access, uint64_t ready, uint64_t dispatch);
    uint64_t arrived(const AccessOutcome& access, uint64_t ready, uint64_t dispatch);
    void write_back(const AccessOutcome& access, uint64_t dispatch);
    void prefetch(const PrefetchRequest& request, uint64_t issue, uint64_t dispatch);
    uint64_t registers_ready(uint64_t set) const;
    uint64_t latency(trace::InsnKind kind) const;
    uint64_t forwarded(const StoreMatch& match, uint64_t physical, uint64_t cached) const;
    void write_registers(const trace::StaticInsn& insn, uint64_t result, uint64_t early);

    const Platform* platform_;
    uint64_t retired_ = 0, dispatched_ = 0, drained_ = 0;
    uint64_t redirect_ = 0;  ///< when the instruction behind the last branch can enter, if that branch was mispredicted
    std::vector<uint64_t> registers_ = std::vector<uint64_t>(64, 0);
    History dispatches_, window_, loads_, stores_;
    History store_data_;     ///< when the data of each store is ready
    StoreWords store_words_;
    StringHold string_hold_;
    PortRing load_ports_, store_ports_, alu_ports_;
    StoreDrains store_drains_;
    Servers mshrs_;
    Walkers walkers_;
    InFlight pages_, lines_, lines_to_l2_;  ///< lines_: into L1D; lines_to_l2_: prefetches into L2
    ReferenceMemory memory_;                ///< of data, and of page tables unless they are on another node
    std::optional<ReferenceMemory> tables_; ///< of page tables on another node
    UnwrittenLines unwritten_;
};

}  // namespace tessera::sim
