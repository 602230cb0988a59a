// lane_functional.cpp - the functional stage on a lane machine: numbers regions, asks ITLB and prefetchers (which are the same in
// all layouts), and turns lane counters into counts of layouts.
#include "cache/memory_level.h"
#include "cache/prefetch_slots.h"
#include "engine/crossings.h"
#include "engine/functional.h"
#include "engine/instruction_pc.h"
#include "engine/lanes/configure.h"
#include "engine/lanes/isa.h"
#include "engine/lanes/region_table.h"
#include "mmu/instruction_side.h"

namespace tessera::sim::lanes {
namespace {

class LaneFunctional final : public Functional {
public:
    explicit LaneFunctional(const FunctionalContext& c)
        : platform_(c.platform),
          blocks_(c.blocks),
          layouts_(c.layouts.size()),
          regions_(c.pools, c.layouts, c.platform.page_table_levels),
          instructions_(c.platform),
          prefetchers_(c.platform),
          machine_(make_machine(configure(c.platform, layouts_))) {
        for (const trace::StaticBlock& block : blocks_) {
            block_bytes_.push_back(InstructionSide::bytes_of_block(block));
            first_pc_.push_back(pcs_.size());
            for (size_t i = 0; i < std::max<size_t>(block.slots.size(), 1) && !block.insns.empty(); ++i)
                pcs_.push_back(pc_of_access(block, i));
        }
    }

    void tlb_only(const Chunk& chunk) override { machine_->tlb_only(look_up(chunk)); }
    void warm(const Chunk& chunk) override {
        Work work = look_up(chunk);
        ask_prefetchers(chunk, work);
        machine_->warm(work);
    }
    void counted(const Chunk& chunk, Outcomes* out) override {
        Work work = look_up(chunk);
        ask_prefetchers(chunk, work);
        machine_->counted(work, out);
    }

    std::vector<Counts> counts() override {
        const LaneCounts& c = machine_->counts();
        std::vector<Counts> all(layouts_);
        for (size_t lane = 0; lane < layouts_; ++lane) {
            Counts& r = all[lane];
            r.stlb_hits = c.stlb_hits[lane];
            r.stlb_misses = c.stlb_misses[lane];
            r.instruction_stlb_hits = c.instruction_stlb_hits[lane];
            r.instruction_stlb_misses = c.instruction_stlb_misses[lane];
            r.timed_misses = c.counted_misses[lane];
            r.program = by_serving_level(c.counted_accesses, c.program_missed, lane);
            r.walker = by_serving_level(c.walker_loads[lane], c.walker_missed, lane);
            r.walk_cycles = cycles(c.counted_misses[lane], r.walker);
            r.instruction_walk_cycles =
                cycles(c.counted_instruction_misses[lane], by_serving_level(c.fetcher_loads[lane], c.fetcher_missed, lane));
        }
        return all;
    }

private:
    using Served = std::array<uint64_t, 4>;

    static Served by_serving_level(uint64_t references, const uint64_t missed[3][max_lanes], size_t lane) {
        return {references - missed[0][lane], missed[0][lane] - missed[1][lane], missed[1][lane] - missed[2][lane], missed[2][lane]};
    }

    /// Each miss walks, and loads at least the leaf entry.
    uint64_t cycles(uint64_t walks, const Served& loads) const {
        uint64_t sum = walks * platform_.walker_begin_cycles;
        for (size_t level = 0; level < 4; ++level)
            sum += loads[level] * walker_load_cycles(platform_, static_cast<MemoryLevel>(level)).value;
        return sum;
    }

    /// Region ids of data and code, in program order, and the ITLB's misses.
    Work look_up(const Chunk& chunk) {
        if (ids_.size() < chunk.accesses) ids_.resize(chunk.accesses);
        fetches_.clear();
        seconds_.clear();
        if (instructions_.exists()) look_up_code(chunk);
        else look_up_data(chunk, 0, chunk.accesses);
        Work work{};
        work.addresses = chunk.addresses;
        work.regions = ids_.data();
        work.count = chunk.accesses;
        work.region_table = regions_.regions();
        work.region_count = regions_.count();
        work.page_tables = regions_.page_tables();
        fetched_.resize(fetches_.size());
        work.fetches = fetches_.data();
        work.fetch_count = fetches_.size();
        work.fetched = fetched_.data();
        crossed_.resize(seconds_.size());
        work.seconds = seconds_.data();
        work.second_count = seconds_.size();
        work.crossed = crossed_.data();
        return work;
    }

    /// The first one that was not looked up; chunk.accesses: there is none.
    size_t next_crossing(const Chunk& chunk) const {
        return seconds_.size() < chunk.crossings ? chunk.crossing[seconds_.size()] : chunk.accesses;
    }

    /// Accesses [begin, end), and the second pages of those that cross: tables are handed out in the order of first touches.
    void look_up_data(const Chunk& chunk, size_t begin, size_t end) {
        for (; seconds_.size() < chunk.crossings && chunk.crossing[seconds_.size()] < end; begin = seconds_.back().access + 1) {
            const uint32_t access = chunk.crossing[seconds_.size()];
            SecondPage second{next_4kb_page(VirtAddr(chunk.addresses[access])).value, 0, access};
            regions_.map(chunk.addresses + begin, access + 1 - begin, ids_.data() + begin);
            regions_.map(&second.address, 1, &second.region);
            seconds_.push_back(second);
        }
        regions_.map(chunk.addresses + begin, end - begin, ids_.data() + begin);
    }

    void look_up_code(const Chunk& chunk) {
        size_t at = 0, crossing = next_crossing(chunk);
        for (size_t e = 0; e < chunk.executions; ++e) {
            const uint32_t block = chunk.block_ids[e];
            instructions_.execute(blocks_[block].pc, block_bytes_[block], [&](VirtAddr page) {
                ItlbMiss fetch{page.value, 0, uint32_t(e), uint32_t(at)};
                regions_.map(&fetch.address, 1, &fetch.region);
                fetches_.push_back(fetch);
            });
            const size_t end = at + chunk.access_counts[e];
            if (crossing < end) [[unlikely]] {
                look_up_data(chunk, at, end);
                crossing = next_crossing(chunk);
            } else {
                regions_.map(chunk.addresses + at, end - at, ids_.data() + at);
            }
            at = end;
        }
    }

    void ask_prefetchers(const Chunk& chunk, Work& work) {
        wanted_.clear();
        if (!prefetchers_.exists()) return;
        size_t at = 0;
        for (size_t e = 0; e < chunk.executions; ++e) {
            const uint32_t block = chunk.block_ids[e];
            const size_t last_slot = std::max<size_t>(blocks_[block].slots.size(), 1) - 1;
            for (size_t i = 0; i < chunk.access_counts[e]; ++i, ++at) {
                const DemandAccess access{pcs_[first_pc_[block] + std::min(i, last_slot)], VirtAddr(chunk.addresses[at]),
                                          chunk.is_store[at] != 0};
                prefetchers_.observe(access, [&](VirtAddr target, bool into_l1d) {
                    wanted_.push_back({uint32_t(at), into_l1d, target.value >> line_shift, 0, 0, 0});
                });
            }
        }
        work.wanted = wanted_.data();
        work.wanted_count = wanted_.size();
    }

    const Platform& platform_;
    const std::vector<trace::StaticBlock>& blocks_;
    size_t layouts_;
    RegionTable regions_;
    InstructionSide instructions_;
    PrefetchSlots prefetchers_;
    std::unique_ptr<Machine> machine_;
    std::vector<uint64_t> block_bytes_, pcs_;
    std::vector<size_t> first_pc_;  ///< of each block in pcs_
    std::vector<uint32_t> ids_;
    std::vector<ItlbMiss> fetches_;
    std::vector<FetchOutcome> fetched_;
    std::vector<PrefetchOutcome> wanted_;
    std::vector<SecondPage> seconds_;
    std::vector<CrossingOutcome> crossed_;
};

}  // namespace
}  // namespace tessera::sim::lanes

namespace tessera::sim {

std::unique_ptr<Functional> make_lane_functional(const FunctionalContext& context) {
    return std::make_unique<lanes::LaneFunctional>(context);
}

}  // namespace tessera::sim
