// outcome_player.h - an engine made of a functional stage and the reference core: what Outcomes say, read back lane by lane.
//
// It combines engine/any_design and the oracle's core, so that tests can check a stage without the clock for sixteen lanes.
#pragma once

#include "branch/redirects.h"
#include "engine/crossings.h"
#include "engine/functional.h"
#include "engine/reference_core.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

class OutcomePlayer {
public:
    OutcomePlayer(const Platform& p, Stream& stream, const std::vector<const Layout*>& layouts)
        : platform_(p),
          stream_(stream),
          layouts_(layouts),
          stage_(make_any_design_functional({p, stream.header().pools, stream.blocks(), layouts_})),
          crossings_(stream.blocks()),
          redirects_(p, stream.blocks()),
          out_(std::make_unique<Outcomes>()) {}

    std::vector<LayoutCounts> run(const SamplePlan& plan, bool with_core) {
        std::vector<LayoutCounts> results(layouts_.size());
        for (LayoutCounts& r : results) r.units.resize(plan.units());
        PlanCursor cursor(plan, stream_.blocks());
        trace::Frame frame;
        stream_.rewind();
        while (stream_.next(frame))
            for (const Segment& s : cursor.cut(frame)) segment(frame, s, with_core, results);
        const auto totals = stage_->counts();
        for (size_t l = 0; l < layouts_.size(); ++l) {
            const DramCounts rows = results[l].rows;  // of the cores
            results[l].of(Source::program) = totals[l];
            results[l].rows = rows;
        }
        return results;
    }

private:
    void segment(const trace::Frame& f, const Segment& s, bool with_core, std::vector<LayoutCounts>& results) {
        if (s.part == Part::timed && s.unit != unit_) {
            unit_ = s.unit;
            cores_.assign(layouts_.size(), ReferenceCore(platform_));
            redirects_.forget();
        }
        if (s.part == Part::tlb_only) redirects_.forget();
        for (size_t e = s.begin_execution, at = s.begin_access; e < s.end_execution;) {
            const size_t first = e, first_access = at;
            do at += f.access_counts[e++];
            while (e < s.end_execution && e - first < 100 && at - first_access < 150);
            Chunk chunk{at - first_access, f.addresses.data() + first_access, f.is_store.data() + first_access,
                        e - first,         f.block_ids.data() + first,        f.access_counts.data() + first};
            crossings_.find(chunk);
            redirected_.clear();
            for (size_t k = first; k < e && s.part != Part::tlb_only; ++k) redirected_.push_back(redirects_.enter(f.block_ids[k]));
            if (s.part == Part::tlb_only) stage_->tlb_only(chunk);
            else if (s.part == Part::warm) stage_->warm(chunk);
            else timed(chunk, with_core, results);
        }
    }

    void timed(const Chunk& chunk, bool with_core, std::vector<LayoutCounts>& results) {
        const auto before = stage_->counts();
        stage_->counted(chunk, with_core ? out_.get() : nullptr);
        const auto after = stage_->counts();
        for (size_t l = 0; l < layouts_.size(); ++l) {
            UnitCounts& unit = results[l].units[unit_];
            for (size_t e = 0; e < chunk.executions; ++e) unit.instructions += trace::instructions_of(stream_.blocks()[chunk.block_ids[e]]);
            unit.accesses += chunk.accesses;
            unit.stlb_misses += after[l].timed_misses - before[l].timed_misses;
            unit.walk_cycles += after[l].walk_cycles - before[l].walk_cycles;
            if (!with_core) continue;
            const DramCounts rows_before = cores_[l].rows();
            play(chunk, unsigned(l));
            (results[l].rows += cores_[l].rows()) -= rows_before;
            unit.runtime_cycles = cores_[l].elapsed().value;
        }
    }

    void play(const Chunk& chunk, unsigned lane) {
        const Outcomes& o = *out_;
        const auto bit = [&](uint64_t mask) { return (mask >> lane & 1) != 0; };
        const auto level = [&](uint64_t l1d, uint64_t l2, uint64_t l3) {
            return bit(l3) ? MemoryLevel::dram : bit(l2) ? MemoryLevel::l3 : bit(l1d) ? MemoryLevel::l2 : MemoryLevel::l1d;
        };
        size_t fetch = 0, prefetch = 0, crossing = 0, i = 0;
        for (size_t e = 0; e < chunk.executions; ++e) {
            std::vector<FetchRequest> fetches;
            for (; fetch < o.fetches && o.fetch[fetch].execution == e; ++fetch) {
                const FetchOutcome& f = o.fetch[fetch];
                const bool walks = bit(f.walks);
                fetches.push_back({walks ? Translation::miss : Translation::stlb_hit, Cycles(walks ? o.walk_cycles[f.cycles_row][lane] : 0),
                                   bit(f.walk_l1d_missed), walks ? walk_lines(f.cycles_row, lane) : std::vector<LineNumber>()});
            }
            std::vector<AccessOutcome> accesses;
            for (const size_t end = i + chunk.access_counts[e]; i < end; ++i) {
                AccessOutcome a;
                a.address = VirtAddr(chunk.addresses[i]);
                a.is_store = chunk.is_store[i] != 0;
                a.translation = bit(o.walks[i]) ? Translation::miss : bit(o.looked_up[i]) ? Translation::stlb_hit : Translation::l1_hit;
                a.walk = Cycles(bit(o.walks[i]) ? o.walk_cycles[o.cycles_row[i]][lane] : 0);
                a.walk_missed_l1d = bit(o.walk_l1d_missed[i]);
                if (bit(o.walks[i])) a.walk_lines = walk_lines(o.cycles_row[i], lane);
                a.level = level(o.l1d_missed[i], o.l2_missed[i], o.l3_missed[i]);
                const uint64_t line = a.address.value >> 6, physical = o.physical_line == nullptr ? line : o.physical_line[i];
                a.physical = PhysAddr(physical << 6);
                if (crossing < o.crossings && o.crossing[crossing].access == i) {
                    const CrossingOutcome& c = o.crossing[crossing++];
                    SecondOutcome& second = a.second.emplace();
                    second.address = next_4kb_page(a.address);
                    second.translation = bit(c.walks) ? Translation::miss : bit(c.looked_up) ? Translation::stlb_hit : Translation::l1_hit;
                    second.walk = Cycles(bit(c.walks) ? o.walk_cycles[c.cycles_row][lane] : 0);
                    second.walk_missed_l1d = bit(c.walk_l1d_missed);
                    if (bit(c.walks)) second.walk_lines = walk_lines(c.cycles_row, lane);
                }
                for (; prefetch < o.prefetches && o.prefetch[prefetch].access == i; ++prefetch) {
                    const PrefetchOutcome& p = o.prefetch[prefetch];
                    a.prefetches.push_back({VirtAddr(p.line << 6), PhysAddr((physical + (p.line - line)) << 6), p.into_l1d != 0,
                                            level(p.l1d_missed, p.l2_missed, p.l3_missed)});
                }
                accesses.push_back(a);
            }
            cores_[lane].execute(stream_.blocks()[chunk.block_ids[e]], fetches, accesses, redirected_[e]);
        }
    }

    std::vector<LineNumber> walk_lines(uint32_t row, unsigned lane) const {
        std::vector<LineNumber> lines;
        for (size_t i = 0; i < out_->walk_loads; ++i)
            if (const WalkLoad& load = out_->walk_load[i]; load.cycles_row == row && load.lanes >> lane & 1)
                lines.push_back(LineNumber(load.line));
        return lines;
    }

    const Platform& platform_;
    Stream& stream_;
    std::vector<const Layout*> layouts_;
    std::unique_ptr<Functional> stage_;
    Crossings crossings_;
    Redirects redirects_;
    std::vector<bool> redirected_;  ///< of the chunk's executions
    std::unique_ptr<Outcomes> out_;
    std::vector<ReferenceCore> cores_;
    size_t unit_ = SIZE_MAX;
};

}  // namespace tessera::sim::testing
