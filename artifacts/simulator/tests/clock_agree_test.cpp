// clock_agree_test.cpp - the clock's lanes give the reference core's cycles on each instruction set: random programs, random
// outcomes, random platforms, any number of layouts.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/timing/clock.h"
#include "engine/timing/config.h"
#include "support/platforms.h"
#include "support/random_outcomes.h"

namespace tessera::sim::testing {
namespace {

std::vector<std::string> instruction_sets(unsigned layouts) {
    std::vector<std::string> names = {"baseline"};
    if (layouts == 1) names.push_back("one");
    if (__builtin_cpu_supports("avx2")) names.push_back("avx2");
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        names.push_back("avx512");
    return names;
}

std::vector<trace::StaticBlock> random_program(Random& random) {
    std::vector<trace::StaticBlock> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(random_static_block(random));
    return blocks;
}

/// Two units of a few chunks each; compares every layout after each chunk.
void expect_agreement(Random& random, const Platform& platform, const OutcomeShape& shape, size_t executions) {
    const auto blocks = random_program(random);
    std::vector<std::unique_ptr<Clock>> clocks;
    for (const std::string& isa : instruction_sets(shape.lanes))
        clocks.push_back(make_clock(platform, blocks, shape.lanes, isa, nullptr, true));
    std::vector<DramCounts> rows_of_units(shape.lanes);  // of the units before
    Redirects redirects(platform, blocks);
    for (int unit = 0; unit < 2; ++unit) {
        std::vector<ReferenceCore> cores(shape.lanes, ReferenceCore(platform));
        redirects.forget();
        for (const auto& clock : clocks) clock->begin_unit();
        for (int chunk = 0; chunk < 3; ++chunk) {
            const RandomChunk input(random, blocks, shape, executions);
            std::vector<bool> redirected;
            for (size_t e = 0; e < executions; ++e) redirected.push_back(redirects.enter(input.chunk().block_ids[e]));
            for (unsigned lane = 0; lane < shape.lanes; ++lane) input.replay(cores[lane], blocks, redirected, lane);
            for (size_t c = 0; c < clocks.size(); ++c) {
                clocks[c]->run(input.chunk(), input.outcomes());
                uint64_t cycles[max_lanes];
                clocks[c]->elapsed(cycles);
                for (unsigned lane = 0; lane < shape.lanes; ++lane) {
                    const std::string where = instruction_sets(shape.lanes)[c] + ", unit " + std::to_string(unit) + ", chunk " +
                                              std::to_string(chunk) + ", lane " + std::to_string(lane);
                    ASSERT_EQ(cycles[lane], cores[lane].elapsed().value) << where;
                    DramCounts rows = cores[lane].rows();
                    ASSERT_EQ(clocks[c]->rows(lane), rows += rows_of_units[lane]) << where;
                }
            }
        }
        for (unsigned lane = 0; lane < shape.lanes; ++lane) rows_of_units[lane] += cores[lane].rows();
    }
}

/// Each off in some platforms, and all of them in some.
void core_features(Random& random, Platform& p) {
    if (below(random, 5) == 0) return;
    const char* const predictors[] = {"perfect", "gshare", "tage"};
    p.branch_predictor = predictors[below(random, 3)];
    p.branch_refill_cycles = below(random, 3) * 11;
    p.return_stack_entries = below(random, 5), p.target_entries = below(random, 3) * 3;
    p.early_registers = below(random, 2);
    p.string = {below(random, 2) * 30, below(random, 300)};
    p.ports = {below(random, 4), below(random, 3), below(random, 5)};
    p.store_forward_cycles = below(random, 3) * 4;
    p.call_cycles = below(random, 3) * 2;
}

Platform random_platform(Random& random) {
    Platform p = tiny(unsigned(below(random, 10)));
    p.dispatch_width = 1 + below(random, 6);
    p.rob_entries = 1 + below(random, 40);
    p.load_queue_entries = 1 + below(random, 12);
    p.store_buffer_entries = 1 + below(random, 8);
    p.mshrs = 1 + below(random, 12);
    p.overlap = below(random, 6) != 0;
    p.walkers = below(random, 4) ? below(random, 4) : 8;
    p.walker_uses_mshrs = below(random, 2);
    p.memory_cycles_per_line = below(random, 3) * 7;
    p.write_backs = below(random, 2);
    core_features(random, p);
    if (below(random, 2)) {
        p.dram = {1 + below(random, 4), 1 + below(random, 9), uint64_t{64} << below(random, 8),
                  below(random, 60),    below(random, 80),    below(random, 30)};
        p.memory_load_cycles = 60 + below(random, 200);
    }
    return p;
}

OutcomeShape random_shape(Random& random) {
    const unsigned counts[] = {1, 2, 15, 16, 17, 33, 54, 64};
    OutcomeShape shape;
    shape.lanes = counts[below(random, 8)];
    shape.l1d_prefetches = below(random, 2);
    shape.l2_prefetches = below(random, 2);
    shape.fetches = below(random, 2);
    shape.walk_loads = below(random, 2);
    shape.physical_lines = shape.lanes == 1;
    shape.miss_rarity = 1 + unsigned(below(random, 5));
    const uint32_t walks[] = {0, 2, 40, 400};
    shape.longest_walk_cycles = walks[below(random, 4)];
    return shape;
}

class ClockAgrees : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ClockAgrees, WithTheReferenceCore) {
    Random random(GetParam() * 1009 + 3);
    const Platform platform = random_platform(random);
    expect_agreement(random, platform, random_shape(random), 400);
}

/// One layout, where the build without vectors runs, too.
TEST_P(ClockAgrees, OfASingleLayoutWithTheReferenceCore) {
    Random random(GetParam() * 2003 + 5);
    const Platform platform = random_platform(random);
    OutcomeShape shape = random_shape(random);
    shape.lanes = 1, shape.physical_lines = true;
    expect_agreement(random, platform, shape, 400);
}

INSTANTIATE_TEST_SUITE_P(RandomPlatforms, ClockAgrees, ::testing::Range<uint64_t>(0, 60));

/// Every latency, queue and DRAM key at its bound: times of 32 bits must still be enough.
Platform at_the_bounds() {
    Platform p;
    for (const PlatformKey& key : platform_keys())
        if (key.field != nullptr) key.field(p) = key.most;
    p.memory_load_cycles = 100'000;
    p.branch_predictor = "gshare";
    p.dram.banks = 16;  // 65536 banks make no time longer, only the test
    p.dram_queues_walks = 0;  // with it, the transfer of a line has a lower bound: below
    p.numa.hog_lines = 0;     // a wait behind them is within the bound of a load's time (base/platform_rules.cpp)
    p.numa.hog_node = p.numa.data_node = 1;  // not the node of page tables: two memories
    return p;
}

void expect_agreement_at(Platform slow) {
    EXPECT_GE(timing::clock_config(slow).steps_between_rebases, 64u);
    slow.dispatch_width = 16;
    for (const uint64_t walkers : {1, 8}) {
        for (const uint64_t mshrs : {1, 64}) {
            Random random(walkers * 100 + mshrs);
            slow.walkers = walkers, slow.mshrs = mshrs;
            OutcomeShape shape;
            shape.lanes = 3;
            shape.longest_walk_cycles = 500'000;
            shape.miss_rarity = 0;  // all lanes miss whatever they can
            shape.l1d_prefetches = shape.l2_prefetches = shape.fetches = true;
            shape.walk_loads = slow.dram_queues_walks != 0;
            expect_agreement(random, slow, shape, 2000);
            shape.lanes = 1;
            expect_agreement(random, slow, shape, 2000);
            slow.overlap = 1 - slow.overlap;
        }
    }
}

TEST(ClockBounds, TimesFitWhenEveryKeyIsAtItsBound) { expect_agreement_at(at_the_bounds()); }

/// Five loads of each walk may then wait for a slot of a channel and a bank, in each of 2048 accesses: 64 channels of 10,000 cycles a
/// line are too slow for 32 bits, of 1000 they are not.
TEST(ClockBounds, WalksInMemorysQueuesNeedShorterTransfers) {
    Platform slow = at_the_bounds();
    slow.dram_queues_walks = 1;
    EXPECT_THROW(timing::clock_config(slow), Refusal);
    slow.memory_cycles_per_line = slow.numa.remote_cycles_per_line = 1000;
    expect_agreement_at(slow);
}

TEST(ClockBounds, AnExecutionOfManyAccessesIsOneInstruction) {
    OutcomeShape shape;
    shape.lanes = 5;
    shape.most_accesses = 20'000;  // string instructions: more accesses than steps between moves of the origin
    for (uint64_t seed = 0; seed < 6; ++seed) {
        Random random(seed);
        expect_agreement(random, haswell(), shape, 3);
    }
}

TEST(ClockBounds, LongerWalksAreRefused) {
    const std::vector<trace::StaticBlock> blocks = {{0x400000, {{2, 4, 2, trace::InsnKind::load, 1, 4}}, {{0, 0, 8}}}};
    const uint64_t address = 1 << 20;
    const uint8_t is_store = 0;
    const uint32_t block = 0;
    const uint16_t count = 1;
    const auto outcomes = std::make_unique<Outcomes>();
    uint32_t row[1][max_lanes] = {};
    outcomes->accesses = outcomes->looked_up[0] = outcomes->walks[0] = outcomes->cycles_rows = 1;
    outcomes->walk_cycles = row;
    for (const std::string& isa : instruction_sets(1)) {
        const auto clock = make_clock(haswell(), blocks, 1, isa);
        clock->begin_unit();
        row[0][0] = timing::walk_bound_cycles - 1;
        EXPECT_NO_THROW(clock->run({1, &address, &is_store, 1, &block, &count}, *outcomes));
        row[0][0] = timing::walk_bound_cycles;
        EXPECT_THROW(clock->run({1, &address, &is_store, 1, &block, &count}, *outcomes), Refusal);
    }
}

TEST(ClockBounds, TheTwoWalksOfAnAccessCountAsOne) {
    const std::vector<trace::StaticBlock> blocks = {{0x400000, {{2, 4, 2, trace::InsnKind::load, 1, 4}}, {{0, 0, 8}}}};
    const uint64_t address = (1 << 20) - 4;
    const uint8_t is_store = 0;
    const uint32_t block = 0;
    const uint16_t count = 1;
    const auto outcomes = std::make_unique<Outcomes>();
    uint32_t rows[2][max_lanes] = {};
    const CrossingOutcome second{0, 1, 1, 1, 0, {}};
    outcomes->accesses = outcomes->looked_up[0] = outcomes->walks[0] = outcomes->crossings = 1;
    outcomes->cycles_rows = 2;
    outcomes->walk_cycles = rows;
    outcomes->crossing = &second;
    rows[0][0] = 1000;
    for (const std::string& isa : instruction_sets(1)) {
        const auto clock = make_clock(haswell(), blocks, 1, isa);
        clock->begin_unit();
        rows[1][0] = timing::walk_bound_cycles - 1001;
        EXPECT_NO_THROW(clock->run({1, &address, &is_store, 1, &block, &count}, *outcomes));
        rows[1][0] = timing::walk_bound_cycles - 1000;
        EXPECT_THROW(clock->run({1, &address, &is_store, 1, &block, &count}, *outcomes), Refusal);
    }
}

TEST(ClockBounds, UnknownInstructionSetsAreRefused) {
    EXPECT_THROW(make_clock(haswell(), {}, 1, "sse9"), Refusal);
    EXPECT_THROW(make_clock(haswell(), {}, 2, "one"), Refusal);
}

}  // namespace
}  // namespace tessera::sim::testing
