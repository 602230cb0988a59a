#include "engine/replay.h"

#include "engine/functional.h"
#include "engine/lanes/isa.h"
#include "engine/scalar/event_log.h"
#include "engine/timing/clock.h"
#include "engine/timing/redirect_log.h"
#include "mmu/components.h"
#include "os/mapping.h"

namespace tessera::sim {
namespace {

/// What is the same in all layouts: computed by the first group that reads a frame.
struct Shared {
    explicit Shared(const Request& request)
        : events(request.platform, request.stream.blocks()), redirects(request.platform, request.stream.blocks()) {}
    void begin_frame() { events.begin_frame(), redirects.begin_frame(); }
    void rewind() { events.rewind(), redirects.rewind(); }
    scalar::EventLog events;
    timing::RedirectLog redirects;
};

bool any_mapping(const Request& request) {
    return std::any_of(request.layouts.begin(), request.layouts.end(), [](const Layout* layout) { return layout->mapping != nullptr; });
}

std::unique_ptr<Functional> make_functional(const FunctionalContext& context, Shared* shared) {
    return shared == nullptr ? make_lane_functional(context) : make_scalar_functional(context, &shared->events);
}

/// The stages of a group of layouts that share them: one group on the lanes, one for each layout on the scalar path.
class Group {
public:
    /// Groups run one after the other and share outcomes (null without a clock) and what is the same in all (null on the lanes).
    Group(const Request& request, const std::vector<const Layout*>& layouts, Outcomes* outcomes, Shared* shared)
        : plan_(request.plan), blocks_(request.stream.blocks()), instruction_counts_(trace::instruction_counts(blocks_)),
          functional_(make_functional({request.platform, request.stream.header().pools, blocks_, layouts}, shared)), outcomes_(outcomes),
          results_(layouts.size()) {
        const std::string isa = lanes::chosen_isa();
        if (outcomes != nullptr)
            clock_ = make_clock(request.platform, blocks_, unsigned(layouts.size()), layouts.size() == 1 ? "one" : isa,
                                shared == nullptr ? nullptr : &shared->redirects);
        for (LayoutCounts& r : results_) r.units.resize(plan_.units());
        if (functional_->needs_caches() && !plan_.full() && !plan_.chosen()) throw skipped_accesses(request.platform.mmu_design);
    }

    void segment(const trace::Frame& frame, const Segment& s) {
        if (s.part == Part::timed) enter(s.unit);
        else leave();
        size_t at = s.begin_access;
        for (size_t e = s.begin_execution; e < s.end_execution;) {
            Chunk chunk{0, frame.addresses.data() + at, frame.is_store.data() + at, 0, frame.block_ids.data() + e, frame.access_counts.data() + e};
            while (e < s.end_execution && chunk.executions < chunk_executions && chunk.accesses < chunk_accesses) {
                chunk.accesses += frame.access_counts[e++];
                ++chunk.executions;
            }
            at += chunk.accesses;
            run(chunk, s.part);
        }
    }

    /// Forgets the hits and misses of warm passes; contents stay.
    void begin_counts() { start_ = functional_->counts(); }

    std::vector<LayoutCounts> finish() {
        leave();
        const auto counts = functional_->counts();
        for (size_t i = 0; i < results_.size(); ++i) {
            LayoutCounts& r = results_[i];
            r.stlb_hits = counts[i].stlb_hits - start_[i].stlb_hits;
            r.stlb_misses = counts[i].stlb_misses - start_[i].stlb_misses;
            r.instruction_stlb_hits = counts[i].instruction_stlb_hits - start_[i].instruction_stlb_hits;
            r.instruction_stlb_misses = counts[i].instruction_stlb_misses - start_[i].instruction_stlb_misses;
            r.instruction_walk_cycles = counts[i].instruction_walk_cycles;
            r.program = counts[i].program;
            r.walker = counts[i].walker;
            r.design = counts[i].design;
            for (size_t s = 0; s < start_[i].design.structures.size(); ++s) r.design.structures[s] -= start_[i].design.structures[s];
        }
        return std::move(results_);
    }

private:
    void run(const Chunk& chunk, Part part) {
        if (clock_ && part == Part::tlb_only) clock_->skip();
        if (clock_ && part == Part::warm) clock_->warm(chunk);
        if (part == Part::tlb_only) return functional_->tlb_only(chunk);
        if (part == Part::warm) return functional_->warm(chunk);
        functional_->counted(chunk, outcomes_);
        if (clock_) clock_->run(chunk, *outcomes_);
        accesses_ += chunk.accesses;
        for (size_t e = 0; e < chunk.executions; ++e) instructions_ += instruction_counts_[chunk.block_ids[e]];
    }

    void enter(size_t unit) {
        if (in_unit_ && unit == unit_) return;
        leave();
        in_unit_ = true;
        unit_ = unit;
        accesses_ = instructions_ = 0;
        before_ = functional_->counts();
        if (clock_) clock_->begin_unit();
    }

    void leave() {
        if (!in_unit_) return;
        in_unit_ = false;
        uint64_t runtime[max_lanes] = {};
        if (clock_) clock_->elapsed(runtime);
        const auto after = functional_->counts();
        for (size_t i = 0; i < results_.size(); ++i)
            results_[i].units[unit_] = {instructions_, accesses_, after[i].counted_misses - before_[i].counted_misses,
                                        after[i].walk_cycles - before_[i].walk_cycles, runtime[i]};
    }

    const SamplePlan& plan_;
    const std::vector<trace::StaticBlock>& blocks_;
    const std::vector<uint32_t> instruction_counts_;  ///< of each block
    std::unique_ptr<Functional> functional_;
    std::unique_ptr<Clock> clock_;
    Outcomes* outcomes_;
    std::vector<FunctionalCounts> start_, before_;  ///< at the begin of the stream; of the unit
    std::vector<LayoutCounts> results_;
    size_t unit_ = 0;
    bool in_unit_ = false;
    uint64_t accesses_ = 0, instructions_ = 0;
};

/// All groups over the stream.
template <class Cursor>
void pass(const Request& request, Shared* shared, std::vector<Group>& groups, Cursor cursor) {
    trace::Frame frame;
    request.stream.rewind();
    while (request.stream.next(frame)) {
        const std::vector<Segment>& segments = cursor.cut(frame);
        if (shared != nullptr) shared->begin_frame();
        for (Group& group : groups) {
            if (shared != nullptr) shared->rewind();
            for (const Segment& segment : segments) group.segment(frame, segment);
        }
        request.progress(frame.addresses.size());
    }
}

}  // namespace

std::vector<LayoutCounts> replay(const Request& request, bool with_clock) {
    check_components(request.platform);
    const auto outcomes = with_clock ? std::make_unique<Outcomes>() : nullptr;
    check_epochs(request);
    const bool lanes = lanes_lack(request.platform).empty() && !any_mapping(request);
    const auto shared = lanes ? nullptr : std::make_unique<Shared>(request);
    std::vector<Group> groups;
    if (lanes) groups.emplace_back(request, request.layouts, outcomes.get(), nullptr);
    else
        for (const Layout* layout : request.layouts) groups.emplace_back(request, std::vector{layout}, outcomes.get(), shared.get());
    for (uint64_t i = 0; i < request.warm_passes; ++i) pass(request, shared.get(), groups, WarmCursor());
    for (Group& group : groups) group.begin_counts();
    pass(request, shared.get(), groups, PlanCursor(request.plan, request.stream.blocks()));
    std::vector<LayoutCounts> results;
    for (Group& group : groups)
        for (LayoutCounts& counts : group.finish()) results.push_back(std::move(counts));
    return results;
}

}  // namespace tessera::sim
