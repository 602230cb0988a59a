#include "engine/plan.h"

#include <algorithm>
#include <map>

#include "engine/functional.h"
#include "engine/outcome.h"
#include "engine/shared_logs.h"

namespace tessera::sim {
namespace {

constexpr size_t clock_lanes = 16, widest_pass = 64;

size_t quotient_up(size_t value, size_t unit) { return (value + unit - 1) / unit; }

bool runs_on_lanes(const Platform& platform, bool mapping) { return !mapping && lanes_lack(platform).empty(); }

/// The variants of one kind over all layouts; `together`: layouts of a pass.
void add(Passes& to, const std::vector<size_t>& added, const std::vector<const Platform*>& variants,
         const std::vector<const Layout*>& layouts, size_t together) {
    size_t in_pass = 0;
    bool begun = false;
    for (size_t layout = 0; layout < layouts.size(); ++layout) {
        const bool runs = layouts[layout] != nullptr;
        if (runs && (!begun || in_pass == together)) to.passes.emplace_back(), in_pass = 0, begun = true;
        in_pass += runs;
        for (const size_t variant : added) {
            if (runs && variants[variant] != nullptr) to.passes.back().push_back(to.cells.size());
            to.cells.push_back({variant, layout});
        }
    }
}

/// Moves cells of a variant to the passes of an earlier one that has the same stage, as long as there is a pass for each thread.
class StageSharing {
public:
    /// on_lanes: the number of variants that run on the lanes.
    StageSharing(size_t on_lanes, size_t threads) : most_variants_(quotient_up(on_lanes, threads)) {}

    /// `first`: place of the variant's first pass, which are the last ones.
    void move(std::vector<std::vector<size_t>>& passes, size_t first, const Platform& platform) {
        const auto same =
            std::find_if(stages_.begin(), stages_.end(), [&](const Stage& known) { return same_on_lanes(*known.platform, platform); });
        if (same == stages_.end() || same->variants == most_variants_) {
            if (same == stages_.end()) stages_.push_back({&platform, first, 1});
            else *same = {same->platform, first, 1};
            return;
        }
        ++same->variants;
        for (size_t i = first; i < passes.size(); ++i)
            passes[same->first + i - first].insert(passes[same->first + i - first].end(), passes[i].begin(), passes[i].end());
        passes.resize(first);
    }

private:
    struct Stage {
        const Platform* platform;
        size_t first, variants;
    };
    size_t most_variants_;
    std::vector<Stage> stages_;
};

}  // namespace

size_t layouts_of_a_pass(size_t layouts, const PassLimits& limits) {
    const size_t widest = std::min(limits.most_layouts, widest_pass), each = quotient_up(std::max<size_t>(layouts, 1), limits.threads);
    if (limits.asked_layouts != 0) return std::min(limits.asked_layouts, limits.most_layouts);
    return limits.has_clock ? std::min(widest, quotient_up(each, clock_lanes) * clock_lanes) : widest;
}

Passes passes_of(const std::vector<const Platform*>& variants, const std::vector<const Layout*>& layouts, bool mappings,
                 const PassLimits& limits) {
    const size_t running_layouts = layouts.size() - size_t(std::count(layouts.begin(), layouts.end(), nullptr));
    const size_t alone = layouts_of_a_pass(running_layouts, limits);
    std::vector<size_t> on_lanes, others;
    size_t running_lanes = 0, running_others = 0;
    for (size_t variant = 0; variant < variants.size(); ++variant) {
        const bool lanes = variants[variant] != nullptr && runs_on_lanes(*variants[variant], mappings);
        (lanes ? on_lanes : others).push_back(variant);
        (lanes ? running_lanes : running_others) += variants[variant] != nullptr;
    }
    Passes found;
    StageSharing sharing(running_lanes, limits.threads);
    for (const size_t variant : on_lanes) {
        const size_t first = found.passes.size();
        add(found, {variant}, variants, layouts, alone);
        sharing.move(found.passes, first, *variants[variant]);
    }
    size_t together = alone;
    if (running_others > 1 && limits.asked_layouts == 0) {  // as many cells as one variant has at most, and a pass for each thread
        const size_t each = quotient_up(std::max<size_t>(running_layouts, 1), limits.threads);
        together = std::clamp<size_t>(limits.most_layouts / running_others, 1, each);
    }
    if (!others.empty()) add(found, others, variants, layouts, together);
    std::erase_if(found.passes, [](const auto& pass) { return pass.empty(); });
    return found;
}

std::vector<StageCells> stages_of(const std::vector<Cell>& all, const std::vector<size_t>& places, bool tlbs_only) {
    using Path = StageCells::Path;
    std::vector<StageCells> stages, on_lanes;
    std::map<std::pair<const Layout*, std::string>, size_t> of_events;  // tlbs: the chunks of one stage have the same events
    for (const size_t place : places) {
        const auto [platform, layout] = all[place];
        if (runs_on_lanes(*platform, layout->mapping != nullptr)) {
            const auto known = std::find_if(on_lanes.begin(), on_lanes.end(), [&, platform = platform](const StageCells& stage) {
                return stage.platforms.front() == platform && stage.layouts.size() < max_lanes;
            });
            if (known == on_lanes.end()) on_lanes.push_back({Path::lanes, {platform}, {layout}, {place}});
            else known->layouts.push_back(layout), known->cells.push_back(place);
        } else if (tlbs_only) {
            const auto [at, fresh] = of_events.try_emplace({layout, SharedLogs::event_keys(*platform)}, stages.size());
            if (fresh) stages.push_back({Path::tlbs, {}, {layout}, {}});
            stages[at->second].platforms.push_back(platform);
            stages[at->second].cells.push_back(place);
        } else {
            stages.push_back({Path::any_design, {platform}, {layout}, {place}});
        }
    }
    const size_t lanes_begin = stages.size();
    for (StageCells& fresh : on_lanes) {  // platforms that differ in time alone, with the same layouts, share a stage
        const auto same = std::find_if(stages.begin() + ptrdiff_t(lanes_begin), stages.end(), [&](const StageCells& stage) {
            return stage.layouts == fresh.layouts && same_on_lanes(*stage.platforms.front(), *fresh.platforms.front());
        });
        if (same == stages.end()) {
            stages.push_back(std::move(fresh));
            continue;
        }
        same->platforms.push_back(fresh.platforms.front());
        same->cells.insert(same->cells.end(), fresh.cells.begin(), fresh.cells.end());
    }
    return stages;
}

}  // namespace tessera::sim
