// functional.cpp - the functional stage for any design: registered components, a layout at a time, flat caches.
//
// It is slower than engine/lanes, which supports only conventional designs, but much faster than the oracle: it computes
// events that do not depend on the layout once per chunk (event_log.h). The property tests compare it with the oracle
// and with the lanes.
#include <stdexcept>

#include "engine/functional.h"
#include "engine/any_design/event_log.h"
#include "engine/any_design/layout_stage.h"
#include "mmu/components.h"

namespace tessera::sim {
namespace any_design {
namespace {

/// Whether physical = virtual for certain; another design may reference any line.
bool conventional(const Platform& p) { return p.mmu_design == "conventional" || p.mmu_design == "noop"; }
bool identity_lines(const Platform& p) { return p.allocator == "identity" && conventional(p); }

class AnyDesignFunctional final : public Functional {
public:
    AnyDesignFunctional(const FunctionalContext& context, EventLog* shared)
        : platform_(context.platform),
          with_lines_(!identity_lines(context.platform)),
          one_lane_(needs_one_lane(context.platform)),
          own_log_(shared == nullptr ? std::make_unique<EventLog>(context.platform, context.blocks) : nullptr),
          log_(shared == nullptr ? *own_log_ : *shared),
          table_(context.platform) {
        for (const Layout* layout : context.layouts)
            stages_.push_back(std::make_unique<LayoutStage>(context, *layout, unsigned(stages_.size())));
    }

    bool needs_caches() const override { return stages_.front()->needs_caches(); }
    void tlb_only(const Chunk& chunk) override {
        if (chunk.accesses > 0 && needs_caches()) throw skipped_accesses(platform_.mmu_design);
        const ChunkEvents& events = events_of(chunk, false);
        for (auto& stage : stages_) stage->tlb_only(chunk, events);
    }
    void warm(const Chunk& chunk) override {
        const ChunkEvents& events = events_of(chunk, true);
        for (auto& stage : stages_) stage->warm(chunk, events);
    }
    void counted(const Chunk& chunk, Outcomes* out) override {
        const ChunkEvents& events = events_of(chunk, true);
        if (out == nullptr) {
            for (auto& stage : stages_) stage->counted(chunk, events, nullptr);
            return;
        }
        if (one_lane_ && stages_.size() != 1)
            throw std::logic_error("outcomes of layouts with different physical lines asked for in one pass");
        const uint64_t all_lanes = ~uint64_t{0} >> (max_lanes - stages_.size());
        table_.begin(out, chunk, events, all_lanes);
        for (auto& stage : stages_) stage->counted(chunk, events, &table_);
        table_.end(with_lines_ && stages_.size() == 1);
    }
    std::vector<Counts> counts() override {
        std::vector<Counts> all;
        for (const auto& stage : stages_) all.push_back(stage->counts());
        return all;
    }
    std::vector<Counts> kernel_counts() override {
        std::vector<Counts> all;
        for (const auto& stage : stages_) all.push_back(stage->kernel_counts());
        return all;
    }
    std::vector<UnitSoFar> so_far() override {
        std::vector<UnitSoFar> all;
        for (const auto& stage : stages_) all.push_back(stage->so_far());
        return all;
    }

private:
    const ChunkEvents& events_of(const Chunk& chunk, bool prefetch) {
        if (own_log_) log_.begin_frame();
        return log_.next(chunk, prefetch);
    }

    const Platform& platform_;
    bool with_lines_, one_lane_;
    std::unique_ptr<EventLog> own_log_;
    EventLog& log_;
    OutcomeTable table_;
    std::vector<std::unique_ptr<LayoutStage>> stages_;
};

}  // namespace
}  // namespace any_design

Refusal skipped_accesses(const std::string& design) {
    return Refusal("mmu.design = " + design + " with samples",
                   "H and M of this design depend on the data caches, and the plan has accesses that the caches do not see",
                   "use --sampling full, or an --interval-file whose units adjoin each other from the first access to the last");
}

bool needs_one_lane(const Platform& platform) {
    return (platform.dram.channels > 0 || platform.write_backs != 0) && !any_design::identity_lines(platform);
}

std::unique_ptr<Functional> make_any_design_functional(const FunctionalContext& context, any_design::EventLog* events) {
    check_components(context.platform);
    return std::make_unique<any_design::AnyDesignFunctional>(context, events);
}

}  // namespace tessera::sim
