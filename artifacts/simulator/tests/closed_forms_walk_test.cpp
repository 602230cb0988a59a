// closed_forms_walk_test.cpp - streams whose walk cycles and serving levels can be computed by hand.
#include "support/engines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t pool = uint64_t{4} << 30;

using Levels = std::array<uint64_t, 4>;

Levels operator-(const Levels& a, const Levels& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]}; }

TEST(WalkCycles, AColdWalkReadsFourEntriesAndAWarmOneOne) {
    Platform p = haswell();
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    builder.load(block, heap_base);                // four loads from memory
    builder.load(block, heap_base + 16 * 4096);    // same table page, another line of it: PDE cached
    MemoryStream stream = builder.finish();
    for (const uint64_t levels : {4, 5}) {
        p.page_table_levels = levels;
        const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
        EXPECT_EQ(counts.units[0].walk_cycles, (levels + 1) * p.memory_load_cycles);
        EXPECT_EQ(counts.walker, (Levels{0, 0, 0, levels + 1}));
    }
}

// Each walk takes walker.begin_cycles once, however many entries it reads; R shows it because the loads are a chain.
TEST(WalkCycles, EachWalkTakesTheBeginCyclesOnce) {
    Platform p = haswell();
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    builder.load(block, heap_base);              // four entries from memory
    builder.load(block, heap_base + 16 * 4096);  // one: the PDE is cached
    builder.load(block, heap_base + 17 * 4096);  // one, in L1D
    builder.load(block, heap_base + 17 * 4096);  // a hit: no walk
    MemoryStream stream = builder.finish();
    const LayoutCounts without = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(without.units[0].walk_cycles, 5 * p.memory_load_cycles + p.l1d.load_cycles);
    p.walker_begin_cycles = 29;
    const LayoutCounts with = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(with.units[0].walk_cycles, 3 * 29 + 5 * p.memory_load_cycles + p.l1d.load_cycles);
    EXPECT_EQ(with.units[0].runtime_cycles, without.units[0].runtime_cycles + 3 * 29);
    EXPECT_EQ(with.walker, without.walker);
}

// Forty blocks in three code pages: each page walks once, and the data's page too. R shows two of the four: the first fetch's, which
// stops dispatch, and the data's. The walks of the other two code pages end while the data's line is still coming from memory.
TEST(WalkCycles, WalksOfCodePagesTakeThemToo) {
    Platform p = haswell();
    p.l1i = {4, 4};
    StreamBuilder builder;
    uint32_t blocks[40];
    for (uint32_t& block : blocks) block = builder.independent_load();  // 256 bytes apart: three code pages, the first from 0x400000
    for (const uint32_t block : blocks) builder.load(block, heap_base);
    MemoryStream stream = builder.finish();
    const LayoutCounts without = on_all_engines(p, stream, {all_4kb()})[0];
    p.walker_begin_cycles = 29;
    const LayoutCounts with = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(with.instruction_stlb_misses, 3u);
    EXPECT_EQ(with.instruction_walk_cycles, without.instruction_walk_cycles + 3 * 29);
    EXPECT_EQ(with.units[0].walk_cycles, without.units[0].walk_cycles + 29);
    EXPECT_EQ(with.units[0].runtime_cycles, without.units[0].runtime_cycles + 2 * 29);
}

// A chase over P = 4096 pages, one line a page: line p mod 64 of page p. Haswell's STLB (128 sets x 8) sees 32 pages a set and
// misses always. The pages lie in 8 regions of 2MB, one in each set of the PDE cache, so that a walk reads one PTE. Per warm round:
//  - A line holds 8 PTEs. Seven of eight walks find theirs in L1D, where the walk before put it. The first finds it gone: a round
//    brings 8 PTE lines and 64 data lines to each of 64 sets x 8 ways.
//  - L2 (512 sets x 8) sees what misses L1D. Data lines have numbers 64 p + p mod 64, which is 64 (p mod 8) + p mod 64 modulo 512: 64 lines
//    in each of 64 sets, nothing in the others. The 512 PTE lines (8 tables in successive frames) lie one in each set. So
//    448 of them stay in L2; the 64 that share a set with data, and all data, are gone.
//  - L3 (24576 = 64 x 384 sets x 20) sees at most 11 data lines a set and keeps everything.
TEST(WalkCycles, APageStrideChaseHasExactlyTheLevelsOfItsGeometry) {
    const Platform p = haswell();
    const auto rounds = [&](int count) {
        StreamBuilder builder;
        const uint32_t block = builder.chasing_load();
        for (int round = 0; round < count; ++round)
            for (uint64_t page = 0; page < 4096; ++page) builder.load(block, heap_base + page * 4096 + page % 64 * 64);
        MemoryStream stream = builder.finish();
        return on_all_engines(p, stream, {all_4kb(), all_of(PageSize::large_2mb, pool)});
    };
    const auto two = rounds(2), three = rounds(3);
    EXPECT_EQ(three[0].stlb_misses, 3 * 4096u);
    EXPECT_EQ(three[0].walker - two[0].walker, (Levels{3584, 448, 64, 0}));
    EXPECT_EQ(three[0].units[0].walk_cycles - two[0].units[0].walk_cycles,
              3584 * p.l1d.load_cycles + 448 * p.l2.load_cycles + 64 * p.l3.load_cycles);
    EXPECT_EQ(three[0].program - two[0].program, (Levels{0, 0, 4096, 0}));
    EXPECT_EQ(three[1].stlb_misses, 8u);  // 2MB pages: eight walks in all
    EXPECT_EQ(three[1].units[0].walk_cycles, two[1].units[0].walk_cycles);
}

// The lines of hierarchy_test.cpp's SlicedL3, through engines: L1D and L2 have one set for all of them.
TEST(SlicedL3, AStrideOf32KBStaysOnEveryEngine) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 2; ++round)
        for (uint64_t i = 0; i < 1920; ++i) builder.load(block, heap_base + i * 32768);
    MemoryStream stream = builder.finish();
    for (const uint64_t slices : {0, 8, 12}) {
        Platform p = haswell();
        p.l3_slices = slices;
        for (const LayoutCounts& counts : on_all_engines(p, stream, {all_4kb(), all_of(PageSize::huge_1gb, pool)}))
            EXPECT_EQ(counts.program, slices == 0 ? (Levels{0, 0, 0, 3840}) : (Levels{0, 0, 1920, 1920})) << slices;
    }
}

// Without walk caches each walk reads four entries; their lines were read by the walk before and are in L1D.
TEST(WalkCycles, WithoutWalkCachesEveryLevelIsRead) {
    Platform p = haswell();
    p.pwc_pde = p.pwc_pdpte = p.pwc_pml4e = {};
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t page = 0; page < 8; ++page) builder.load(block, heap_base + page * 4096);  // PTEs of one line
    MemoryStream stream = builder.finish();
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.walker, (Levels{28, 0, 0, 4}));
    EXPECT_EQ(counts.units[0].walk_cycles, 28 * p.l1d.load_cycles + 4 * p.memory_load_cycles);
}

// 4096 lines, eight in each of L2's 512 sets, just fill it; page-table lines of walks push some of them out.
MemoryStream fills_l2() {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 6; ++round)
        for (uint64_t p = 0; p < 4096; ++p) builder.load(block, heap_base + p * 4096 + p / 8 % 64 * 64);
    return builder.finish();
}

TEST(Pollution, PageTablesEvictProgramData) {
    MemoryStream stream = fills_l2();
    const auto counts = on_all_engines(haswell(), stream, {all_4kb(), all_of(PageSize::huge_1gb, pool)});
    EXPECT_LE(counts[1].program[2] + counts[1].program[3], 4096u + 64);  // cold misses, and one walk's lines
    EXPECT_GT(counts[0].program[2] + counts[0].program[3], counts[1].program[2] + counts[1].program[3]);
}

TEST(Pollution, WithoutItTheProgramMissesTheSameInEveryLayoutAndCStays) {
    MemoryStream stream = fills_l2();
    Platform p = haswell();
    const std::vector<Layout> layouts = {all_4kb(), all_of(PageSize::large_2mb, pool), all_of(PageSize::huge_1gb, pool)};
    const auto polluted = on_all_engines(p, stream, layouts);
    p.walker_pollutes = 0;
    const auto clean = on_all_engines(p, stream, layouts);
    for (size_t i = 0; i < layouts.size(); ++i) {
        EXPECT_EQ(clean[i].program, (Levels{0, 5 * 4096, 0, 4096}));  // six rounds, the first cold
        EXPECT_EQ(clean[i].units[0].walk_cycles, polluted[i].units[0].walk_cycles);
        EXPECT_EQ(clean[i].walker, polluted[i].walker);
    }
}

}  // namespace
}  // namespace tessera::sim::testing
