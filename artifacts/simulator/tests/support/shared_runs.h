// shared_runs.h - cells of several platforms in one run, against each cell alone.
#pragma once

#include <gtest/gtest.h>

#include "support/synthetic.h"

namespace tessera::sim::testing {

inline std::vector<CellCounts> run_cells(const std::string& engine, Stream& stream, const std::vector<Platform>& platforms,
                                         const std::vector<Layout>& layouts, const Sampling& sampling, uint64_t warm_passes = 0) {
    const SamplePlan plan(sampling, stream.header());
    CellsRequest request{stream, plan, {}, warm_passes};
    request.counts_rows = true;
    for (const Layout& layout : layouts)
        for (const Platform& platform : platforms) request.cells.push_back({&platform, &layout});
    return make_engine(engine)->run_cells(request);
}

/// The cell by itself on the reference engine: its counts, or what it refuses.
inline CellCounts alone(const Platform& platform, Stream& stream, const Layout& layout, const Sampling& sampling,
                        uint64_t warm_passes = 0) {
    try {
        return {simulate("reference", platform, stream, {layout}, SamplePlan(sampling, stream.header()), warm_passes).at(0), std::nullopt};
    } catch (const Refusal& refusal) {
        return {{}, refusal};
    }
}

/// `runtime`: whether the engine of `found` has one.
inline void expect_same_cell(const CellCounts& found, CellCounts truth, bool runtime) {
    ASSERT_EQ(found.refusal.has_value(), truth.refusal.has_value()) << (found.refusal ? found.refusal : truth.refusal)->what();
    if (truth.refusal) {
        EXPECT_STREQ(found.refusal->what(), truth.refusal->what());
        return;
    }
    if (!runtime) {
        truth.counts.rows = {};
        for (UnitCounts& unit : truth.counts.units) unit.runtime_cycles = 0;
    }
    EXPECT_EQ(found.counts, truth.counts);
}

}  // namespace tessera::sim::testing
