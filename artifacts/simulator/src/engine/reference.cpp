// reference.cpp - the oracle: one layout at a time, std::list LRU, no filters, no SIMD.
//
// Every access goes through the TLBs; in the plan's warm and timed parts a miss walks the page table through
// walk-caches and data caches, and the access itself follows. It exists to be read and believed: the property tests hold the
// fast engines to it. Expect a million accesses x layouts a second.
#include <unordered_map>

#include "cache/hierarchy.h"
#include "engine/engine.h"
#include "engine/reference_core.h"
#include "mmu/mmu.h"

namespace tessera::sim {
namespace {

class Replay {
public:
    Replay(const Request& request, const Layout& layout)
        : platform_(request.platform), space_(request.stream.header().pools, layout), tlbs_(platform_),
          walk_caches_(platform_), caches_(platform_), core_(platform_) {
        counts.units.resize(request.plan.units());
    }

    void segment(const trace::Frame& frame, const std::vector<trace::StaticBlock>& blocks, const Segment& s) {
        UnitCounts* unit = s.part == Part::timed ? &counts.units[s.unit] : nullptr;
        if (unit != nullptr && s.unit != core_unit_) {
            core_ = ReferenceCore(platform_);
            core_unit_ = s.unit;
        }
        size_t at = s.begin_access;
        for (size_t e = s.begin_execution; e < s.end_execution; ++e) {
            const trace::StaticBlock& block = blocks[frame.block_ids[e]];
            execution_.clear();
            for (size_t i = 0; i < frame.access_counts[e]; ++i, ++at)
                execution_.push_back(access(VirtAddr(frame.addresses[at]), frame.is_store[at] != 0, s.part, unit));
            if (unit == nullptr) continue;
            unit->instructions += block.insns.size();
            core_.execute(block, execution_);
        }
        if (unit != nullptr) unit->runtime_cycles = core_.elapsed().value;
    }

    LayoutCounts counts;

private:
    AccessOutcome access(VirtAddr address, bool is_store, Part part, UnitCounts* unit) {
        const TablePath& path = table_.touch(address);
        const PageSize size = space_.page_size(address);
        AccessOutcome outcome;
        outcome.address = address;
        outcome.is_store = is_store;
        outcome.translation = tlbs_.translate(page_of(address, size));
        counts.stlb_hits += outcome.translation == Translation::stlb_hit;
        counts.stlb_misses += outcome.translation == Translation::miss;
        if (part == Part::tlb_only) return outcome;
        if (outcome.translation == Translation::miss)
            outcome.walk = walk(walk_caches_, path, address, size, [&](LineNumber line) {
                const MemoryLevel level = caches_.reference(line);
                if (unit != nullptr) ++counts.walker[static_cast<size_t>(level)];
                return load_cycles(platform_, level);
            });
        outcome.level = caches_.reference(line_of(PhysAddr(address.value)));
        if (unit != nullptr) {
            ++unit->accesses;
            ++counts.program[static_cast<size_t>(outcome.level)];
            unit->stlb_misses += outcome.translation == Translation::miss;
            unit->walk_cycles += outcome.walk.value;
        }
        return outcome;
    }

    const Platform& platform_;
    AddressSpace space_;
    Tlbs tlbs_;
    PageTable table_;
    WalkCaches walk_caches_;
    Hierarchy caches_;
    ReferenceCore core_;
    size_t core_unit_ = SIZE_MAX;
    std::vector<AccessOutcome> execution_;
};

class Reference final : public Engine {
public:
    bool has_runtime() const override { return true; }
    size_t most_layouts() const override { return SIZE_MAX; }
    std::vector<LayoutCounts> run(const Request& request) override {
        std::vector<Replay> replays;
        for (const Layout* layout : request.layouts) replays.emplace_back(request, *layout);
        PlanCursor cursor(request.plan, request.stream.blocks());
        trace::Frame frame;
        request.stream.rewind();
        while (request.stream.next(frame)) {
            const auto& segments = cursor.cut(frame);
            for (Replay& replay : replays)
                for (const Segment& segment : segments) replay.segment(frame, request.stream.blocks(), segment);
            request.progress(frame.addresses.size());
        }
        std::vector<LayoutCounts> results;
        for (Replay& replay : replays) results.push_back(std::move(replay.counts));
        return results;
    }
};

const Registration registration({"reference", "H, M, C and R; slow and obvious, the oracle that the others are checked against",
                                 [] { return std::make_unique<Reference>(); }});

}  // namespace
}  // namespace tessera::sim
