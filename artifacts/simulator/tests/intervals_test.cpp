// intervals_test.cpp - interval files: each rule has an error message, and units are cut at the places in the file.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/interval_file.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

const std::string header = "start_access,warmup_accesses,timed_instructions,weight\n";

struct Bad {
    const char* name;
    std::string text;
    std::vector<std::string> words;
};

class BadIntervals : public ::testing::TestWithParam<Bad> {};

TEST_P(BadIntervals, AreRefusedByLineAndRule) {
    try {
        parse_intervals(GetParam().text, "i.csv", 1000);
        FAIL() << "accepted";
    } catch (const Refusal& refusal) {
        for (const std::string& word : GetParam().words)
            EXPECT_NE(std::string(refusal.what()).find(word), std::string::npos) << refusal.what();
    }
}

INSTANTIATE_TEST_SUITE_P(Rules, BadIntervals,
                         ::testing::Values(Bad{"Empty", "", {"i.csv", "--sampling"}}, Bad{"HeaderOnly", header, {"--sampling"}},
                                           Bad{"NoHeader", "0,0,1,1\n", {"line 1", "header"}},
                                           Bad{"Columns", header + "0,0,1\n", {"line 2", "4 columns"}},
                                           Bad{"Word", header + "zero,0,1,1\n", {"line 2", "start_access", "'zero'"}},
                                           Bad{"Negative", header + "0,-1,1,1\n", {"warmup_accesses", "'-1'"}},
                                           Bad{"NothingTimed", header + "0,0,0,1\n", {"timed_instructions", "1 or more"}},
                                           Bad{"ZeroWeight", header + "0,0,1,0\n", {"weight", "'0'"}},
                                           Bad{"NegativeWeight", header + "0,0,1,-2\n", {"weight"}},
                                           Bad{"NanWeight", header + "0,0,1,nan\n", {"weight", "'nan'"}},
                                           Bad{"InfiniteWeight", header + "0,0,1,inf\n", {"weight"}},
                                           Bad{"HugeNumber", header + "99999999999999999999,0,1,1\n", {"start_access"}},
                                           Bad{"BehindTheEnd", header + "1001,0,1,1\n", {"line 2", "1000 accesses"}},
                                           Bad{"WarmupPastTheEnd", header + "400,601,1,1\n", {"1000 accesses"}},
                                           Bad{"WarmupOverflows", header + "400,18446744073709551615,1,1\n", {"1000 accesses"}},
                                           Bad{"Unsorted", header + "500,0,1,1\n400,0,1,1\n", {"line 3", "'400'", "start_access"}},
                                           Bad{"InTheWarmup", header + "400,100,1,1\n499,0,1,1\n", {"line 3", "'499'", "start_access"}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GoodIntervals, ReachTheLastAccess) {
    const auto intervals = parse_intervals(header + "\r\n0,10,5,0.25\r\n400,600,7,1e3\n", "i.csv", 1000);
    ASSERT_EQ(intervals.size(), 2u);
    EXPECT_EQ(intervals[0].warmup_accesses, 10u);
    EXPECT_DOUBLE_EQ(intervals[0].weight, 0.25);
    EXPECT_EQ(intervals[1].start_access, 400u);
    EXPECT_EQ(intervals[1].timed_instructions, 7u);
    EXPECT_DOUBLE_EQ(intervals[1].weight, 1000);
}

/// 1000 block executions of 3 accesses and 5 instructions.
MemoryStream triples() {
    StreamBuilder builder(uint64_t{4} << 30, uint64_t{4} << 30, 100);
    const trace::StaticInsn load = insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1), add = insn(trace::InsnKind::alu, reg(1), reg(3));
    const uint32_t block = builder.block({load, load, load, add, add}, {{0, 0, 8}, {1, 0, 8}, {2, 0, 8}});
    for (uint64_t i = 0; i < 1000; ++i) builder.run(block, {heap_base + i * 4096, heap_base + i * 8, heap_base}, {0, 0, 0});
    return builder.finish();
}

std::vector<UnitCounts> units(MemoryStream& stream, std::vector<Interval> intervals) {
    return simulate("partial", haswell(), stream, {all_4kb()}, SamplePlan(std::move(intervals)))[0].units;
}

TEST(Cut, BeginsAndEndsAtBlockExecutions) {
    MemoryStream stream = triples();
    // Starts in execution 1 (accesses 3-5), so with execution 2; 4 accesses of warm-up are executions 2 and 3.
    const auto found = units(stream, {{4, 4, 5, 1}, {300, 0, 11, 1}, {2997, 0, 5, 1}});
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].instructions, 5u);
    EXPECT_EQ(found[0].accesses, 3u);
    EXPECT_EQ(found[0].stlb_misses, 1u);  // page 4: first touched here
    EXPECT_EQ(found[1].instructions, 15u);
    EXPECT_EQ(found[1].accesses, 9u);
    EXPECT_EQ(found[2].instructions, 5u);
}

TEST(Cut, AnIntervalMayBeginInTheLastExecutionOfTheOneBefore) {
    MemoryStream stream = triples();
    // 10 instructions from access 30 are executions 10 and 11, accesses 30-35.
    for (uint64_t start : {34u, 35u, 36u, 37u}) EXPECT_EQ(units(stream, {{30, 0, 10, 1}, {start, 0, 5, 1}})[1].instructions, 5u) << start;
    for (uint64_t start : {31u, 33u}) EXPECT_THROW(units(stream, {{30, 0, 10, 1}, {start, 0, 5, 1}}), Refusal) << start;
}

TEST(Cut, OneIntervalOverAllIsTheFullRun) {
    MemoryStream stream = triples();
    EXPECT_EQ(units(stream, {{0, 0, 5000, 1}}), simulate("partial", haswell(), stream, {all_4kb()})[0].units);
}

TEST(Cut, PartsWithoutAccessesCanBeIntervals) {
    StreamBuilder builder(uint64_t{4} << 30, uint64_t{4} << 30, 100);
    const uint32_t load = builder.independent_load(), add = builder.block({insn(trace::InsnKind::alu, reg(1), reg(3))}, {});
    for (int i = 0; i < 10; ++i) builder.load(load, heap_base + i * 64);
    for (int i = 0; i < 20; ++i) builder.run(add, {}, {});
    MemoryStream stream = builder.finish();
    const auto found = units(stream, {{0, 0, 10, 1}, {10, 0, 12, 1}, {10, 0, 8, 1}});
    EXPECT_EQ(found[0].accesses, 10u);
    EXPECT_EQ(found[1].instructions, 12u);
    EXPECT_EQ(found[2].instructions, 8u);
    EXPECT_EQ(found[2].accesses, 0u);
    EXPECT_THROW(units(stream, {{0, 0, 5, 1}, {0, 0, 5, 1}}), Refusal) << "the same place twice";
}

}  // namespace
}  // namespace tessera::sim::testing
