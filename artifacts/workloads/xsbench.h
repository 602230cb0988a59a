// xsbench.h - the kernel of xsbench: macroscopic cross sections for random energies and materials.
//
// XSBench (Tramm, Siegel, Islam, Schulz, PHYSOR 2014), the lookups that dominate Monte Carlo neutron
// transport. A particle of energy E in a material needs, for each nuclide of the material, five microscopic
// cross sections, interpolated between the two grid points around E and weighted by the nuclide's density.
// The unionized grid holds the energies of all nuclides in order and, for each of them, every nuclide's grid
// point: one binary search serves all nuclides.
// A history is a particle's chain of lookups: where it goes next depends on what it finds (as in the
// history-based form; one lookup a history is the event-based form, where all lookups are independent).
// Encoding: energies in [0, 1); index row u has, for each nuclide, the last grid point at or below energy u,
// and never the last of all, so that there is a next one.
// Not modelled: the hash and nuclide-only grids of later versions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads::xsbench {

constexpr unsigned kReactions = 5;  ///< total, elastic, absorption, fission, nu-fission

struct GridPoint {
    double energy;
    double cross_section[kReactions];
};

struct Part {  ///< of a material
    uint32_t nuclide;
    double density;
};

using Materials = std::vector<std::vector<Part>>;

/// Hoogenboom-Martin reactor: per mille of lookups in each of the materials (their sum is 1001: rounding).
inline constexpr std::array<uint32_t, 12> kMaterialShare = {140, 52, 275, 134, 154, 64, 66, 55, 8, 15, 25, 13};

struct CrossSections {
    uint64_t nuclides;
    uint64_t points;          ///< per nuclide
    const GridPoint* grid;    ///< [nuclide][point], energies ascending
    const double* energies;   ///< [nuclides * points], ascending
    const uint32_t* index;    ///< [nuclides * points][nuclides]
    const Materials& materials;

    std::span<const GridPoint> of_nuclide(uint64_t nuclide) const { return {grid + nuclide * points, points}; }
};

struct Lookup {
    double energy;
    uint32_t material;
};

/// What a history found: which reaction was largest in each lookup, hashed, and the sum of the totals.
struct History {
    uint64_t hash = 0;
    double total = 0;
};

/// The random numbers of a history: they choose the next lookup and depend on results.
class Flight {
public:
    Flight(uint64_t seed, uint64_t particle) : numbers_(mix64(seed, particle)) {}

    Lookup next() {
        const double energy = static_cast<double>(numbers_.next() >> 11) * 0x1p-53;
        uint64_t draw = below(numbers_.next(), 1001);
        uint32_t material = 0;
        while (draw >= kMaterialShare[material]) draw -= kMaterialShare[material++];
        return {energy, material};
    }

    /// Books a result; the largest reaction decides how many numbers are skipped.
    void collide(const std::array<double, kReactions>& macroscopic, History& history) {
        const auto largest = static_cast<uint64_t>(std::ranges::max_element(macroscopic) - macroscopic.begin());
        for (uint64_t i = 0; i < largest; ++i) numbers_.next();
        history.hash = (history.hash + largest + 1) * 0x9e3779b97f4a7c15u;
        history.total += macroscopic[0];
    }

private:
    Lcg64 numbers_;
};

/// Last index of an ascending array whose value is at or below `energy`; 0 if none is.
inline uint64_t search(const double* energies, uint64_t count, double energy) {
    uint64_t low = 0;
    while (count > 1) {
        const uint64_t half = count / 2;
        if (energies[low + half] <= energy) low += half;
        count -= half;
    }
    return low;
}

inline std::array<double, kReactions> macroscopic(const CrossSections& data, const Lookup& lookup) {
    const uint64_t row = search(data.energies, data.nuclides * data.points, lookup.energy);
    const uint32_t* index = data.index + row * data.nuclides;
    std::array<double, kReactions> sum{};
    for (const Part& part : data.materials[lookup.material]) {
        const GridPoint* low = data.grid + part.nuclide * data.points + index[part.nuclide];
        const GridPoint* high = low + 1;
        const double back = (high->energy - lookup.energy) / (high->energy - low->energy);
        for (unsigned r = 0; r < kReactions; ++r) {
            const double step = high->cross_section[r] - low->cross_section[r];
            sum[r] += part.density * (high->cross_section[r] - back * step);
        }
    }
    return sum;
}

TESSERA_KERNEL inline void follow_histories(const CrossSections& data, History* histories, uint64_t count, uint64_t lookups,
                                            uint64_t seed) {
    for (uint64_t particle = 0; particle < count; ++particle) {
        Flight flight(seed, particle);
        History history;
        for (uint64_t k = 0; k < lookups; ++k) flight.collide(macroscopic(data, flight.next()), history);
        histories[particle] = history;
    }
}

}  // namespace tessera::workloads::xsbench
