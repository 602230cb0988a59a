// estimate_test.cpp - ratio estimates by hand, and how often their 95% intervals hold the truth.
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "engine/estimate.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

/// What the printed row has in a column. pre: no text of the row has a comma.
std::string cell(const Row& row, const std::string& column) {
    const std::string header = row_header(), line = format_row(row);
    const auto names = split(header, ','), values = split(line, ',');
    for (size_t i = 0; i < names.size(); ++i)
        if (names[i] == column) return std::string(values.at(i));
    return "no such column";
}
TEST(Ratio, ByHand) {
    const Estimate e = ratio_estimate({2, 4, 6}, {1, 2, 3}, 60);
    EXPECT_DOUBLE_EQ(e.value, 120);
    EXPECT_NEAR(e.ci95, 0, 1e-9);
    // ratio 2; residuals -1, +1; standard error sqrt(2/2)/1 = 1; t(1 degree) = 12.706
    const Estimate f = ratio_estimate({1, 3}, {1, 1}, 10);
    EXPECT_DOUBLE_EQ(f.value, 20);
    EXPECT_NEAR(f.ci95, 127.06, 0.01);
}

TEST(Ratio, WithWeightsByHand) {
    // sum(w y) = 1 + 6 + 8, sum(w x) = 1 + 2 + 2: ratio 3. w (y - 3 x) = -2, 0, 2: sqrt(8 x 3/2) / 5; t(2 degrees) = 4.303
    const Estimate e = ratio_estimate({1, 3, 8}, {1, 1, 2}, 10, {1, 2, 1});
    EXPECT_DOUBLE_EQ(e.value, 30);
    EXPECT_NEAR(e.ci95, 4.303 * std::sqrt(12.0) / 5 * 10, 1e-9);
    // The scale of weights means nothing, and equal weights are none.
    EXPECT_DOUBLE_EQ(ratio_estimate({1, 3, 8}, {1, 1, 2}, 10, {7, 14, 7}).ci95, e.ci95);
    EXPECT_DOUBLE_EQ(ratio_estimate({1, 3, 8}, {1, 1, 2}, 10, {5, 5, 5}).ci95, ratio_estimate({1, 3, 8}, {1, 1, 2}, 10).ci95);
}

TEST(Ratio, AUnitThatCountsForTwoIsNotTwoUnits) {
    EXPECT_DOUBLE_EQ(ratio_estimate({1, 4}, {1, 1}, 1, {2, 1}).value, ratio_estimate({1, 1, 4}, {1, 1, 1}, 1).value);
    EXPECT_GT(ratio_estimate({1, 4}, {1, 1}, 1, {2, 1}).ci95, ratio_estimate({1, 1, 4}, {1, 1, 1}, 1).ci95);
}

TEST(Ratio, OneUnitHasNoKnownSpread) {
    EXPECT_DOUBLE_EQ(ratio_estimate({6}, {2}, 10).value, 30);
    EXPECT_TRUE(std::isnan(ratio_estimate({6}, {2}, 10).ci95));
}

/// A program of `parts` parts with skewed cycles per instruction and unequal lengths; in every fifth it is ten times slower.
struct Population {
    std::vector<double> cycles, instructions;
    double total_cycles = 0, total_instructions = 0;

    Population(std::mt19937_64& random, size_t parts) {
        std::lognormal_distribution<double> cost(0, 0.5);
        std::uniform_real_distribution<double> length(900, 1100);
        for (size_t i = 0; i < parts; ++i) {
            instructions.push_back(length(random));
            cycles.push_back(instructions[i] * cost(random) * (random() % 5 == 0 ? 10 : 1));
            total_cycles += cycles[i];
            total_instructions += instructions[i];
        }
    }
};

/// Share of 2000 trials whose interval holds the truth; `draw` picks the sample: indices and weights.
template <class Draw>
double coverage(const Draw& draw) {
    std::mt19937_64 random(20);
    int held = 0;
    const int trials = 2000;
    for (int t = 0; t < trials; ++t) {
        const Population all(random, 4000);
        std::vector<double> y, x, w;
        draw(random, all, y, x, w);
        const Estimate e = ratio_estimate(y, x, all.total_instructions, w);
        held += std::abs(e.value - all.total_cycles) <= e.ci95;
    }
    return double(held) / trials;
}

TEST(Coverage, OfEvenlySpacedUnits) {
    const double share = coverage([](auto& random, const Population& all, auto& y, auto& x, auto&) {
        for (size_t i = random() % 100; i < 4000; i += 100) y.push_back(all.cycles[i]), x.push_back(all.instructions[i]);
    });
    EXPECT_GE(share, 0.90);
    EXPECT_LE(share, 0.98);  // 95% is what it says, not "always"
}

TEST(Coverage, OfUnitsDrawnInProportionToTheirCycles) {
    // Slow parts are drawn more often; a weight of one over the chance undoes it.
    const double share = coverage([](auto& random, const Population& all, auto& y, auto& x, auto& w) {
        std::vector<double> chance;
        for (size_t i = 0; i < 4000; ++i) chance.push_back(std::sqrt(all.cycles[i]));
        std::discrete_distribution<size_t> pick(chance.begin(), chance.end());
        for (int n = 0; n < 40; ++n) {
            const size_t i = pick(random);
            y.push_back(all.cycles[i]), x.push_back(all.instructions[i]), w.push_back(1 / chance[i]);
        }
    });
    EXPECT_GE(share, 0.90);
    EXPECT_LE(share, 0.98);
}

TEST(Coverage, IsLostWhenSuchWeightsAreLeftOut) {
    const double share = coverage([](auto& random, const Population& all, auto& y, auto& x, auto&) {
        std::discrete_distribution<size_t> pick(all.cycles.begin(), all.cycles.end());
        for (int n = 0; n < 40; ++n) {
            const size_t i = pick(random);
            y.push_back(all.cycles[i]), x.push_back(all.instructions[i]);
        }
    });
    EXPECT_LE(share, 0.2);
}

MemoryStream thousand_loads() {
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    for (int i = 0; i < 1000; ++i) builder.load(block, heap_base + i * 64);
    return builder.finish();
}

TEST(Rows, ScaleRuntimeAndWalkCyclesByInstructions) {
    MemoryStream stream = thousand_loads();
    LayoutCounts counts;
    counts.stlb_misses = 500;  // exact, and of no influence on C
    counts.units = {{100, 30, 5, 60, 300}, {100, 30, 9, 100, 500}};
    counts.program = {20, 10, 5, 5};
    counts.instruction_stlb_misses = 3;
    counts.instruction_walk_cycles = 40;
    const Row row = estimate_row(all_4kb(), counts, stream.header(), SamplePlan({}, stream.header()), true, true);
    const double scale = 1000.0 / 200;
    EXPECT_DOUBLE_EQ(row.walk_cycles.value, 160 * scale);
    EXPECT_DOUBLE_EQ(row.runtime_cycles.value, 800 * scale);
    EXPECT_DOUBLE_EQ(row.program_loads[0], 40 * scale);
    EXPECT_DOUBLE_EQ(row.program_loads[2], 10 * scale);
    EXPECT_EQ(row.stlb_misses, 500u);
    EXPECT_TRUE(row.message.empty());
    EXPECT_EQ(cell(row, "instruction_stlb_hits"), "0");
    EXPECT_EQ(cell(row, "instruction_stlb_misses"), "3");
    EXPECT_EQ(cell(row, "instruction_walk_cycles"), "200");
    EXPECT_EQ(split(format_row(row), ',').size(), split(row_header(), ',').size());
    EXPECT_EQ(split(format_row(failed_row("x", "y")), ',').size(), split(row_header(), ',').size());
}

TEST(Rows, OfWeightedIntervalsLeaveOutWhatIsNotCountedByInterval) {
    MemoryStream stream = thousand_loads();
    LayoutCounts counts;
    counts.units = {{100, 30, 5, 60, 300}, {100, 30, 9, 100, 500}};
    counts.instruction_walk_cycles = 40;
    const SamplePlan plan(std::vector<Interval>{{0, 0, 100, 3}, {500, 0, 100, 1}});
    const Row row = estimate_row(all_4kb(), counts, stream.header(), plan, true, true);
    EXPECT_DOUBLE_EQ(row.walk_cycles.value, (3 * 60 + 100) / 400.0 * 1000);
    EXPECT_DOUBLE_EQ(row.runtime_cycles.value, (3 * 300 + 500) / 400.0 * 1000);
    for (const char* name : {"program_l1d_loads", "walker_dram_loads", "instruction_walk_cycles"}) EXPECT_EQ(cell(row, name), "") << name;
    EXPECT_EQ(cell(row, "instruction_stlb_misses"), "0");
    const SamplePlan equal(std::vector<Interval>{{0, 0, 100, 2}, {500, 0, 100, 2}});
    EXPECT_TRUE(estimate_row(all_4kb(), counts, stream.header(), equal, true).has_loads);
}

TEST(Rows, OfAnIntervalThatTheTracesEndCutsOffFail) {
    MemoryStream stream = thousand_loads();
    LayoutCounts counts;
    counts.units = {{100, 30, 5, 60, 300}, {}};
    const SamplePlan chosen(std::vector<Interval>{{0, 0, 100, 1}, {990, 9, 100, 1}});
    const Row row = estimate_row(all_4kb(), counts, stream.header(), chosen, true);
    EXPECT_EQ(row.status, "failed");
    EXPECT_NE(row.message.find("interval 2"), std::string::npos) << row.message;
    const SamplePlan spaced(Sampling{false, 2, 10, 10}, stream.header());
    EXPECT_EQ(estimate_row(all_4kb(), counts, stream.header(), spaced, true).status, "ok");
}

}  // namespace
}  // namespace tessera::sim::testing
