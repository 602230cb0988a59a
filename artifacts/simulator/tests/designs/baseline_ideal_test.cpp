// baseline_ideal_test.cpp - the designs baseline, thp and ideal against the conventional design and closed forms.
#include <gtest/gtest.h>

#include "support/engines.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t pool = uint64_t{4} << 30;

Platform with_design(Platform p, const char* name) {
    p.mmu_design = name;
    return p;
}

TEST(BaselineAndIdeal, ThpIsTheConventionalDesignBitForBit) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 7000);
        const Platform platform = random.platform();
        MemoryStream stream = random.stream(4000);
        const std::vector<Layout> layouts = {all_4kb(), random.layout(1), random.layout(2)};
        const Sampling sampling = seed % 3 == 2 ? Sampling{false, 3, 300, 200} : Sampling{};
        const auto thp = on_all_engines(with_design(platform, "thp"), stream, layouts, sampling);
        EXPECT_EQ(thp, on_all_engines(with_design(platform, "noop"), stream, layouts, sampling));
        EXPECT_EQ(thp, simulate("timing", with_design(platform, "conventional"), stream, layouts, sampling));
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(BaselineAndIdeal, BaselineSees4kbPagesInEveryLayout) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 7100);
        const Platform platform = random.platform();
        MemoryStream stream = random.stream(4000);
        const auto small = simulate("timing", with_design(platform, "conventional"), stream, {all_4kb()});
        const auto baseline =
            on_all_engines(with_design(platform, "baseline"), stream, {all_4kb(), random.layout(1), all_of(PageSize::huge_1gb, pool)});
        for (const LayoutCounts& counts : baseline) EXPECT_EQ(counts, small[0]);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(BaselineAndIdeal, IdealHasNoTranslationInAnyLayout) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 7200);
        MemoryStream stream = random.stream(4000);
        const auto all = on_all_engines(with_design(random.platform(), "ideal"), stream,
                                        {all_4kb(), random.layout(1), all_of(PageSize::large_2mb, pool)});
        const LayoutCounts& first = all[0];
        EXPECT_EQ(first.stlb_hits + first.stlb_misses + first.units[0].stlb_misses + first.units[0].walk_cycles, 0u);
        EXPECT_EQ(first.instruction_stlb_misses + first.instruction_walk_cycles, 0u);
        EXPECT_EQ(first.walker, (std::array<uint64_t, 4>{}));
        EXPECT_EQ(first.program[0] + first.program[1] + first.program[2] + first.program[3], stream.header().accesses);
        for (const LayoutCounts& counts : all) EXPECT_EQ(counts, first);
    }
}

// A chase over ten lines of one page. The conventional design walks once; its four loads come from memory. The walk delays the
// first load, and each load waits for the one before it. So R differs by one look-up and one walk.
TEST(BaselineAndIdeal, IdealSavesTheLookUpAndTheWalk) {
    const Platform p = haswell();
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t line = 0; line < 10; ++line) builder.load(block, heap_base + 1024 + line * 64);
    MemoryStream stream = builder.finish();
    const LayoutCounts conventional = on_all_engines(p, stream, {all_4kb()})[0];
    const LayoutCounts ideal = on_all_engines(with_design(p, "ideal"), stream, {all_4kb()})[0];
    EXPECT_EQ(conventional.units[0].walk_cycles, 4 * p.memory_load_cycles);
    EXPECT_EQ(conventional.program, ideal.program);
    EXPECT_EQ(conventional.units[0].runtime_cycles - ideal.units[0].runtime_cycles, p.stlb_hit_cycles + 4 * p.memory_load_cycles);
}

}  // namespace
}  // namespace tessera::sim::testing
