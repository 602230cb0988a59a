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
    CrossSections view() const {
        return {nuclides, points, grid.data(), energies.data(), index.data(), materials};
    }
};

/// Fills the nuclides' grids; returns the points of all of them, in the order of their energies.
inline AnonymousArray<UnionizedPoint> fill_grid(SyntheticData& data, uint64_t seed) {
    AnonymousArray<UnionizedPoint> all("points in order", data.nuclides * data.points);
    std::vector<uint64_t> sorted(data.points);
    uint64_t number = 0;
    for (uint64_t nuclide = 0; nuclide < data.nuclides; ++nuclide) {
        for (uint64_t& energy : sorted) energy = mix64(seed, number++);
        std::ranges::sort(sorted);
        sorted.front() = 0;  // so that no lookup lies outside a nuclide's grid
        sorted.back() = UINT64_MAX;
        for (uint64_t point = 0; point < data.points; ++point) {
            const uint64_t at = nuclide * data.points + point;
            all[at] = {sorted[point], static_cast<uint32_t>(nuclide)};
            data.grid[at].energy = unit_interval(sorted[point]);
            for (double& value : data.grid[at].cross_section) value = unit_interval(mix64(seed, number++));
        }
    }
    std::sort(all.data(), all.data() + all.size(),
              [](const UnionizedPoint& a, const UnionizedPoint& b) { return a.energy < b.energy; });
    return all;
}

/// In the order of the energies, each point moves its own nuclide one further; the others stay.
inline void fill_index(SyntheticData& data, const AnonymousArray<UnionizedPoint>& all) {
    std::vector<uint32_t> current(data.nuclides, 0), passed(data.nuclides, 0);
    for (uint64_t u = 0; u < all.size(); ++u) {
        const uint32_t nuclide = all[u].nuclide;
        current[nuclide] = static_cast<uint32_t>(std::min<uint64_t>(passed[nuclide]++, data.points - 2));
        data.energies[u] = unit_interval(all[u].energy);
        std::memcpy(&data.index[u * data.nuclides], current.data(), data.nuclides * sizeof(uint32_t));
    }
}

/// `points` >= 2 and below 2^32.
inline SyntheticData make_data(uint64_t nuclides, uint64_t points, uint64_t seed) {
    const uint64_t all = nuclides * points;
    SyntheticData data{nuclides, points, AnonymousArray<GridPoint>("nuclide grids", all),
                       AnonymousArray<double>("unionized energies", all),
                       AnonymousArray<uint32_t>("unionized index", all * nuclides),
                       make_materials(nuclides, seed)};
    fill_index(data, fill_grid(data, seed));
    return data;
}

}  // namespace tessera::workloads::xsbench
