// engines.h - one stream on every engine: equal counts, or the test fails.
#pragma once

#include <gtest/gtest.h>

#include "support/synthetic.h"

namespace tessera::sim::testing {

inline std::vector<LayoutCounts> without_runtime(std::vector<LayoutCounts> all) {
    for (LayoutCounts& counts : all) {
        counts.kernel.cycles = 0;
        counts.rows = {}, counts.kernel.rows = {};
        counts.kernel.faults.clear();
        for (UnitCounts& unit : counts.units) unit.runtime_cycles = 0;
    }
    return all;
}

/// Runs reference, timing and partial, expects equal counts (and runtime of the two that have one), returns the reference's.
inline std::vector<LayoutCounts> on_all_engines(const Platform& platform, Stream& stream, const std::vector<Layout>& layouts,
                                                const Sampling& sampling = {}) {
    const auto truth = simulate("reference", platform, stream, layouts, sampling);
    EXPECT_EQ(simulate("timing", platform, stream, layouts, sampling), truth);
    EXPECT_EQ(simulate("partial", platform, stream, layouts, sampling), without_runtime(truth));
    return truth;
}

}  // namespace tessera::sim::testing
