// xsbench_data.h - synthetic nuclides, the unionized grid and the materials of xsbench.
//
// As XSBench does, energies and cross sections are random numbers, sorted per nuclide; unlike there, each grid
// spans all energies, since extrapolation can give negative cross sections. Everything is ordered as
// integers and becomes floating point once, when it is stored: emulators are slow at floating point.
// Materials have the nuclide counts of the Hoogenboom-Martin model: fuel 321 (small model: 34), the others
// 4 to 27 of the 34 nuclides that are not in the fuel.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/anonymous_array.h"
#include "xsbench.h"

namespace tessera::workloads::xsbench {

constexpr uint64_t kOtherNuclides = 34;  ///< in no fuel: 355 - 321 of the large model, 68 - 34 of the small one
inline constexpr std::array<uint32_t, 11> kOtherMaterials = {5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9};

inline double unit_interval(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

/// `nuclides` > kOtherNuclides; the fuel takes those that kOtherNuclides leaves.
inline Materials make_materials(uint64_t nuclides, uint64_t seed) {
    const uint64_t fuel = nuclides - kOtherNuclides;
    Materials materials(1);
    uint64_t number = 0;
    const auto density = [&] { return unit_interval(mix64(~seed, number++)); };
    for (uint32_t i = 0; i < fuel; ++i) materials[0].push_back({i, density()});
    for (const uint32_t count : kOtherMaterials) {
        std::vector<uint32_t> pool(kOtherNuclides);
        for (uint32_t i = 0; i < kOtherNuclides; ++i) pool[i] = static_cast<uint32_t>(fuel) + i;
        materials.emplace_back();
        for (uint32_t i = 0; i < count; ++i) {  // distinct ones: the front of a shuffle
            std::swap(pool[i], pool[i + below(mix64(~seed, number++), kOtherNuclides - i)]);
            materials.back().push_back({pool[i], density()});
        }
    }
    return materials;
}

struct UnionizedPoint {
    uint64_t energy;  ///< random bits; unit_interval() of it is the energy
    uint32_t nuclide;
};

struct SyntheticData {
    uint64_t nuclides, points;
    AnonymousArray<GridPoint> grid;
    AnonymousArray<double> energies;
    AnonymousArray<uint32_t> index;
    Materials materials;

    uint64_t bytes() const { return grid.bytes() + energies.bytes() + index.bytes(); }
    CrossSections view() const { return {nuclides, points, grid.data(), energies.data(), index.data(), materials}; }
};

/// Fills one nuclide's grid, and its points as unionized ones.
inline void fill_nuclide(uint64_t nuclide, uint64_t points, uint64_t seed, GridPoint* grid, UnionizedPoint* unionized) {
    uint64_t number = nuclide * points * (1 + kReactions);  // of the random stream that all nuclides share
    std::vector<uint64_t> sorted(points);
    for (uint64_t& energy : sorted) energy = mix64(seed, number++);
    std::ranges::sort(sorted);
    sorted.front() = 0;  // so that no lookup lies outside a nuclide's grid
    sorted.back() = UINT64_MAX;
    for (uint64_t point = 0; point < points; ++point) {
        unionized[point] = {sorted[point], static_cast<uint32_t>(nuclide)};
        grid[point].energy = unit_interval(sorted[point]);
        for (double& value : grid[point].cross_section) value = unit_interval(mix64(seed, number++));
    }
}

/// A total order: the energies 0 and 1 are in every nuclide's grid.
inline void sort_by_energy(AnonymousArray<UnionizedPoint>& all) {
    std::sort(all.data(), all.data() + all.size(), [](const UnionizedPoint& a, const UnionizedPoint& b) {
        return a.energy != b.energy ? a.energy < b.energy : a.nuclide < b.nuclide;
    });
}

/// Fills rows of the index. In the order of the energies, each point moves its own nuclide one further; the others stay.
/// `passed` counts each nuclide's points before the first row, and is advanced.
inline void fill_rows(const UnionizedPoint* order, uint64_t rows, uint64_t points, std::vector<uint32_t>& passed, double* energies,
                      uint32_t* index) {
    const uint64_t nuclides = passed.size();
    const auto last = static_cast<uint32_t>(points - 2);  // a next point follows it
    std::vector<uint32_t> current(nuclides);
    for (uint64_t nuclide = 0; nuclide < nuclides; ++nuclide)
        current[nuclide] = std::min(passed[nuclide] - (passed[nuclide] > 0 ? 1 : 0), last);
    for (uint64_t u = 0; u < rows; ++u) {
        const uint32_t nuclide = order[u].nuclide;
        current[nuclide] = std::min(passed[nuclide]++, last);
        energies[u] = unit_interval(order[u].energy);
        std::memcpy(index + u * nuclides, current.data(), nuclides * sizeof(uint32_t));
    }
}

/// `points` >= 2 and below 2^32.
inline SyntheticData make_data(uint64_t nuclides, uint64_t points, uint64_t seed) {
    const uint64_t all = nuclides * points;
    SyntheticData data{nuclides,
                       points,
                       AnonymousArray<GridPoint>("nuclide grids", all),
                       AnonymousArray<double>("unionized energies", all),
                       AnonymousArray<uint32_t>("unionized index", all * nuclides),
                       make_materials(nuclides, seed)};
    AnonymousArray<UnionizedPoint> order("points in order", all);
    for (uint64_t nuclide = 0; nuclide < nuclides; ++nuclide)
        fill_nuclide(nuclide, points, seed, data.grid.data() + nuclide * points, order.data() + nuclide * points);
    sort_by_energy(order);
    std::vector<uint32_t> passed(nuclides, 0);
    fill_rows(order.data(), all, points, passed, data.energies.data(), data.index.data());
    return data;
}

}  // namespace tessera::workloads::xsbench
