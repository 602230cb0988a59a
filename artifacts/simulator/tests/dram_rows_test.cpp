// dram_rows_test.cpp - counts of what loads find in memory's row buffers: by hand, against loads from memory, and as a file of tessera-sim.
#include <gtest/gtest.h>

#include "cli_fixture.h"
#include "engine/estimate.h"
#include "support/engines.h"
#include "support/random_inputs.h"
#include "support/random_woven.h"

namespace tessera::sim::testing {
namespace {

DramRows of(const Counts& counts, DramAsker asker) { return counts.rows.of[size_t(asker)]; }
uint64_t sum(const DramRows& rows) { return rows.hits + rows.closed + rows.conflicts; }

/// Loads of these lines of the heap.
MemoryStream loads(const std::vector<uint64_t>& lines) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (const uint64_t line : lines) builder.load(block, heap_base + line * 64);
    return builder.finish();
}

// Two lines a row, two banks: lines 0,1 | 2,3 | 4,5 are bank 0 row 0, bank 1 row 0, bank 0 row 1. The second load of line 0 hits L1D.
TEST(DramRows, OfTheProgramByHand) {
    Platform p = haswell();
    p.dram = {1, 2, 128, 50, 60, 8};
    MemoryStream stream = loads({0, 1, 4, 2, 3, 0, 5, 8});
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(of(counts, DramAsker::program), (DramRows{3, 2, 2}));  // 1, 3, 5; 0, 2; 4, 8
    EXPECT_EQ(of(counts, DramAsker::walk), DramRows());  // not in memory's queues
    EXPECT_EQ(of(counts, DramAsker::prefetch), DramRows());
    p.dram = {};
    EXPECT_EQ(on_all_engines(p, stream, {all_4kb()})[0].rows, DramCounts());
}

// One bank with rows of 1MB: the four tables of the first walk are in one, the pages of data in another. The first walk finds no row, then
// its own three times. The page eight pages on has its entry in another line of the leaf table, and its upper levels in the walk caches.
TEST(DramRows, OfWalksByHand) {
    Platform p = haswell();
    p.dram = {1, 1, 1 << 20, 50, 60, 8};
    p.dram_queues_walks = 1;
    MemoryStream stream = loads({0, 8 * 64});
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(of(counts, DramAsker::walk), (DramRows{3, 1, 1}));
    EXPECT_EQ(of(counts, DramAsker::program), (DramRows{0, 0, 2}));
    p.numa = {2, 1, 0, 0, 300, 4, 0};  // tables on another node, which has banks of its own
    const LayoutCounts apart = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(of(apart, DramAsker::walk), (DramRows{4, 1, 0}));
    EXPECT_EQ(of(apart, DramAsker::program), (DramRows{1, 1, 0}));
}

TEST(DramRows, OfPrefetchesByHand) {
    Platform p = haswell();
    p.dram = {1, 1, 1 << 20, 50, 60, 8};
    p.prefetch_l1d = {"example-next-line", 1, 1, 1};
    MemoryStream stream = loads({0, 2, 4});
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(of(counts, DramAsker::program), (DramRows{2, 1, 0}));
    EXPECT_EQ(of(counts, DramAsker::prefetch), (DramRows{3, 0, 0}));
}

/// Each load from memory finds a row in one of the three ways, on all instruction sets and numbers of layouts (engines_agree_test.cpp compares
/// the engines).
TEST(DramRows, AreAllLoadsFromMemory) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        RandomInputs random(seed + 7100);
        Platform p = random.platform();
        p.l1i = {};
        p.dram = {1 + random.below(3), 1 + random.below(5), 256, 40, 50, 1 + random.below(9)};
        MemoryStream stream = random.stream(5000);
        for (const LayoutCounts& counts : simulate("timing", p, stream, {all_4kb(), random.layout(1), random.layout(2)},
                                                   seed % 2 ? Sampling{false, 3, 300, 200} : Sampling{})) {
            EXPECT_EQ(sum(of(counts, DramAsker::program)), counts.program[3]) << seed;
            EXPECT_EQ(sum(of(counts, DramAsker::walk)), p.dram_queues_walks ? counts.walker[3] : 0) << seed;
            EXPECT_GT(of(counts, DramAsker::program).conflicts, 0u) << seed;
        }
    }
}

TEST(DramRows, OfTheKernelAreApart) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        RandomWoven random(seed + 50, 1500);
        Platform p = haswell();
        p.allocator = "mapped", p.mmu_design = seed % 2 ? "conventional" : "thp";
        p.dram = {2, 4, 512, 20, 30, 4}, p.dram_queues_walks = 1;
        const LayoutCounts counts = on_all_engines(p, random.woven, {random.layout})[0];
        EXPECT_EQ(sum(of(counts, DramAsker::program)), counts.program[3]);
        EXPECT_EQ(sum(of(counts, DramAsker::walk)), counts.walker[3]);
        EXPECT_EQ(sum(of(counts.kernel, DramAsker::program)), counts.kernel.program[3]);
        EXPECT_EQ(sum(of(counts.kernel, DramAsker::walk)), counts.kernel.walker[3]);
        EXPECT_GT(sum(counts.kernel.rows.all()), 0u);
    }
}

TEST(DramRows, AreNotCountedUnlessAskedFor) {
    Platform p = haswell();
    p.dram = {1, 2, 128, 50, 60, 8};
    MemoryStream stream = loads({0, 1, 4});
    const SamplePlan plan({}, stream.header());
    for (const char* engine : {"reference", "timing"}) {
        const LayoutCounts counts = simulate(engine, p, stream, {all_4kb()}, plan, 0, false)[0];
        EXPECT_EQ(counts.rows, DramCounts()) << engine;
        EXPECT_GT(counts.units[0].runtime_cycles, 600u);
    }
}

class DramRowsFile : public CliFixture {};

TEST_F(DramRowsFile, HasARowForEachKindOfLoad) {
    Platform p = haswell();
    p.dram = {1, 2, 128, 50, 60, 8};
    p.dram_queues_walks = 1;
    file("rows.flat", flat(p));
    file("none.flat", flat(haswell()));
    write_layouts("layouts", 3);
    const std::string rest = " --layouts " + path("layouts") + " --dram-rows-out " + path("r");
    const auto written = [&](const std::string& platform, const std::string& engine, const std::string& plan) {
        const Output o = run("run --trace " + path("trace.tst") + " --engine " + engine + " --platform " + path(platform) + rest + plan);
        EXPECT_EQ(o.status, 0) << o.err;
        return read_text(path("r"), "rows");
    };
    const std::string timing = written("rows.flat", "timing", "");
    const auto found = lines(timing);
    EXPECT_EQ(found.at(0), "layout,kind,hits,closed,conflicts");
    ASSERT_EQ(found.size(), 1 + 3 * 3u);
    const char* const kinds[] = {"program", "walk", "prefetch"};
    for (size_t i = 1; i < found.size(); ++i) EXPECT_EQ(split(found[i], ',').at(1), kinds[(i - 1) % 3]);
    EXPECT_EQ(written("rows.flat", "reference", ""), timing);
    EXPECT_EQ(written("none.flat", "timing", ""), "layout,kind,hits,closed,conflicts\n");
    const Output refused =
        run("run --trace " + path("trace.tst") + " --engine partial --platform " + path("rows.flat") + rest + " --sampling tlbs");
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("--dram-rows-out with --engine partial and --sampling tlbs"), std::string::npos) << refused.err;
}

/// Half of the instructions are timed: counts double. With unequal weights they are not known.
TEST(DramRows, AreScaledByInstructions) {
    LayoutCounts counts;
    counts.units.resize(1);
    counts.units[0].instructions = 50;
    counts.rows.of[size_t(DramAsker::program)] = {3, 2, 1};
    counts.kernel.rows.of[size_t(DramAsker::program)] = {4, 0, 7};
    counts.kernel.rows.of[size_t(DramAsker::walk)] = {1, 0, 0};
    Platform p = haswell();
    p.dram = {1, 2, 128, 50, 60, 8};
    trace::Header header;
    header.instructions = 100;
    const SamplePlan full({}, header);
    EXPECT_EQ(format_dram_rows(p, all_4kb(), counts, header, full, true),
              "growing-0,program,6,4,2\ngrowing-0,prefetch,0,0,0\ngrowing-0,kernel,10,0,14\n");
    p.dram_queues_walks = 1;
    counts.rows.of[size_t(DramAsker::walk)] = {5, 6, 7};
    EXPECT_EQ(format_dram_rows(p, all_4kb(), counts, header, full, false),
              "growing-0,program,6,4,2\ngrowing-0,walk,10,12,14\ngrowing-0,prefetch,0,0,0\n");
}

}  // namespace
}  // namespace tessera::sim::testing
