// prepared_xsbench.h - the grids of xsbench in a prepared file. It depends on the model, the grid points and the seed.
//
// Each thread fills nuclides, then blocks of rows of the index; the index, 96% of the file, is never in memory. The first
// row of each block is compared with every nuclide's own grid, which shares nothing with how rows are filled.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "common/parallel.h"
#include "common/preparation.h"
#include "xsbench_data.h"

namespace tessera::workloads::xsbench {

inline Shape grid_shape(uint64_t nuclides, uint64_t points, uint64_t seed) {
    return {{"input", "xsbench"},
            {"nuclides", std::to_string(nuclides)},
            {"gridpoints", std::to_string(points)},
            {"seed", std::to_string(seed)}};
}

inline uint64_t most_grid_bytes(uint64_t nuclides, uint64_t points) {
    return nuclides * points * (sizeof(GridPoint) + sizeof(double) + nuclides * sizeof(uint32_t)) * 1001 / 1000 + (1 << 20);
}

inline SyntheticData load_data(const PreparedFile& file, uint64_t nuclides, uint64_t points, uint64_t seed) {
    const uint64_t all = nuclides * points;
    auto grid = file.load<GridPoint>("nuclide grids", "grids", all);
    auto energies = file.load<double>("unionized energies", "energies", all);
    auto index = file.load<uint32_t>("unionized index", "index", all * nuclides);
    return {nuclides, points, std::move(grid), std::move(energies), std::move(index), make_materials(nuclides, seed)};
}

/// Whether a row of the index has, for each nuclide, the grid point whose span contains the row's energy.
inline bool row_is_right(const AnonymousArray<GridPoint>& grid, uint64_t points, double energy, const uint32_t* row, uint64_t nuclides) {
    for (uint64_t nuclide = 0; nuclide < nuclides; ++nuclide) {
        const uint64_t at = row[nuclide];
        const GridPoint* own = grid.data() + nuclide * points;
        if (at + 1 >= points || own[at].energy > energy) return false;
        if (at + 2 < points && own[at + 1].energy < energy) return false;  // equal: energies that rounding made equal
    }
    return true;
}

inline void prepare_data(Preparation& preparation, uint64_t nuclides, uint64_t points, uint64_t seed) {
    const uint64_t all = nuclides * points;
    preparation.writer.lay_out(
        {{"grids", sizeof(GridPoint), all}, {"energies", sizeof(double), all}, {"index", sizeof(uint32_t), all * nuclides}});
    AnonymousArray<GridPoint> grid("nuclide grids", all);
    AnonymousArray<UnionizedPoint> order("points in order", all);
    claim_in_parallel(preparation.threads, nuclides, [&](uint64_t nuclide) {
        fill_nuclide(nuclide, points, seed, grid.data() + nuclide * points, order.data() + nuclide * points);
        preparation.writer.write(0, nuclide * points, grid.data() + nuclide * points, points);
    });
    sort_by_energy(order);

    constexpr uint64_t kRows = 1024;  // of a block
    const uint64_t blocks = (all + kRows - 1) / kRows;
    std::vector<uint32_t> passed(nuclides, 0), before;  // `before`: what is passed where each block begins
    before.reserve(blocks * nuclides);
    for (uint64_t u = 0; u < all; ++u) {
        if (u % kRows == 0) before.insert(before.end(), passed.begin(), passed.end());
        ++passed[order[u].nuclide];
    }
    std::atomic<uint64_t> wrong{0};
    claim_in_parallel(preparation.threads, blocks, [&](uint64_t block) {
        const uint64_t first = block * kRows, rows = std::min(kRows, all - first);
        std::vector<uint32_t> state(before.begin() + static_cast<ptrdiff_t>(block * nuclides),
                                    before.begin() + static_cast<ptrdiff_t>((block + 1) * nuclides));
        std::vector<double> energies(rows);
        std::vector<uint32_t> index(rows * nuclides);
        fill_rows(order.data() + first, rows, points, state, energies.data(), index.data());
        if (!row_is_right(grid, points, energies[0], index.data(), nuclides)) ++wrong;
        preparation.writer.write(1, first, energies.data(), rows);
        preparation.writer.write(2, first * nuclides, index.data(), index.size());
    });
    if (wrong != 0)
        preparation.complaint =
            std::to_string(wrong) + " of " + std::to_string(blocks) + " rows compared have a grid point that does not contain their energy";
}

}  // namespace tessera::workloads::xsbench
