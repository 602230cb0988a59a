// xsbench_check.h - histories of xsbench recomputed without the unionized grid.
//
// The check searches every nuclide's own grid for every lookup and interpolates from the lower point, so sums differ
// from the kernel's in their last bits. The largest reaction, which decides the next step of the history, is the same
// unless two reactions are equal to 15 digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "xsbench.h"

namespace tessera::workloads::xsbench {

inline std::array<double, kReactions> macroscopic_by_nuclide(const CrossSections& data, const Lookup& lookup) {
    std::array<double, kReactions> sum{};
    for (const Part& part : data.materials[lookup.material]) {
        const auto grid = data.of_nuclide(part.nuclide);
        const auto above = std::ranges::upper_bound(grid, lookup.energy, {}, &GridPoint::energy);
        const auto at = std::clamp<std::ptrdiff_t>(above - grid.begin() - 1, 0, std::ssize(grid) - 2);
        const GridPoint &low = grid[at], &high = grid[at + 1];
        const double share = (lookup.energy - low.energy) / (high.energy - low.energy);
        for (unsigned r = 0; r < kReactions; ++r)
            sum[r] += part.density * (low.cross_section[r] * (1 - share) + high.cross_section[r] * share);
    }
    return sum;
}

inline History expected_history(const CrossSections& data, uint64_t particle, uint64_t lookups, uint64_t seed) {
    Flight flight(seed, particle);
    History history;
    for (uint64_t k = 0; k < lookups; ++k) flight.collide(macroscopic_by_nuclide(data, flight.next()), history);
    return history;
}

/// What is wrong with every `stride`-th history; empty if nothing is.
inline std::string complaint_about(const CrossSections& data, std::span<const History> histories, uint64_t lookups, uint64_t seed,
                                   uint64_t stride) {
    for (uint64_t particle = 0; particle < histories.size(); particle += stride) {
        const History expected = expected_history(data, particle, lookups, seed);
        const History& found = histories[particle];
        if (found.hash != expected.hash || !(std::abs(found.total - expected.total) <= 1e-9 * std::abs(expected.total)))
            return "history " + std::to_string(particle) + " has hash " + std::to_string(found.hash) + " and total " +
                   std::to_string(found.total) + ", expected " + std::to_string(expected.hash) + " and " + std::to_string(expected.total);
    }
    return {};
}

}  // namespace tessera::workloads::xsbench
