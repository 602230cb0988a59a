// any_design_stage_test.cpp - the functional stage for any design gives exactly the oracle's counts and, through its outcomes,
// the oracle's runtime: random programs, layouts and platforms with every built-in component.
#include <gtest/gtest.h>

#include "engine/any_design/event_log.h"
#include "engine/timing/redirect_log.h"
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
    for (size_t i = 0; i < (needs_one_lane(platform) ? 1 : 1 + seed % 4); ++i) layouts.push_back(random.layout(i));
    std::vector<const Layout*> pointers;
    for (const Layout& layout : layouts) pointers.push_back(&layout);
    const auto truth = simulate("reference", platform, stream, layouts, sampling);
    EXPECT_EQ(OutcomePlayer(platform, stream, pointers).run(plan, true), truth);
    auto counts_only = truth;
    for (LayoutCounts& counts : counts_only) {
        counts.rows = {};
        for (UnitCounts& unit : counts.units) unit.runtime_cycles = 0;
    }
    EXPECT_EQ(OutcomePlayer(platform, stream, pointers).run(plan, false), counts_only);
    EXPECT_GT(truth[0].stlb_misses, 0u);
}

class AnyDesignStage : public ::testing::TestWithParam<uint64_t> {};

TEST_P(AnyDesignStage, GivesTheOraclesCountsAndRuntime) {
    RandomInputs random(GetParam() + 1000);
    Platform platform = random.platform();
    expect_stage_agrees(platform, GetParam());
    if (HasFailure()) return;
    platform.allocator = "scattered";
    platform.dram = {2, 8, 1024, 20, 30, 4};
    platform.dram_queues_walks = platform.write_backs = 1;
    expect_stage_agrees(platform, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnyDesignStage, ::testing::Range<uint64_t>(0, 40));

TEST(AnyDesignStage, RefusesOutcomesOfLayoutsWithDifferentLinesInOnePass) {
    Platform platform = tiny(1);
    platform.allocator = "scattered";
    platform.dram = {1, 4, 1024, 10, 10, 4};
    RandomInputs random(3);
    MemoryStream stream = random.stream(100);
    const Layout a = random.layout(0), b = random.layout(1);
    const std::vector<const Layout*> two = {&a, &b};
    EXPECT_TRUE(needs_one_lane(platform));
    EXPECT_THROW(OutcomePlayer(platform, stream, two).run(SamplePlan({}, stream.header()), true), std::logic_error);
    EXPECT_NO_THROW(OutcomePlayer(platform, stream, two).run(SamplePlan({}, stream.header()), false));
}

/// Chunks of four executions of a frame.
std::vector<Chunk> chunks_of(const trace::Frame& frame) {
    std::vector<Chunk> chunks;
    for (size_t e = 0, at = 0; e < frame.block_ids.size();) {
        Chunk chunk{0, frame.addresses.data() + at, frame.is_store.data() + at,
                    0, frame.block_ids.data() + e,  frame.access_counts.data() + e};
        for (; chunk.executions < 4 && e < frame.block_ids.size(); ++chunk.executions) chunk.accesses += frame.access_counts[e++];
        at += chunk.accesses;
        chunks.push_back(chunk);
    }
    return chunks;
}

TEST(EventLog, GivesEveryStageWhatTheFirstComputed) {
    Platform platform = haswell();
    platform.l1i = {2, 2}, platform.prefetch_l2 = {"stream", 8, 2, 4};
    RandomInputs random(11);
    MemoryStream stream = random.stream(3000);
    any_design::EventReader alone(platform, stream.blocks());
    any_design::EventLog log(platform, stream.blocks());
    any_design::ChunkEvents expected;
    size_t fetches = 0, asks = 0, touches = 0;
    for (const trace::Frame& frame : stream.frames()) {
        log.begin_frame();
        for (const Chunk& chunk : chunks_of(frame)) log.next(chunk, true);
        log.rewind();
        for (const Chunk& chunk : chunks_of(frame)) {
            alone.read(chunk, true, expected);
            const any_design::ChunkEvents& found = log.next(chunk, true);
            ASSERT_EQ(found.fetches().size(), expected.fetches().size());
            for (size_t i = 0; i < expected.fetches().size(); ++i) EXPECT_EQ(found.fetches()[i].page, expected.fetches()[i].page);
            ASSERT_EQ(found.asks().size(), expected.asks().size());
            for (size_t i = 0; i < expected.asks().size(); ++i) EXPECT_EQ(found.asks()[i].target, expected.asks()[i].target);
            for (size_t i = 0; i < chunk.accesses; ++i) ASSERT_EQ(found.first_touch(i), expected.first_touch(i));
            fetches += expected.fetches().size(), asks += expected.asks().size();
            for (size_t i = 0; i < chunk.accesses; ++i) touches += expected.first_touch(i);
        }
    }
    EXPECT_GT(fetches, 0u);
    EXPECT_GT(asks, 0u);
    EXPECT_GT(touches, 0u);
}

/// Three clocks read each frame, with gaps where the plan has them; each finds what a predictor of its own finds.
TEST(RedirectLog, GivesEveryClockWhatTheFirstPredicted) {
    Platform platform = haswell();
    platform.branch_predictor = "gshare", platform.return_stack_entries = 4, platform.target_entries = 8;
    RandomInputs random(13);
    MemoryStream stream = random.stream(3000);
    timing::RedirectLog log(platform, stream.blocks());
    std::vector<Redirects> alone;
    for (int clock = 0; clock < 3; ++clock) alone.emplace_back(platform, stream.blocks());
    size_t wrong = 0;
    for (const trace::Frame& frame : stream.frames()) {
        log.begin_frame();
        for (Redirects& own : alone) {
            log.rewind();
            size_t number = 0;
            for (const Chunk& chunk : chunks_of(frame)) {
                if (number++ % 7 == 0) log.forget(), own.forget();
                const std::vector<uint8_t>& found = log.next(chunk);
                ASSERT_EQ(found.size(), chunk.executions);
                for (size_t e = 0; e < chunk.executions; ++e) {
                    ASSERT_EQ(found[e] != 0, own.enter(chunk.block_ids[e]));
                    wrong += found[e];
                }
            }
            log.forget(), own.forget();
        }
    }
    EXPECT_GT(wrong, 0u);
}

TEST(EventLog, RefusesAStageThatReadsOtherChunks) {
    RandomInputs random(12);
    MemoryStream stream = random.stream(300);
    any_design::EventLog log(haswell(), stream.blocks());
    const std::vector<Chunk> chunks = chunks_of(stream.frames().front());
    log.begin_frame();
    log.next(chunks.at(0), true);
    log.rewind();
    EXPECT_THROW(log.next(chunks.at(1), true), std::logic_error);
}

}  // namespace
}  // namespace tessera::sim::testing
