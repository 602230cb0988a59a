// plan_test.cpp - the passes of a run, and the cells that share a stage in one.
#include "engine/plan.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

using Lists = std::vector<std::vector<size_t>>;

struct Pass {
    const char* name;
    size_t layouts;
    PassLimits limits;
    size_t together;
};

class LayoutsOfAPass : public ::testing::TestWithParam<Pass> {};

TEST_P(LayoutsOfAPass, GiveEachThreadWork) { EXPECT_EQ(layouts_of_a_pass(GetParam().layouts, GetParam().limits), GetParam().together); }

INSTANTIATE_TEST_SUITE_P(Cases, LayoutsOfAPass,
                         ::testing::Values(Pass{"one_thread", 55, {1, 0, 64, true}, 64}, Pass{"clock_is_split", 55, {2, 0, 64, true}, 32},
                                           Pass{"no_clock", 55, {2, 0, 64, false}, 64}, Pass{"no_clock_many", 130, {4, 0, 64, false}, 64},
                                           Pass{"clock_four", 55, {4, 0, 64, true}, 16}, Pass{"narrow_engine", 55, {1, 0, 16, true}, 16},
                                           Pass{"more_threads_than_layouts", 2, {8, 0, 64, true}, 16},
                                           Pass{"asked", 55, {2, 10, 64, true}, 10}, Pass{"asked_too_much", 55, {1, 900, 64, true}, 64},
                                           Pass{"unlimited_engine", 200, {1, 0, SIZE_MAX, true}, 64},
                                           Pass{"nothing", 0, {2, 0, 64, false}, 64}),
                         [](const auto& info) { return std::string(info.param.name); });

class PlanTest : public ::testing::Test {
protected:
    /// Of the lanes. Platforms of one page-walk cache have one stage; they differ in what only time depends on.
    const Platform* lanes(uint32_t pde_entries) {
        Platform& platform = made_.emplace_back(haswell());
        platform.pwc_pde.entries = platform.pwc_pde.ways = pde_entries;
        platform.frequency_hz += made_.size();
        return &platform;
    }
    const Platform* other() {
        Platform& platform = made_.emplace_back(haswell());
        platform.mmu_design = "noop";
        return &platform;
    }
    std::vector<const Layout*> layouts(size_t count) {
        std::vector<const Layout*> list;
        for (size_t i = 0; i < count; ++i) list.push_back(&layouts_.emplace_back(all_4kb()));
        return list;
    }

    std::deque<Platform> made_;
    std::deque<Layout> layouts_;
};

TEST_F(PlanTest, VariantsOfTheLanesHavePassesOfTheirOwnAndTheOthersShare) {
    auto list = layouts(5);
    list[2] = nullptr;
    const Passes found = passes_of({other(), lanes(4), other()}, list, false, {1, 2, 64, false});
    ASSERT_EQ(found.cells.size(), 15u);
    EXPECT_EQ(found.cells[0].variant, 1u);
    EXPECT_EQ(found.cells[4].layout, 4u);
    EXPECT_EQ(found.cells[5].variant, 0u);
    EXPECT_EQ(found.cells[6].variant, 2u);
    EXPECT_EQ(found.cells[6].layout, 0u);
    EXPECT_EQ(found.passes, (Lists{{0, 1}, {3, 4}, {5, 6, 7, 8}, {11, 12, 13, 14}}));
    // 64 cells at most: three layouts under twenty variants.
    std::vector<const Platform*> twenty;
    for (int i = 0; i < 20; ++i) twenty.push_back(other());
    const Passes many = passes_of(twenty, layouts(7), false, {1, 0, 64, false});
    ASSERT_EQ(many.passes.size(), 3u);
    EXPECT_EQ(many.passes[0].size(), 60u);
    EXPECT_EQ(many.passes[2].size(), 20u);
}

TEST_F(PlanTest, UnderMappingsNoVariantIsOnTheLanes) {
    const Passes found = passes_of({lanes(4), other()}, layouts(2), true, {1, 0, 64, true});
    EXPECT_EQ(found.passes, (Lists{{0, 1, 2, 3}}));
    EXPECT_EQ(found.cells[1].variant, 1u);
}

TEST_F(PlanTest, VariantsOfOneStageShareTheirPasses) {
    const Passes found = passes_of({lanes(4), lanes(8), lanes(4)}, layouts(3), false, {1, 2, 64, true});
    ASSERT_EQ(found.cells.size(), 9u);
    EXPECT_EQ(found.cells[3].variant, 1u);
    EXPECT_EQ(found.passes, (Lists{{0, 1, 6, 7}, {2, 8}, {3, 4}, {5}}));
    // A pass for each of two threads.
    const Passes halves = passes_of({lanes(4), lanes(4), lanes(4), lanes(4), lanes(4)}, layouts(1), false, {2, 0, 64, true});
    EXPECT_EQ(halves.passes, (Lists{{0, 1, 2}, {3, 4}}));
    // Variants that do not run on the lanes, or not at all, have no part in that.
    std::vector<const Platform*> variants(12);
    for (size_t i = 0; i < 12; ++i) variants[i] = i == 5 ? nullptr : i > 0 && i < 5 ? lanes(4) : other();
    EXPECT_EQ(passes_of(variants, layouts(1), false, {2, 0, 64, true}).passes, (Lists{{0, 1}, {2, 3}, {4, 6, 7, 8, 9, 10, 11}}));
}

TEST_F(PlanTest, AVariantThatIsRefusedHasCellsButNoPass) {
    const Passes found = passes_of({lanes(4), nullptr, lanes(4)}, layouts(2), false, {1, 0, 64, true});
    EXPECT_EQ(found.passes, (Lists{{0, 1, 2, 3}}));
    EXPECT_EQ(found.cells[4].variant, 1u);
}

TEST_F(PlanTest, APassHasAStageForEachSetOfCellsThatShareOne) {
    using Path = StageCells::Path;
    const Platform *first = lanes(4), *same = lanes(4), *wider = lanes(8), *any = other();
    const auto list = layouts(2);
    std::vector<Cell> cells;
    for (const Platform* platform : {first, any, same, wider})
        for (const Layout* layout : list) cells.push_back({platform, layout});
    const std::vector<size_t> all_but_one = {0, 1, 2, 4, 5, 6, 7};
    const auto check = [&](const std::vector<StageCells>& found, Path of_other) {
        ASSERT_EQ(found.size(), 3u);
        EXPECT_EQ(found[0].path, of_other);
        EXPECT_EQ(found[0].cells, std::vector<size_t>{2});
        EXPECT_EQ(found[1].path, Path::lanes);
        EXPECT_EQ(found[1].platforms, (std::vector<const Platform*>{first, same}));
        EXPECT_EQ(found[1].cells, (std::vector<size_t>{0, 1, 4, 5}));
        EXPECT_EQ(found[2].cells, (std::vector<size_t>{6, 7}));
    };
    check(stages_of(cells, all_but_one, false), Path::any_design);
    check(stages_of(cells, all_but_one, true), Path::tlbs);
}

TEST_F(PlanTest, WithoutUnitsOneStageHasTheCellsOfALayoutWithEqualEvents) {
    Platform with_l1i = haswell();
    with_l1i.mmu_design = "noop";
    with_l1i.l1i.entries = with_l1i.l1i.ways = with_l1i.l1i.entries == 0 ? 8 : 0;
    const Platform *one = other(), *two = other();
    const auto list = layouts(2);
    const std::vector<Cell> cells = {{one, list[0]}, {two, list[1]}, {two, list[0]}, {&with_l1i, list[0]}};
    const auto found = stages_of(cells, {0, 1, 2, 3}, true);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].cells, (std::vector<size_t>{0, 2}));
    EXPECT_EQ(found[0].platforms, (std::vector<const Platform*>{one, two}));
    EXPECT_EQ(found[1].cells, std::vector<size_t>{1});
    EXPECT_EQ(found[2].cells, std::vector<size_t>{3});
}

}  // namespace
}  // namespace tessera::sim::testing
