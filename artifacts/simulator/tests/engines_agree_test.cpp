// engines_agree_test.cpp - the fast engines give exactly the oracle's counts: random programs, layouts, platforms, sampling
// plans, numbers of layouts, instruction sets; and the order of layouts changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "support/isa.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

void expect_same(const LayoutCounts& truth, const LayoutCounts& found, bool runtime) {
    EXPECT_EQ(truth.stlb_hits, found.stlb_hits);
    EXPECT_EQ(truth.stlb_misses, found.stlb_misses);
    EXPECT_EQ(truth.instruction_stlb_hits, found.instruction_stlb_hits);
    EXPECT_EQ(truth.instruction_stlb_misses, found.instruction_stlb_misses);
    EXPECT_EQ(truth.instruction_walk_cycles, found.instruction_walk_cycles);
    EXPECT_EQ(truth.program, found.program);
    EXPECT_EQ(truth.walker, found.walker);
    EXPECT_EQ(runtime ? truth.rows : DramCounts(), found.rows);
    ASSERT_EQ(truth.units.size(), found.units.size());
    for (size_t u = 0; u < truth.units.size(); ++u) {
        UnitCounts unit = truth.units[u];
        if (!runtime) unit.runtime_cycles = 0;
        EXPECT_EQ(unit.instructions, found.units[u].instructions) << "unit " << u;
        EXPECT_EQ(unit.accesses, found.units[u].accesses) << "unit " << u;
        EXPECT_EQ(unit.stlb_misses, found.units[u].stlb_misses) << "unit " << u;
        EXPECT_EQ(unit.walk_cycles, found.units[u].walk_cycles) << "unit " << u;
        EXPECT_EQ(unit.runtime_cycles, found.units[u].runtime_cycles) << "unit " << u;
    }
}

/// Both fast engines on every instruction set against the reference.
void expect_agreement(const Platform& platform, Stream& stream, const std::vector<Layout>& layouts, const Sampling& sampling) {
    const auto truth = simulate("reference", platform, stream, layouts, sampling);
    for (const char* isa : instruction_sets())
        for (const char* engine : {"partial", "timing"}) {
            const ForcedIsa forced(isa);
            const auto found = simulate(engine, platform, stream, layouts, sampling);
            ASSERT_EQ(found.size(), layouts.size());
            for (size_t i = 0; i < layouts.size(); ++i) {
                SCOPED_TRACE(std::string(isa) + " " + engine + " layout " + std::to_string(i));
                expect_same(truth[i], found[i], std::string(engine) == "timing");
                if (::testing::Test::HasFailure()) return;
            }
        }
}

std::vector<Layout> random_layouts(RandomInputs& inputs, size_t count) {
    std::vector<Layout> layouts;
    for (size_t i = 0; i < count; ++i) layouts.push_back(inputs.layout(i));
    return layouts;
}

class EnginesAgree : public ::testing::TestWithParam<uint64_t> {};

TEST_P(EnginesAgree, OnRandomPlatforms) {
    RandomInputs inputs(GetParam());
    const Platform platform = inputs.platform();
    MemoryStream stream = inputs.stream(6000);
    const auto layouts = random_layouts(inputs, 1 + inputs.below(12));
    expect_agreement(platform, stream, layouts, GetParam() % 2 ? Sampling{false, 1 + GetParam() % 4, 400, 300} : Sampling{});
}

INSTANTIATE_TEST_SUITE_P(Seeds, EnginesAgree, ::testing::Range<uint64_t>(0, 48));

struct Case {
    std::string name;
    Platform platform;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class EnginesAgreeOn : public ::testing::TestWithParam<Case> {};

TEST_P(EnginesAgreeOn, RandomTracesUnderRandomLayouts) {
    RandomInputs inputs(77);
    MemoryStream stream = inputs.stream(20000);
    expect_agreement(GetParam().platform, stream, random_layouts(inputs, 16), {});
    expect_agreement(GetParam().platform, stream, random_layouts(inputs, 3), {false, 5, 800, 700});
}

Platform twelve_ways() {
    Platform p = broadwell();
    p.stlb = {1536, 12};
    return p;
}

Platform unified_l1() {
    Platform p = twelve_ways();
    p.l1_4kb = {64, 64}, p.l1_2mb_in_4kb = p.l1_1gb_in_4kb = 1;
    p.l1_2mb = p.l1_1gb = {};
    return p;
}

Platform no_stlb() {
    Platform p = sandybridge();
    p.stlb = {};
    return p;
}

Platform of_policies(const char* l1, const char* second) {
    Platform p = twelve_ways();
    p.l1_replacement = l1, p.stlb_replacement = second;
    return p;
}

std::vector<Case> cases() {
    return {{"sandybridge", sandybridge()},
            {"haswell", haswell()},
            {"broadwell", broadwell()},
            {"twelve_ways", twelve_ways()},
            {"unified_l1", unified_l1()},
            {"no_stlb", no_stlb()},
            {"tree_plru", of_policies("tree-plru", "tree-plru")},
            {"srrip", of_policies("srrip", "srrip")},
            {"srrip_over_lru", of_policies("lru", "srrip")}};
}

INSTANTIATE_TEST_SUITE_P(Platforms, EnginesAgreeOn, ::testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

/// Every number of layouts that fills lanes in another way.
TEST(Lanes, AnyNumberOfLayoutsAgrees) {
    for (size_t layouts : {1u, 2u, 8u, 9u, 31u, 32u, 33u, 63u, 64u}) {
        SCOPED_TRACE(layouts);
        RandomInputs inputs(900 + layouts);
        MemoryStream stream = inputs.stream(1500);
        expect_agreement(tiny(unsigned(layouts)), stream, random_layouts(inputs, layouts), {});
    }
}

TEST(Lanes, OrderOfLayoutsChangesNothing) {
    RandomInputs inputs(5);
    MemoryStream stream = inputs.stream(10000);
    const auto layouts = random_layouts(inputs, 64);
    std::vector<size_t> order(layouts.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(9));
    std::vector<Layout> shuffled;
    for (size_t i : order) shuffled.push_back(layouts[i]);
    for (const char* engine : {"partial", "timing"}) {
        const auto a = simulate(engine, twelve_ways(), stream, layouts), b = simulate(engine, twelve_ways(), stream, shuffled);
        for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(a[order[i]], b[i]) << engine << " layout " << order[i];
    }
}

/// An execution of more accesses than a chunk is meant to have, and executions without any.
TEST(Lanes, OneExecutionMayHaveMoreAccessesThanAChunk) {
    StreamBuilder builder;
    const uint32_t copy = builder.independent_load(), arithmetic = builder.block({insn(trace::InsnKind::alu, reg(1), reg(1))}, {});
    std::mt19937_64 random(3);
    for (size_t accesses : {65535u, 0u, 2047u, 2049u}) {
        std::vector<uint64_t> addresses;
        for (size_t i = 0; i < accesses; ++i) addresses.push_back(heap_base + random() % (uint64_t{8} << 20));
        builder.run(copy, addresses, std::vector<uint8_t>(accesses));
        for (int i = 0; i < 5000; ++i) builder.run(arithmetic, {}, {});
    }
    MemoryStream stream = builder.finish();
    RandomInputs inputs(1);
    expect_agreement(tiny(1), stream, random_layouts(inputs, 3), {});
}

}  // namespace
}  // namespace tessera::sim::testing
