// numa_test.cpp - page tables and data on other nodes (cache/memory_node.h): closed forms, and what placement must not change.
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t pool = uint64_t{4} << 30, page = 4096;

/// The machine of Mitosis (section 8): 280 and 580 cycles, a line in 5 and 13 cycles; the hog makes a load wait 140 x 5 = 700 cycles.
Platform local() {
    Platform p = haswell();
    p.memory_load_cycles = 280, p.memory_cycles_per_line = 5;
    return p;
}

Platform placed(Platform p, uint64_t tables, uint64_t data, uint64_t hog_lines = 0) {
    p.numa = {2, tables, data, 1, 580, 13, hog_lines};
    return p;
}

struct Config {
    const char* name;
    uint64_t tables, data, hog_lines, table_cycles, data_cycles;
};
/// Table 2 of the paper.
const Config configs[] = {
    {"LP-LD", 0, 0, 0, 280, 280},     {"LP-RD", 0, 1, 0, 280, 580}, {"LP-RDI", 0, 1, 140, 280, 1280},   {"RP-LD", 1, 0, 0, 580, 280},
    {"RPI-LD", 1, 0, 140, 1280, 280}, {"RP-RD", 1, 1, 0, 580, 580}, {"RPI-RDI", 1, 1, 140, 1280, 1280},
};

Platform placed(const Config& c) { return placed(local(), c.tables, c.data, c.hog_lines); }

/// A chase of `count` loads, eight pages and a line apart: each walk reads a new line of entries, and each load a new line of data.
MemoryStream chase(uint64_t count) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t i = 0; i < count; ++i) builder.load(block, heap_base + i * (8 * page + 64));
    return builder.finish();
}

uint64_t runtime(const LayoutCounts& counts) { return counts.units[0].runtime_cycles; }

// Accesses 9 to 56 of a region of 2MB miss nothing else (the PDE is cached, no line is there already): each takes the look-up, one
// leaf entry and one line: 560, 860, 1160 or 1560 cycles and 7.
TEST(Numa, DependentLoadsAddUpTheLatenciesOfTheirNodes) {
    MemoryStream few = chase(8), many = chase(56);
    for (const Config& c : configs) {
        SCOPED_TRACE(c.name);
        const LayoutCounts a = on_all_engines(placed(c), few, {all_4kb()})[0], b = on_all_engines(placed(c), many, {all_4kb()})[0];
        EXPECT_EQ(b.walker[3] - a.walker[3], 48u);
        EXPECT_EQ(b.program[3] - a.program[3], 48u);
        EXPECT_EQ(runtime(b) - runtime(a), 48 * (local().stlb_hit_cycles + c.table_cycles + c.data_cycles));
    }
}

TEST(Numa, WalkCyclesAreTheFormulaAndNothingElseChanges) {
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    std::mt19937_64 random(23);
    for (int i = 0; i < 20000; ++i) builder.load(block, heap_base + random() % pool);
    MemoryStream stream = builder.finish();
    const std::vector<Layout> layouts = {all_4kb(), all_of(PageSize::large_2mb, pool)};
    const auto base = on_all_engines(local(), stream, layouts);
    for (const Config& c : configs) {
        SCOPED_TRACE(c.name);
        auto found = on_all_engines(placed(c), stream, layouts);
        for (size_t i = 0; i < layouts.size(); ++i) {
            EXPECT_EQ(found[i].units[0].walk_cycles, base[i].units[0].walk_cycles + base[i].walker[3] * (c.table_cycles - 280));
            EXPECT_EQ(found[i].walk_cycles, found[i].units[0].walk_cycles);
            found[i].walk_cycles = found[i].units[0].walk_cycles = base[i].units[0].walk_cycles;
            found[i].units[0].runtime_cycles = base[i].units[0].runtime_cycles;
            EXPECT_EQ(found[i], base[i]);
        }
        if (c.tables + c.data == 0) {
            EXPECT_EQ(on_all_engines(placed(c), stream, layouts), base);
        }
    }
    EXPECT_GT(base[0].walker[3], 15000u);
}

/// Lines in a row under 2MB pages, with so many MSHRs that only the rate limits them. Runtime of 4096 lines more.
uint64_t streamed(Platform p) {
    p.mshrs = 64;
    const auto lines = [](uint64_t count) {
        StreamBuilder builder;
        const uint32_t block = builder.independent_load();
        for (uint64_t i = 0; i < count; ++i) builder.load(block, heap_base + i * 64);
        return builder.finish();
    };
    MemoryStream few = lines(4096), many = lines(8192);
    const Layout large = all_of(PageSize::large_2mb, pool);
    return runtime(on_all_engines(p, many, {large})[0]) - runtime(on_all_engines(p, few, {large})[0]);
}

TEST(Numa, IndependentLoadsTakeTheRateOfTheirNode) {
    EXPECT_EQ(streamed(placed(local(), 0, 0)), 4096u * 5);
    EXPECT_EQ(streamed(placed(local(), 1, 0)), 4096u * 5);
    EXPECT_EQ(streamed(placed(local(), 0, 1)), 4096u * 13);
    EXPECT_EQ(streamed(placed(local(), 1, 1)), 4096u * 13);
}

/// Random components and programs, with walks in memory's queues in half of them.
class NumaOnRandomPlatforms : public ::testing::TestWithParam<uint64_t> {
protected:
    NumaOnRandomPlatforms() : inputs_(GetParam()), platform_(inputs_.platform()), stream_(inputs_.stream(3000)) {
        for (size_t i = 0; i < 3; ++i) layouts_.push_back(inputs_.layout(i));
    }
    Platform with(Numa numa) const {
        Platform p = platform_;
        p.numa = numa;
        return p;
    }
    std::vector<LayoutCounts> run(const Platform& p) { return simulate("timing", p, stream_, layouts_); }

    RandomInputs inputs_;
    Platform platform_;
    MemoryStream stream_;
    std::vector<Layout> layouts_;
};

TEST_P(NumaOnRandomPlatforms, EnginesAgree) {
    on_all_engines(with({2, 1, 0, 1, platform_.memory_load_cycles + 300, platform_.memory_cycles_per_line + 8, 90}), stream_, layouts_);
    on_all_engines(with({4, 0, 3, 0, platform_.memory_load_cycles + 70, platform_.memory_cycles_per_line + 3, 10}), stream_, layouts_);
}

TEST_P(NumaOnRandomPlatforms, ANodeForAllIsAMachineWithItsMemory) {
    const uint64_t cycles = platform_.memory_load_cycles + 300, a_line = platform_.memory_cycles_per_line + 8;
    const auto remote = run(with({2, 1, 1, 0, cycles, a_line, 0}));
    Platform one_node = platform_;
    one_node.memory_load_cycles = cycles, one_node.memory_cycles_per_line = a_line;
    EXPECT_EQ(remote, run(one_node));
    EXPECT_EQ(run(with({2, 0, 0, 1, cycles, a_line, 50})), run(platform_)) << "nobody uses the node with the hog";
}

TEST_P(NumaOnRandomPlatforms, NamesOfNodesDoNotMatter) {
    const uint64_t cycles = platform_.memory_load_cycles + 300;
    EXPECT_EQ(run(with({2, 1, 0, 1, cycles, 30, 20})), run(with({4, 3, 0, 3, cycles, 30, 20})));
}

INSTANTIATE_TEST_SUITE_P(Seeds, NumaOnRandomPlatforms, ::testing::Range<uint64_t>(0, 12));

}  // namespace
}  // namespace tessera::sim::testing
