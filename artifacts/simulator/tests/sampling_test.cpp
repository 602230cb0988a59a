// sampling_test.cpp - plans are parsed, cut and scaled as sample_plan.h and estimate.h say.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/estimate.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

TEST(SamplingText, IsRefusedWithWhatIsWrong) {
    for (const char* bad : {"", "most", "units=20", "units=x,warmup_accesses=1,timed_instructions=1", "units=1,units=1,timed_instructions=1",
                            "units=0,warmup_accesses=1,timed_instructions=1", "units=1,warmup_accesses=1,timed_instructions=0"})
        EXPECT_THROW(parse_sampling(bad), Refusal) << bad;
    EXPECT_TRUE(parse_sampling("full").full);
    const Sampling s = parse_sampling("timed_instructions=3,units=2,warmup_accesses=0");
    EXPECT_EQ(s.units, 2u);
    EXPECT_EQ(s.timed_instructions, 3u);
}

MemoryStream stationary(size_t loads) {
    StreamBuilder builder(uint64_t{4} << 30, uint64_t{4} << 30, 7777);
    const uint32_t block = builder.block({insn(trace::InsnKind::alu, reg(1), reg(1)), insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1),
                                          insn(trace::InsnKind::fp_add, reg(20), reg(20))}, {{1, 0, 8}});
    std::mt19937_64 random(9);
    // One line in each of 2048 pages: misses the STLB, and the caches are warm after 0.3% of 600000 loads.
    for (size_t i = 0; i < loads; ++i) builder.load(block, heap_base + random() % 2048 * (4096 + 64));
    return builder.finish();
}

TEST(Plan, LongerThanTheStreamMeansAllOfIt) {
    MemoryStream stream = stationary(1000);
    EXPECT_TRUE(SamplePlan(Sampling{false, 2, 400, 300}, stream.header()).full());   // 2 x (400 + 100) = 1000
    EXPECT_FALSE(SamplePlan(Sampling{false, 2, 399, 300}, stream.header()).full());
}

TEST(Plan, TimesWhatItPromises) {
    MemoryStream stream = stationary(100000);
    const LayoutCounts counts = simulate("partial", haswell(), stream, {all_4kb()}, Sampling{false, 10, 2000, 3000})[0];
    ASSERT_EQ(counts.units.size(), 10u);
    for (const UnitCounts& unit : counts.units) {
        EXPECT_EQ(unit.instructions, 3000u);
        EXPECT_EQ(unit.accesses, 1000u);
    }
}

TEST(Estimates, OfAStationaryStreamHoldTheFullResult) {
    MemoryStream stream = stationary(600000);
    const Layout layout = all_4kb();
    const Sampling sampling{false, 12, 20000, 15000};
    const auto row = [&](const Sampling& s) {
        const SamplePlan plan(s, stream.header());
        return estimate_row(layout, simulate("timing", sandybridge(), stream, {layout}, s)[0], stream.header(), plan, true);
    };
    const Row full = row({}), sampled = row(sampling);
    EXPECT_EQ(full.stlb_misses, sampled.stlb_misses);
    EXPECT_EQ(full.stlb_hits, sampled.stlb_hits);
    EXPECT_EQ(full.runtime_cycles.ci95, 0);
    // The full run has the cold start in it, which no unit sees: allow it 2% on top of the interval.
    EXPECT_NEAR(sampled.runtime_cycles.value, full.runtime_cycles.value, sampled.runtime_cycles.ci95 + 0.02 * full.runtime_cycles.value);
    EXPECT_NEAR(sampled.walk_cycles.value, full.walk_cycles.value, sampled.walk_cycles.ci95 + 0.02 * full.walk_cycles.value);
    EXPECT_GT(sampled.runtime_cycles.ci95, 0);
    EXPECT_LT(sampled.runtime_cycles.ci95, 0.05 * sampled.runtime_cycles.value);
}

TEST(Estimates, RatioByHand) {
    const Estimate e = ratio_estimate({2, 4, 6}, {1, 2, 3}, 60);
    EXPECT_DOUBLE_EQ(e.value, 120);
    EXPECT_NEAR(e.ci95, 0, 1e-9);
    // ratio 2; residuals -1, +1; standard error sqrt(2/2)/1 = 1; t(1 degree) = 12.706
    const Estimate f = ratio_estimate({1, 3}, {1, 1}, 10);
    EXPECT_DOUBLE_EQ(f.value, 20);
    EXPECT_NEAR(f.ci95, 127.06, 0.01);
}

TEST(Estimates, ScaleRuntimeAndWalkCyclesByInstructions) {
    MemoryStream stream = stationary(1000);
    LayoutCounts counts;
    counts.stlb_misses = 500;  // exact, and of no influence on C
    counts.units = {{100, 30, 5, 60, 300}, {100, 30, 9, 100, 500}};
    const Row row = estimate_row(all_4kb(), counts, stream.header(), SamplePlan({}, stream.header()), true);
    const double scale = double(stream.header().instructions) / 200;
    EXPECT_DOUBLE_EQ(row.walk_cycles.value, 160 * scale);
    EXPECT_DOUBLE_EQ(row.runtime_cycles.value, 800 * scale);
    EXPECT_EQ(row.stlb_misses, 500u);
    EXPECT_TRUE(row.message.empty());
}

}  // namespace
}  // namespace tessera::sim::testing
