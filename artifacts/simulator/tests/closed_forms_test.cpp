// closed_forms_test.cpp - streams whose H, M and R can be computed by hand, on the paper's processors.
#include <gtest/gtest.h>

#include "support/engines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t pool = uint64_t{4} << 30;

/// `rounds` passes over the first `pages` 4KB pages of the heap, one load a page, as a dependent chain.
MemoryStream cyclic(uint64_t pages, uint64_t rounds, uint64_t stride = 4096) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t r = 0; r < rounds; ++r)
        for (uint64_t p = 0; p < pages; ++p) builder.load(block, heap_base + p * stride + p % 64 * 64);
    return builder.finish();
}

LayoutCounts under_4kb(const Platform& platform, MemoryStream& stream) { return on_all_engines(platform, stream, {all_4kb()})[0]; }

struct Chase {
    const char* name;
    Platform platform;
    uint64_t pages, cold_misses_only;
};

class CyclicChase : public ::testing::TestWithParam<Chase> {};

// LRU keeps a cycle that fits and keeps nothing of one that does not: probe both sides of each STLB's capacity.
TEST_P(CyclicChase, FitsOrThrashes) {
    const uint64_t rounds = 20;
    MemoryStream stream = cyclic(GetParam().pages, rounds);
    const LayoutCounts counts = under_4kb(GetParam().platform, stream);
    const uint64_t accesses = GetParam().pages * rounds;
    EXPECT_EQ(counts.stlb_misses, GetParam().cold_misses_only ? GetParam().pages : accesses);
    EXPECT_EQ(counts.stlb_hits, GetParam().cold_misses_only ? accesses - GetParam().pages : 0);
}

INSTANTIATE_TEST_SUITE_P(AroundCapacity, CyclicChase,
                         ::testing::Values(Chase{"sandybridge512", sandybridge(), 512, 1}, Chase{"sandybridge640", sandybridge(), 640, 0},
                                           Chase{"sandybridge800", sandybridge(), 800, 0}, Chase{"haswell800", haswell(), 800, 1},
                                           Chase{"haswell1024", haswell(), 1024, 1}, Chase{"haswell1152", haswell(), 1152, 0},
                                           Chase{"broadwell1536", broadwell(), 1536, 1}, Chase{"broadwell1792", broadwell(), 1792, 0}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Stride, SmallCyclesHitTheFirstLevel) {
    MemoryStream stream = cyclic(64, 10);
    const LayoutCounts counts = under_4kb(sandybridge(), stream);
    EXPECT_EQ(counts.stlb_misses, 64u);
    EXPECT_EQ(counts.stlb_hits, 0u);
}

TEST(Stride, PagesOfOneSetThrashTheFirstLevelOnly) {
    MemoryStream stream = cyclic(5, 10, 16 * 4096);  // five pages of one four-way L1 set
    const LayoutCounts counts = under_4kb(sandybridge(), stream);
    EXPECT_EQ(counts.stlb_misses, 5u);
    EXPECT_EQ(counts.stlb_hits, 45u);
}

TEST(LargePages, SandyBridgeWalksOnEveryFirstLevelMiss) {
    MemoryStream stream = cyclic(64, 10, 2 << 20);
    const std::vector<Layout> layouts = {all_of(PageSize::large_2mb, pool)};
    const LayoutCounts sandy = on_all_engines(sandybridge(), stream, layouts)[0];
    EXPECT_EQ(sandy.stlb_misses, 640u);
    EXPECT_EQ(sandy.stlb_hits, 0u);
    const LayoutCounts broad = on_all_engines(broadwell(), stream, layouts)[0];
    EXPECT_EQ(broad.stlb_misses, 64u);  // shared second level
    EXPECT_EQ(broad.stlb_hits, 576u);
}

TEST(LargePages, GigabytesOnBroadwellOnlyHaveASecondLevel) {
    StreamBuilder builder(uint64_t{16} << 30, pool);
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 10; ++round)
        for (uint64_t g = 0; g < 8; ++g) builder.load(block, heap_base + (g << 30));
    MemoryStream stream = builder.finish();
    const std::vector<Layout> layouts = {{"1gb", {window(trace::PoolKind::heap, PageSize::huge_1gb, 0, uint64_t{16} << 30)}}};
    EXPECT_EQ(on_all_engines(haswell(), stream, layouts)[0].stlb_misses, 80u);
    const LayoutCounts broad = on_all_engines(broadwell(), stream, layouts)[0];
    EXPECT_EQ(broad.stlb_misses, 8u);
    EXPECT_EQ(broad.stlb_hits, 72u);
}

TEST(Runtime, IndependentMissesOverlapAndChasesDoNot) {
    StreamBuilder independent, chasing;
    const uint32_t a = independent.independent_load(), b = chasing.chasing_load();
    std::mt19937_64 random(3);
    for (int i = 0; i < 50000; ++i) {
        const uint64_t address = heap_base + random() % (uint64_t{1} << 30) / 8 * 8;
        independent.load(a, address);
        chasing.load(b, address);
    }
    MemoryStream x = independent.finish(), y = chasing.finish();
    for (const Layout& layout : {all_4kb(), all_of(PageSize::large_2mb, pool)}) {
        const LayoutCounts fast = on_all_engines(broadwell(), x, {layout})[0], slow = on_all_engines(broadwell(), y, {layout})[0];
        EXPECT_EQ(fast.stlb_misses, slow.stlb_misses);
        EXPECT_EQ(fast.units[0].walk_cycles, slow.units[0].walk_cycles);
        EXPECT_GT(slow.units[0].runtime_cycles, 2 * fast.units[0].runtime_cycles);
    }
}

TEST(Runtime, TwoWalkersLetWalkCyclesExceedRuntime) {
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    std::mt19937_64 random(4);
    for (int i = 0; i < 50000; ++i) builder.load(block, heap_base + random() % pool / 8 * 8);
    MemoryStream stream = builder.finish();
    Platform two = broadwell(), one = broadwell();
    one.walkers = 1;
    const UnitCounts with_two = under_4kb(two, stream).units[0], with_one = under_4kb(one, stream).units[0];
    EXPECT_EQ(with_two.walk_cycles, with_one.walk_cycles);
    EXPECT_GT(with_two.walk_cycles, with_two.runtime_cycles);
    EXPECT_LE(with_one.walk_cycles, with_one.runtime_cycles);
}

TEST(Runtime, AChainOfAdditionsTakesACycleEach) {
    StreamBuilder builder;
    const uint32_t block = builder.block({insn(trace::InsnKind::alu, reg(1), reg(1))}, {});
    for (int i = 0; i < 100000; ++i) builder.run(block, {}, {});
    MemoryStream stream = builder.finish();
    EXPECT_EQ(under_4kb(haswell(), stream).units[0].runtime_cycles, 100000u);
}

}  // namespace
}  // namespace tessera::sim::testing
