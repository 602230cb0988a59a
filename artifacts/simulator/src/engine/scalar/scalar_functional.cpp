// scalar_functional.cpp - the functional stage for any design: registered components, a layout at a time, flat caches.
//
// It is slower than engine/lanes, which supports only conventional designs, but much faster than the oracle: it computes
// events that do not depend on the layout once per chunk (chunk_events.h). The property tests compare it with the oracle
// and with the lanes.
#include <stdexcept>

#include "engine/functional.h"
#include "engine/scalar/layout_stage.h"
#include "mmu/components.h"

namespace tessera::sim {
namespace scalar {
namespace {

/// Whether physical = virtual for certain; another design may reference any line.
bool identity_lines(const Platform& p) { return p.allocator == "identity" && p.mmu_design == "conventional"; }

class ScalarFunctional final : public Functional {
public:
    explicit ScalarFunctional(const FunctionalContext& context)
        : with_lines_(!identity_lines(context.platform)), one_lane_(scalar_needs_one_lane(context.platform)),
          events_(context.platform, context.blocks) {
        for (const Layout* layout : context.layouts)
            stages_.push_back(std::make_unique<LayoutStage>(context, *layout, unsigned(stages_.size())));
    }

    void tlb_only(const Chunk& chunk) override {
        events_.read(chunk, false);
        for (auto& stage : stages_) stage->tlb_only(chunk, events_);
    }
    void warm(const Chunk& chunk) override {
        events_.read(chunk, true);
        for (auto& stage : stages_) stage->warm(chunk, events_);
    }
    void counted(const Chunk& chunk, Outcomes* out) override {
        events_.read(chunk, true);
        if (out == nullptr) {
            for (auto& stage : stages_) stage->counted(chunk, events_, nullptr);
            return;
        }
        if (one_lane_ && stages_.size() != 1) throw std::logic_error("outcomes of layouts with different physical lines asked for in one pass");
        const uint64_t all_lanes = ~uint64_t{0} >> (max_lanes - stages_.size());
        table_.begin(out, chunk, events_, all_lanes);
        for (auto& stage : stages_) stage->counted(chunk, events_, &table_);
        table_.end(with_lines_ && stages_.size() == 1);
    }
    std::vector<FunctionalCounts> counts() override {
        std::vector<FunctionalCounts> all;
        for (const auto& stage : stages_) all.push_back(stage->counts());
        return all;
    }

private:
    bool with_lines_, one_lane_;
    ChunkEvents events_;
    OutcomeTable table_;
    std::vector<std::unique_ptr<LayoutStage>> stages_;
};

}  // namespace
}  // namespace scalar

bool scalar_needs_one_lane(const Platform& platform) { return (platform.dram.channels > 0 || platform.write_backs != 0) && !scalar::identity_lines(platform); }

std::unique_ptr<Functional> make_scalar_functional(const FunctionalContext& context) {
    check_components(context.platform);
    return std::make_unique<scalar::ScalarFunctional>(context);
}

}  // namespace tessera::sim
