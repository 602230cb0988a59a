// reference.cpp - the oracle: one layout at a time, one access at a time, std::list caches, no filters, no SIMD.
//
// It is written for readability: the property tests compare the fast engines with it. In program order, it translates the
// code pages that miss the L1 ITLB before each execution; then it translates, walks and serves each access; then the
// prefetchers run. Branches are predicted from block to block. Between samples only TLBs and ITLB change. Expect some hundred
// thousand accesses x layouts per second.
//
// Caches, core and the epochs of a mapping are its own. What it shares with the other engines has another witness (tests/, benchmark/):
//   Design conventional, Walker, TLBs, radix   engine/lanes and the floors of benchmark/ are other implementations; closed_forms*_test.cpp
//   other designs                              loads and outcomes by hand: designs/*_test.cpp, extension_test.cpp
//   formats with contents                      a page table kept page by page, addresses by counting: table_of_pages_test.cpp
//   CheckedPort                                each sum and each breach by hand: design_contract_test.cpp, closed_forms_walk_test.cpp
//   AddressSpace, MappedPages, LivePages       page by page: mapped_pages_test.cpp, os_log_test.cpp
//   StoreWords                                 a search of all accesses: clock_forward_test.cpp
//   Redirects, BranchUnit, predictors          by hand: branch_test.cpp, tage_test.cpp
//   dram_place                                 by hand: clock_memory_test.cpp; benchmark/floor_memory.h computes places itself
//   PrefetchSlots, InstructionSide             by hand: prefetcher_test.cpp, instruction_side_test.cpp
//   string_hold, UnwrittenLines                by hand: clock_ports_test.cpp; one table for each lane: unwritten_lines_test.cpp
//   sample plans                               closed forms: sampling_test.cpp
#include "base/woven.h"
#include "branch/redirects.h"
#include "cache/cache_level.h"
#include "cache/prefetch_slots.h"
#include "engine/cache_port.h"
#include "engine/crossings.h"
#include "engine/engine.h"
#include "engine/functional.h"
#include "engine/instruction_pc.h"
#include "engine/reference_core.h"
#include "mmu/components.h"
#include "mmu/instruction_side.h"
#include "os/address_limit.h"

namespace tessera::sim {
namespace {

class Replay {
public:
    Replay(const CellsRequest& request, const Cell& cell)
        : platform_(*cell.platform),
          space_(request.stream.header().pools, *cell.layout),
          design_(designs().make(platform_.mmu_design, DesignContext{platform_, space_})),
          instructions_(platform_),
          prefetchers_(platform_),
          port_(platform_, design_->eviction_watcher()),
          redirects_(platform_, request.stream.blocks()),
          core_(platform_),
          program_blocks_(program_blocks(request.stream.blocks())),
          instruction_counts_(woven_instruction_counts(request.stream.blocks())),
          counts_rows_(request.counts_rows) {
        if (program_blocks_ < request.stream.blocks().size()) space_.add_kernel(direct_map(platform_));
        counts.units.resize(request.plan.units());
        if (space_.mapping() != nullptr) next_change_ = space_.mapping()->next_change();
        if (design_->needs_caches() && request.plan.skips_accesses()) throw skipped_accesses(platform_.mmu_design);
    }

    void segment(const trace::Frame& frame, const std::vector<trace::StaticBlock>& blocks, const Segment& s) {
        UnitCounts* unit = s.part == Part::timed ? &counts.units[s.unit] : nullptr;
        if (unit != nullptr && s.unit != core_unit_) {
            core_ = ReferenceCore(platform_);
            core_unit_ = s.unit;
            redirects_.forget();
        }
        if (s.part == Part::tlb_only) redirects_.forget();
        size_t at = s.begin_access;
        for (size_t e = s.begin_execution; e < s.end_execution; ++e) {
            const trace::StaticBlock& block = blocks[frame.block_ids[e]];
            const bool woven = frame.block_ids[e] >= program_blocks_;
            source_ = woven ? Source::kernel : Source::program;
            const bool redirected = s.part != Part::tlb_only && redirects_.enter(frame.block_ids[e]);
            fetches_.clear();
            if (!woven)
                instructions_.execute(block.pc, InstructionSide::bytes_of_block(block),
                                      [&](VirtAddr page) { fetches_.push_back(fetch(page, s.part)); });
            accesses_.clear();
            for (size_t i = 0; i < frame.access_counts[e]; ++i, ++at) {
                const DemandAccess access{pc_of_access(block, i), VirtAddr(frame.addresses[at]), frame.is_store[at] != 0};
                accesses_.push_back(demand(access, s.part, unit));
                if (crosses_page(block, i, access.address.value)) second_page(access, s.part, unit, accesses_.back());
            }
            if (woven) counts.kernel.instructions += instruction_counts_[frame.block_ids[e]];
            const bool fault_ends = woven && ends_fault(block);
            faults_ += fault_ends;
            if (unit == nullptr) continue;
            if (!woven) unit->instructions += instructions_of(block);
            const Cycles before = core_.elapsed();
            const DramCounts rows_before = core_.rows();
            core_.execute(block, fetches_, accesses_, redirected);
            if (counts_rows_) (counts.of(source_).rows += core_.rows()) -= rows_before;
            if (woven) count_kernel_cycles(core_.elapsed().value - before.value, fault_ends);
        }
        if (unit != nullptr) unit->runtime_cycles = core_.elapsed().value;
    }

    /// Forgets the hits and misses of warm passes; contents stay.
    void begin_counts() {
        before_ = counts;
        before_.design.structures = design_->structures();
    }
    LayoutCounts finish() {
        counts.design.structures = design_->structures();
        counts -= before_;
        return std::move(counts);
    }

    LayoutCounts counts;

private:
    void begin(const Access& access) {
        port_.begin(access);
        port_.walker_served = port_.background_served = {};
    }

    FetchRequest fetch(VirtAddr page, Part part) {
        check_address(page.value);
        design_->touch(page);
        begin({page, false, page.value});
        const Translation found = part == Part::tlb_only ? design_->fetch_tlb_only(page) : design_->fetch(page, port_);
        port_.end_fetch(found, page);
        counts.count_instruction(found);
        if (part == Part::timed) counts.instruction_walk_cycles += port_.walk().value;
        return {found, port_.walk(), port_.walk_l1d_missed(), port_.walk_memory_lines()};
    }

    AccessOutcome demand(const DemandAccess& access, Part part, UnitCounts* unit) {
        check_address(access.address.value);
        pass_epochs();
        design_->touch(access.address);
        AccessOutcome outcome;
        outcome.address = access.address;
        outcome.is_store = access.is_store;
        const Access asked{access.address, access.is_store, access.pc};
        begin(asked);
        const Translated translated = translate(asked, part);
        outcome.translation = translated.found;
        counts.of(source_).count(outcome.translation);
        if (source_ == Source::kernel) ++(access.is_store ? counts.kernel.stores : counts.kernel.loads);
        if (part == Part::tlb_only) return outcome;
        port_.end_access(translated, asked);
        outcome.lookup_cycles = port_.lookup_cycles();
        outcome.behind_l3 = port_.behind_l3();
        outcome.background = port_.background();
        outcome.walk = port_.walk();
        outcome.walk_missed_l1d = port_.walk_l1d_missed();
        outcome.walk_lines = port_.walk_memory_lines();
        outcome.level = port_.level();
        outcome.physical = port_.physical();
        if (unit != nullptr) count(outcome, *unit);
        prefetch(access, outcome);
        return outcome;
    }

    /// The next 4KB page of an access that crosses its own. Data caches and prefetchers do not see it.
    void second_page(const DemandAccess& access, Part part, UnitCounts* unit, AccessOutcome& outcome) {
        const Access asked{next_4kb_page(access.address), access.is_store, access.pc};
        check_address(asked.address.value);
        design_->touch(asked.address);
        SecondOutcome& second = outcome.second.emplace();
        second.address = asked.address;
        second.behind_l3 = outcome.behind_l3;
        if (one_page(access.address, asked.address)) return;
        if (part == Part::tlb_only) return counts.of(source_).count(translate(asked, part).found);
        port_.begin_second(asked);
        port_.walker_served = port_.background_served = {};
        const Translated translated = translate(asked, part);
        second.translation = translated.found;
        counts.of(source_).count(second.translation);
        port_.end_second(translated, asked);
        second.behind_l3 = port_.behind_l3();
        second.lookup_cycles = port_.lookup_cycles();
        second.background = port_.background();
        second.walk = port_.walk();
        second.walk_missed_l1d = port_.walk_l1d_missed();
        second.walk_lines = port_.walk_memory_lines();
        if (unit != nullptr) count_translation(second, *unit);
    }

    void count(const AccessOutcome& outcome, UnitCounts& unit) {
        ++counts.of(source_).program[static_cast<size_t>(outcome.level)];
        if (source_ == Source::program) ++unit.accesses;
        count_translation(outcome, unit);
    }

    /// Of an access or of its second page.
    template <class Outcome>
    void count_translation(const Outcome& outcome, UnitCounts& unit) {
        const uint64_t missed = outcome.translation == Translation::miss;
        Counts& of = counts.of(source_);
        of.timed_misses += missed;
        of.walk_cycles += outcome.walk.value;
        of.design.background_cycles += outcome.background.value;
        for (size_t level = 0; level < 4; ++level) {
            of.walker[level] += port_.walker_served[level];
            of.design.background[level] += port_.background_served[level];
        }
        if (source_ == Source::kernel) return;
        unit.stlb_misses += missed;
        unit.walk_cycles += outcome.walk.value;
    }

    void count_kernel_cycles(uint64_t cycles, bool fault_ends) {
        counts.kernel.cycles += cycles;
        in_fault_ += cycles;
        if (!fault_ends) return;
        counts.kernel.faults.push_back({faults_ - 1, in_fault_});
        in_fault_ = 0;
    }

    Translated translate(const Access& access, Part part) {
        try {
            if (part != Part::tlb_only) return design_->access(access, port_);
            if (design_->needs_caches()) throw skipped_accesses(platform_.mmu_design);
            return design_->access_tlb_only(access);
        } catch (const Unmapped& missing) {
            throw missing_page(missing, seen_ - 1);
        }
    }

    bool one_page(VirtAddr first, VirtAddr second) {
        try {
            return in_one_page(space_, design_->only_4kb_pages(), first, second);
        } catch (const Unmapped& missing) {
            throw missing_page(missing, seen_ - 1);
        }
    }

    /// Before each access: an epoch of the mapping may begin.
    void pass_epochs() {
        if (source_ == Source::kernel || seen_++ != next_change_) return;
        for (const VirtRange range : space_.mapping()->change()) design_->changed(range);
        for (const AreaChange& area : space_.mapping()->area_changes()) design_->area_changed(area);
        next_change_ = space_.mapping()->next_change();
    }

    void prefetch(const DemandAccess& access, AccessOutcome& outcome) {
        prefetchers_.observe(access, [&](VirtAddr target, bool into_l1d) {
            const PhysAddr physical(outcome.physical.value + (target.value - access.address.value));  // in the same 4KB page
            outcome.prefetches.push_back({target, physical, into_l1d, port_.prefetch(line_of(physical), into_l1d)});
        });
    }

    const Platform& platform_;
    AddressSpace space_;
    std::unique_ptr<Design> design_;
    InstructionSide instructions_;
    PrefetchSlots prefetchers_;
    CachePort<CacheLevel> port_;
    Redirects redirects_;
    ReferenceCore core_;
    size_t program_blocks_;
    std::vector<uint32_t> instruction_counts_;  ///< of each block
    bool counts_rows_;
    Source source_ = Source::program;  ///< of the execution at hand
    uint64_t faults_ = 0, in_fault_ = 0;  ///< faults that ended so far; cycles of the one at hand
    size_t core_unit_ = SIZE_MAX;
    uint64_t seen_ = 0, next_change_ = ~uint64_t{0};  ///< accesses so far; where the next epoch begins
    Counts before_;  ///< of the program, in the warm passes
    std::vector<FetchRequest> fetches_;      ///< of the execution at hand
    std::vector<AccessOutcome> accesses_;
};

class Reference final : public Engine {
public:
    bool has_runtime() const override { return true; }
    size_t most_layouts() const override { return 1; }  // so that an interrupted run keeps the layouts that are done
    std::vector<CellCounts> run_cells(const CellsRequest& request) override {
        check_slot_sizes(request.stream.blocks());
        std::vector<CellCounts> found(request.cells.size());
        for (size_t i = 0; i < found.size(); ++i) try {
                found[i].counts = counts_of(request, request.cells[i]);
            } catch (const Refusal& refusal) {
                found[i].refusal = refusal;
            }
        return found;
    }

private:
    static LayoutCounts counts_of(const CellsRequest& request, const Cell& cell) {
        check_components(*cell.platform);
        check_epochs(*cell.layout, request.warm_passes);
        Replay replay(request, cell);
        const auto pass = [&](auto cursor) {
            trace::Frame frame;
            request.stream.rewind();
            while (request.stream.next(frame)) {
                for (const Segment& segment : cursor.cut(frame)) replay.segment(frame, request.stream.blocks(), segment);
                request.progress(program_accesses(frame, program_blocks(request.stream.blocks())));
            }
        };
        for (uint64_t i = 0; i < request.warm_passes; ++i) pass(WarmCursor(request.plan));
        replay.begin_counts();
        pass(PlanCursor(request.plan, request.stream.blocks()));
        return replay.finish();
    }
};

const Registration registration({"reference", "H, M, C and R; slow and simple; the oracle for tests of the other engines",
                                 [] { return std::make_unique<Reference>(); }});

}  // namespace
}  // namespace tessera::sim
