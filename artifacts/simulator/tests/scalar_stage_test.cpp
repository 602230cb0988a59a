// scalar_stage_test.cpp - the functional stage for any design gives exactly the oracle's counts and, through its outcomes,
// the oracle's runtime: random programs, layouts and platforms with every built-in component.
#include <gtest/gtest.h>

#include "support/outcome_player.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

void expect_stage_agrees(const Platform& platform, uint64_t seed) {
    RandomInputs random(seed);
    MemoryStream stream = random.stream(6000);
    const Sampling sampling = seed % 2 ? Sampling{false, 1 + seed % 5, 400, 300} : Sampling{};
    const SamplePlan plan(sampling, stream.header());
    std::vector<Layout> layouts;
    for (size_t i = 0; i < (scalar_needs_one_lane(platform) ? 1 : 1 + seed % 4); ++i) layouts.push_back(random.layout(i));
    std::vector<const Layout*> pointers;
    for (const Layout& layout : layouts) pointers.push_back(&layout);
    const auto truth = simulate("reference", platform, stream, layouts, sampling);
    EXPECT_EQ(OutcomePlayer(platform, stream, pointers).run(plan, true), truth);
    auto counts_only = truth;
    for (LayoutCounts& counts : counts_only)
        for (UnitCounts& unit : counts.units) unit.runtime_cycles = 0;
    EXPECT_EQ(OutcomePlayer(platform, stream, pointers).run(plan, false), counts_only);
    EXPECT_GT(truth[0].stlb_misses, 0u);
}

class ScalarStage : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ScalarStage, GivesTheOraclesCountsAndRuntime) {
    RandomInputs random(GetParam() + 1000);
    Platform platform = random.platform();
    expect_stage_agrees(platform, GetParam());
    if (HasFailure()) return;
    platform.allocator = "scattered";
    platform.dram = {2, 8, 1024, 20, 30, 4};
    platform.dram_queues_walks = platform.write_backs = 1;
    expect_stage_agrees(platform, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScalarStage, ::testing::Range<uint64_t>(0, 40));

TEST(ScalarStage, RefusesOutcomesOfLayoutsWithDifferentLinesInOnePass) {
    Platform platform = tiny(1);
    platform.allocator = "scattered";
    platform.dram = {1, 4, 1024, 10, 10, 4};
    RandomInputs random(3);
    MemoryStream stream = random.stream(100);
    const Layout a = random.layout(0), b = random.layout(1);
    const std::vector<const Layout*> two = {&a, &b};
    EXPECT_TRUE(scalar_needs_one_lane(platform));
    EXPECT_THROW(OutcomePlayer(platform, stream, two).run(SamplePlan({}, stream.header()), true), std::logic_error);
    EXPECT_NO_THROW(OutcomePlayer(platform, stream, two).run(SamplePlan({}, stream.header()), false));
}

}  // namespace
}  // namespace tessera::sim::testing
