// warm_passes_test.cpp - a warm pass equals the same accesses written twice, of which only the second half is timed.
#include <gtest/gtest.h>

#include "support/isa.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

MemoryStream repeated(const MemoryStream& stream, uint64_t times) {
    trace::Header header = stream.header();
    header.accesses *= times, header.instructions *= times, header.block_executions *= times;
    std::vector<trace::Frame> frames;
    for (uint64_t i = 0; i < times; ++i) frames.insert(frames.end(), stream.frames().begin(), stream.frames().end());
    return MemoryStream(std::move(header), stream.blocks(), std::move(frames));
}

/// Without the executions behind the last access: parts begin at accesses, so in a repeated stream these belong to the next part.
MemoryStream up_to_last_access(const MemoryStream& stream) {
    trace::Header header = stream.header();
    std::vector<trace::Frame> frames = stream.frames();
    for (trace::Frame& last = frames.back(); last.access_counts.back() == 0; last.access_counts.pop_back(), last.block_ids.pop_back()) {
        const uint32_t instructions = trace::instructions_of(stream.blocks()[last.block_ids.back()]);
        last.instructions -= instructions, header.instructions -= instructions;
        --header.block_executions;
    }
    return MemoryStream(std::move(header), stream.blocks(), std::move(frames));
}

class WarmPasses : public ::testing::TestWithParam<uint64_t> {};

TEST_P(WarmPasses, AreTheStreamWrittenOnceMore) {
    RandomInputs inputs(GetParam());
    const Platform platform = inputs.platform();
    MemoryStream once = up_to_last_access(inputs.stream(5000));
    const uint64_t passes = 1 + GetParam() % 2, accesses = once.header().accesses, instructions = once.header().instructions;
    MemoryStream warming = repeated(once, passes), all = repeated(once, passes + 1);
    const std::vector<Layout> layouts = {inputs.layout(0), inputs.layout(1), inputs.layout(2)};
    const SamplePlan full(Sampling{}, once.header()), second_half(std::vector<Interval>{{0, passes * accesses, instructions, 1}});
    for (const char* engine : {"reference", "partial", "timing"}) {
        SCOPED_TRACE(engine);
        const auto found = simulate(engine, platform, once, layouts, full, passes);
        const auto truth = simulate(engine, platform, all, layouts, second_half, 0);
        const auto before = simulate("partial", platform, warming, layouts, SamplePlan(Sampling{}, warming.header()), 0);
        for (size_t i = 0; i < layouts.size(); ++i) {
            EXPECT_EQ(found[i].stlb_hits, truth[i].stlb_hits - before[i].stlb_hits);
            EXPECT_EQ(found[i].stlb_misses, truth[i].stlb_misses - before[i].stlb_misses);
            EXPECT_EQ(found[i].instruction_stlb_hits, truth[i].instruction_stlb_hits - before[i].instruction_stlb_hits);
            EXPECT_EQ(found[i].instruction_stlb_misses, truth[i].instruction_stlb_misses - before[i].instruction_stlb_misses);
            EXPECT_EQ(found[i].instruction_walk_cycles, truth[i].instruction_walk_cycles);
            EXPECT_EQ(found[i].program, truth[i].program);
            EXPECT_EQ(found[i].walker, truth[i].walker);
            EXPECT_EQ(found[i].units, truth[i].units);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, WarmPasses, ::testing::Range<uint64_t>(0, 12));

TEST(WarmPass, LeavesOnlyTheMissesThatCapacityCauses) {
    // 8 pages that the L1 TLB and L1D hold: 8 misses in a cold run; none, and no walk, in a warm one.
    StreamBuilder builder;
    const uint32_t load = builder.independent_load();
    for (uint64_t page = 0; page < 8; ++page) builder.load(load, heap_base + page * (4096 + 64));  // in sets of their own
    MemoryStream stream = builder.finish();
    const SamplePlan full(Sampling{}, stream.header());
    for (const char* engine : {"reference", "partial", "timing"}) {
        EXPECT_EQ(simulate(engine, haswell(), stream, {all_4kb()}, full, 0)[0].stlb_misses, 8u) << engine;
        const LayoutCounts warm = simulate(engine, haswell(), stream, {all_4kb()}, full, 1)[0];
        EXPECT_EQ(warm.stlb_misses, 0u) << engine;
        EXPECT_EQ(warm.units[0].walk_cycles, 0u) << engine;
        EXPECT_EQ(warm.program, (std::array<uint64_t, 4>{8, 0, 0, 0})) << engine;
        EXPECT_EQ(warm.units[0].accesses, 8u) << engine;
    }
}

}  // namespace
}  // namespace tessera::sim::testing
