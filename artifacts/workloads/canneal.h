// canneal.h - the kernel of canneal: simulated annealing of a netlist by swaps of two elements' places.
//
// canneal of PARSEC (Bienia, "Benchmarking Modern Multiprocessors", PhD thesis, Princeton 2011, section 2.4):
// elements of a chip sit on a grid; the routing cost is the sum of the Manhattan distances of all
// connections. A step swaps two random elements and keeps the swap if the cost falls, or else with
// Boltzmann's probability exp(-increase / temperature); the temperature falls by 1.5 after a number of steps.
// Encoding as there: an element points to its place and to the elements that it is connected with, so a
// neighbour's distance costs three dependent loads. All arithmetic is in integers: exp(-d / T) > u for a
// uniform u is d < -T ln u, and -ln u comes from a table.
// Unlike PARSEC, a connection between the two swapped elements is left out of the difference, as its
// length does not change; so the sum of the differences is exact, and the verifier can demand it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads::canneal {

struct Place {
    int32_t x, y;
};

struct Cell {  ///< an element of the netlist
    const Place* place;
    Cell** neighbours;  ///< fan-in and fan-out
    uint64_t degree;
};

inline int64_t distance(const Place& a, const Place& b) { return std::abs(int64_t{a.x} - b.x) + std::abs(int64_t{a.y} - b.y); }

/// By how much the cost of a's connections grows if it moves to b's place and b to its.
inline int64_t cost_of_moving(const Cell& a, const Cell& b) {
    const Place from = *a.place, to = *b.place;
    int64_t difference = 0;
    for (uint64_t i = 0; i < a.degree; ++i) {
        const Cell* neighbour = a.neighbours[i];
        if (neighbour == &b) continue;
        const Place there = *neighbour->place;
        difference += distance(there, to) - distance(there, from);
    }
    return difference;
}

/// -ln u for u in the middle of 4096 equal parts of (0, 1), in units of 2^-16.
class Boltzmann {
public:
    static constexpr unsigned kBits = 12;

    Boltzmann() : minus_log_(size_t{1} << kBits) {
        for (size_t i = 0; i < minus_log_.size(); ++i)
            minus_log_[i] = static_cast<uint32_t>(-std::log((i + 0.5) / minus_log_.size()) * 65536);
    }

    /// True with probability exp(-increase / (temperature / 2^16)), for an increase >= 0.
    bool accepts(int64_t increase, uint64_t temperature, uint64_t random) const {
        return static_cast<uint64_t>(increase) << 32 < temperature * minus_log_[random >> (64 - kBits)];
    }

private:
    std::vector<uint32_t> minus_log_;
};

struct Schedule {
    uint64_t temperatures;           ///< how often the temperature falls
    uint64_t swaps_per_temperature;  ///< tried
    uint64_t start_temperature;      ///< units of cost; below 2^28
};

struct Annealed {
    uint64_t accepted = 0;
    int64_t cost_difference = 0;
};

/// Two cells or more.
TESSERA_KERNEL inline Annealed anneal(Cell* cells, uint64_t count, const Schedule& schedule, const Boltzmann& boltzmann, uint64_t seed) {
    Lcg64 draws(seed);
    Annealed done;
    uint64_t temperature = schedule.start_temperature << 16;
    uint64_t b = below(draws.next(), count);
    for (uint64_t step = 0; step < schedule.temperatures; ++step, temperature = temperature / 3 * 2) {
        for (uint64_t k = 0; k < schedule.swaps_per_temperature; ++k) {
            const uint64_t a = b;  // one of a pair stays for the next, as in PARSEC
            b = below(draws.next(), count - 1);
            b += b >= a;
            const int64_t difference = cost_of_moving(cells[a], cells[b]) + cost_of_moving(cells[b], cells[a]);
            const uint64_t random = draws.next();
            if (difference >= 0 && !boltzmann.accepts(difference, temperature, random)) continue;
            const Place* place = cells[a].place;
            cells[a].place = cells[b].place;
            cells[b].place = place;
            ++done.accepted;
            done.cost_difference += difference;
        }
    }
    return done;
}

}  // namespace tessera::workloads::canneal
