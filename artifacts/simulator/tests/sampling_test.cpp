// sampling_test.cpp - parsing, cutting and scaling of sampling plans, as in sample_plan.h and estimate.h.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/estimate.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

TEST(SamplingText, IsRefusedWithWhatIsWrong) {
    for (const char* bad :
         {"", "most", "units=20", "units=x,warmup_accesses=1,timed_instructions=1", "units=1,units=1,timed_instructions=1",
          "units=0,warmup_accesses=1,timed_instructions=1", "units=1,warmup_accesses=1,timed_instructions=0"})
        EXPECT_THROW(parse_sampling(bad), Refusal) << bad;
    EXPECT_TRUE(parse_sampling("full").full);
    const Sampling tlbs = parse_sampling("tlbs");
    EXPECT_FALSE(tlbs.full);
    EXPECT_EQ(tlbs.units, 0u);
    const Sampling s = parse_sampling("timed_instructions=3,units=2,warmup_accesses=0");
    EXPECT_EQ(s.units, 2u);
    EXPECT_EQ(s.timed_instructions, 3u);
}

MemoryStream stationary(size_t loads) {
    StreamBuilder builder(uint64_t{4} << 30, uint64_t{4} << 30, 7777);
    const uint32_t block =
        builder.block({insn(trace::InsnKind::alu, reg(1), reg(1)), insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1),
                       insn(trace::InsnKind::fp_add, reg(20), reg(20))},
                      {{1, 0, 8}});
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

TEST(Plan, EnormousNumbersMeanAllOfIt) {
    MemoryStream stream = stationary(1000);
    EXPECT_TRUE(SamplePlan(Sampling{false, 2, UINT64_MAX, UINT64_MAX}, stream.header()).full());
    EXPECT_TRUE(SamplePlan(Sampling{false, UINT64_MAX, 0, 1}, stream.header()).full());
}

TEST(Plan, UnitsLieInTheMiddleOfEqualStrides) {
    MemoryStream stream = stationary(1000);  // 1000 accesses, 3000 instructions
    const SamplePlan plan(Sampling{false, 4, 40, 30}, stream.header());  // stride 250, cost 50: 100 before and after
    ASSERT_EQ(plan.units(), 4u);
    for (size_t unit = 0; unit < 4; ++unit) EXPECT_EQ(plan.start_access(unit), 250 * unit + 100);
    EXPECT_TRUE(plan.equal_weights());
}

}  // namespace
}  // namespace tessera::sim::testing
