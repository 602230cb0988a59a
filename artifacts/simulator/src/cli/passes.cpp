#include "cli/passes.h"

#include <algorithm>
#include <map>

#include "cli/groups.h"

namespace tessera::sim {
namespace {

/// The variants of one kind over all layouts; `together`: layouts of a pass.
void add(Passes& to, const std::vector<size_t>& variants, const std::vector<bool>& variant_runs, const std::vector<bool>& layout_runs,
         size_t together) {
    size_t layouts = 0;  // of the last pass
    bool begun = false;
    for (size_t layout = 0; layout < layout_runs.size(); ++layout) {
        const bool fresh = layout_runs[layout] && (!begun || layouts == together);
        if (fresh) to.passes.emplace_back(), layouts = 0, begun = true;
        layouts += layout_runs[layout];
        for (const size_t variant : variants) {
            if (layout_runs[layout] && variant_runs[variant]) to.passes.back().push_back(to.cells.size());
            to.cells.push_back({variant, layout});
        }
    }
}

/// Moves cells of a variant to the passes of an earlier one of its stage, as long as there is a pass for each thread.
class StageSharing {
public:
    /// on_lanes: the number of variants that run on the lanes.
    StageSharing(size_t on_lanes, size_t threads) : most_variants_((on_lanes + threads - 1) / threads) {}

    /// `first`: place of the variant's first pass, which are the last ones.
    void move(std::vector<std::vector<size_t>>& passes, size_t first, size_t stage) {
        Shared& shared = of_stage_[stage];
        if (shared.variants == 0 || shared.variants == most_variants_) {
            shared = {first, 1};
            return;
        }
        ++shared.variants;
        for (size_t i = first; i < passes.size(); ++i)
            passes[shared.first + i - first].insert(passes[shared.first + i - first].end(), passes[i].begin(), passes[i].end());
        passes.resize(first);
    }

private:
    struct Shared {
        size_t first = 0, variants = 0;
    };
    size_t most_variants_;
    std::map<size_t, Shared> of_stage_;
};

}  // namespace

Passes passes_of(const std::vector<bool>& variant_runs, const std::vector<size_t>& stage, const std::vector<bool>& layout_runs,
                 size_t threads, size_t asked_group, size_t most_layouts, bool has_clock) {
    const auto layouts = size_t(std::count(layout_runs.begin(), layout_runs.end(), true));
    const size_t alone = divide(layouts, threads, asked_group, most_layouts, has_clock).group;
    Passes found;
    std::vector<size_t> others;
    size_t running = 0;
    size_t on_lanes = 0;
    for (size_t variant = 0; variant < stage.size(); ++variant) on_lanes += stage[variant] != 0 && variant_runs[variant];
    StageSharing sharing(on_lanes, threads);
    for (size_t variant = 0; variant < stage.size(); ++variant) {
        const size_t first = found.passes.size();
        if (stage[variant] == 0) others.push_back(variant), running += variant_runs[variant];
        else add(found, {variant}, variant_runs, layout_runs, alone);
        if (stage[variant] != 0 && variant_runs[variant]) sharing.move(found.passes, first, stage[variant]);
    }
    size_t together = alone;
    if (running > 1 && asked_group == 0) {  // as many cells as one variant has at most, and a pass for each thread
        const size_t each = (std::max<size_t>(layouts, 1) + threads - 1) / threads;
        together = std::clamp<size_t>(most_layouts / running, 1, each);
    }
    if (!others.empty()) add(found, others, variant_runs, layout_runs, together);
    std::erase_if(found.passes, [](const auto& pass) { return pass.empty(); });
    return found;
}

}  // namespace tessera::sim
