// xsbench: search and interpolation by hand, the unionized grid's promise, materials, and the oracle.
#include "xsbench.h"

#include <gtest/gtest.h>

#include <set>

#include "xsbench_check.h"
#include "xsbench_data.h"

using namespace tessera::workloads;
using namespace tessera::workloads::xsbench;

namespace {

TEST(Search, FindsTheLastAtOrBelow) {
    const double energies[] = {0.1, 0.2, 0.2, 0.5, 0.9};
    for (const auto& [energy, at] :
         {std::pair<double, uint64_t>{0.05, 0}, {0.1, 0}, {0.19, 0}, {0.2, 2}, {0.4, 2}, {0.5, 3}, {0.89, 3}, {0.9, 4}, {1, 4}})
        EXPECT_EQ(search(energies, 5, energy), at) << energy;
    EXPECT_EQ(search(energies, 1, 0.7), 0u);
}

// One nuclide with two points: the lookup lies a quarter of the way, and the density is 2.
TEST(Macroscopic, InterpolatesByHand) {
    const GridPoint grid[] = {{0.2, {1, 2, 3, 4, 8}}, {0.6, {5, 2, 7, 0, 16}}};
    const double energies[] = {0.2, 0.6};
    const uint32_t index[] = {0, 0};
    const Materials materials = {{{0, 2.0}}};
    const CrossSections data{1, 2, grid, energies, index, materials};
    const double expected[] = {4, 4, 8, 6, 20};
    for (unsigned r = 0; r < kReactions; ++r) {
        EXPECT_DOUBLE_EQ(macroscopic(data, {0.3, 0})[r], expected[r]);
        EXPECT_DOUBLE_EQ(macroscopic_by_nuclide(data, {0.3, 0})[r], expected[r]);
    }
}

TEST(Materials, HaveTheCountsOfHoogenboomMartin) {
    uint64_t total = 0;
    for (const uint64_t nuclides : {68u, 355u}) {
        const Materials materials = make_materials(nuclides, 1);
        ASSERT_EQ(materials.size(), kMaterialShare.size());
        EXPECT_EQ(materials[0].size(), nuclides == 355 ? 321u : 34u);
        for (const auto& material : materials) {
            std::set<uint32_t> distinct;
            for (const Part& part : material) {
                EXPECT_LT(part.nuclide, nuclides);
                distinct.insert(part.nuclide);
            }
            EXPECT_EQ(distinct.size(), material.size());
            total += material.size();
        }
    }
    EXPECT_EQ(total, 321u + 34 + 2 * (5 + 4 + 4 + 27 + 5 * 21 + 2 * 9));
}

TEST(Flight, DrawsMaterialsByTheirShares) {
    std::array<int, 12> drawn{};
    for (uint64_t particle = 0; particle < 100000; ++particle) {
        const Lookup lookup = Flight(1, particle).next();
        EXPECT_TRUE(lookup.energy >= 0 && lookup.energy < 1);
        ++drawn[lookup.material];
    }
    for (size_t i = 0; i < drawn.size(); ++i)  // five standard deviations
        EXPECT_NEAR(drawn[i], kMaterialShare[i] * 1e5 / 1001, 5 * std::sqrt(kMaterialShare[i] * 1e2)) << i;
}

TEST(UnionizedGrid, EveryRowHasEachNuclidesPointAtThatEnergy) {
    const SyntheticData synthetic = make_data(40, 7, 2);
    const CrossSections data = synthetic.view();
    for (uint64_t u = 0; u < 40 * 7; ++u) {
        EXPECT_TRUE(u == 0 || data.energies[u - 1] <= data.energies[u]);
        for (uint64_t nuclide = 0; nuclide < 40; ++nuclide) {
            uint64_t at = 0;  // the slow way
            while (at + 2 < 7 && data.of_nuclide(nuclide)[at + 1].energy <= data.energies[u]) ++at;
            EXPECT_EQ(data.index[u * 40 + nuclide], at) << u << " " << nuclide;
        }
    }
}

TEST(NuclideGrids, SpanAllEnergiesWithPositiveCrossSections) {
    const SyntheticData synthetic = make_data(68, 5, 1);
    for (uint64_t nuclide = 0; nuclide < 68; ++nuclide) {
        const auto grid = synthetic.view().of_nuclide(nuclide);
        EXPECT_EQ(grid.front().energy, 0);
        EXPECT_EQ(grid.back().energy, 1 - 0x1p-53);  // the largest energy of a lookup
    }
    for (uint64_t particle = 0; particle < 2000; ++particle)
        for (const double sum : macroscopic(synthetic.view(), Flight(1, particle).next())) EXPECT_GT(sum, 0);
}

TEST(Histories, AgreeWithTheOracleInBothForms) {
    const SyntheticData synthetic = make_data(68, 50, 4);
    const CrossSections data = synthetic.view();
    for (const uint64_t lookups : {1u, 34u}) {
        std::vector<History> histories(200);
        follow_histories(data, histories.data(), histories.size(), lookups, 3);
        EXPECT_EQ(complaint_about(data, histories, lookups, 3, 1), "");
        EXPECT_NE(complaint_about(data, histories, lookups, 4, 1), "");
        histories[150].total *= 1 + 1e-6;
        EXPECT_NE(complaint_about(data, histories, lookups, 3, 1), "");
        EXPECT_EQ(complaint_about(data, histories, lookups, 3, 100), "");  // looks at 0 and 100 only
    }
}

TEST(Histories, AWrongIndexShows) {
    SyntheticData synthetic = make_data(68, 50, 4);
    for (uint64_t u = 0; u < 68 * 50; ++u) synthetic.index[u * 68 + 3] = 0;  // a nuclide of the fuel
    const CrossSections data = synthetic.view();
    std::vector<History> histories(200);
    follow_histories(data, histories.data(), histories.size(), 34, 3);
    EXPECT_NE(complaint_about(data, histories, 34, 3, 1), "");
}

}  // namespace
