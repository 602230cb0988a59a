// timetable.h - the input of network_simplex: a day of timetabled trips, to be served by the fewest vehicles.
//
// Single-depot vehicle scheduling as a minimum-cost flow, the problem that MCF (Loebel, "Vehicle scheduling in
// public transit and Lagrangean pricing", 1998) solves: each trip has an end node that offers its vehicle
// (supply 1) and a start node that needs one (supply -1). A vehicle goes on to a later trip by a deadhead arc (cost:
// minutes of driving and of waiting), or back to the depot; one that comes from the depot costs kVehicleCost
// more. There is always a solution: one vehicle per trip.
// Trips are numbered at random, as lines of a timetable are, not in the order of time.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "common/rng.h"
#include "network_simplex.h"

namespace tessera::workloads {

struct Timetable {
    static constexpr int64_t kDayMinutes = 24 * 60 * 64;  ///< in 64ths of a minute, so that starts differ
    static constexpr int64_t kSide = 40 * 64;             ///< the city is a square with sides of 40 minutes' drive
    static constexpr int64_t kVehicleCost = 100 * 60 * 64;
    static constexpr int64_t kWindowMinutes = 120 * 64;   ///< a vehicle waits no longer for its next trip

    uint64_t trips;
    uint64_t deadheads;  ///< candidates drawn per trip
    uint64_t seed;

    struct Trip {
        int64_t begin, end;
        int64_t from_x, from_y, to_x, to_y;
    };

    uint64_t draw(uint64_t rank, uint64_t what, uint64_t n) const { return below(mix64(seed + what, rank), n); }

    /// The trip that starts as the `rank`-th of the day.
    Trip trip(uint64_t rank) const {
        const auto side = [&](uint64_t what) { return static_cast<int64_t>(draw(rank, what, kSide)); };
        const int64_t begin = static_cast<int64_t>(rank * static_cast<uint64_t>(kDayMinutes) / trips);
        return {begin, begin + 64 * (10 + static_cast<int64_t>(draw(rank, 5, 80))), side(1), side(2), side(3), side(4)};
    }

    /// Minutes (64ths) of driving from the end of one trip to the start of the other.
    static int64_t drive(const Trip& from, const Trip& to) { return std::abs(from.to_x - to.from_x) + std::abs(from.to_y - to.from_y); }

    uint64_t nodes() const { return 2 * trips + 1; }
    uint64_t depot() const { return 2 * trips; }
    uint64_t most_arcs() const { return trips * (deadheads + 2); }

    /// Calls make(tail, head, cost) for each arc, in the order of the trips' numbers. `rank_of`: trip -> rank,
    /// `number_of`: its inverse.
    template <class Make>
    void arcs(const AnonymousArray<uint32_t>& rank_of, const AnonymousArray<uint32_t>& number_of, Make&& make) const {
        const uint64_t window = std::max<uint64_t>(trips * kWindowMinutes / kDayMinutes, 1);
        for (uint64_t number = 0; number < trips; ++number) {
            const uint64_t rank = rank_of[number];
            const Trip here = trip(rank);
            make(depot(), trips + number, kVehicleCost + here.from_x + here.from_y);
            make(number, depot(), here.to_x + here.to_y);
            // The first rank that starts when this trip has ended; later ones are drawn from the window behind.
            const uint64_t first = (static_cast<uint64_t>(here.end) * trips + kDayMinutes - 1) / kDayMinutes;
            for (uint64_t k = 0; k < deadheads; ++k) {
                const uint64_t next = first + draw(rank, 16 + k, window);
                if (next >= trips) continue;
                const Trip there = trip(next);
                const int64_t driving = drive(here, there), idle = there.begin - here.end;
                if (driving <= idle) make(number, trips + number_of[next], 2 * driving + (idle - driving));
            }
        }
    }

    /// A random numbering of the ranks: `rank_of` and `number_of`, of `trips` elements each.
    void shuffle(AnonymousArray<uint32_t>& rank_of, AnonymousArray<uint32_t>& number_of) const {
        for (uint64_t i = 0; i < trips; ++i) rank_of[i] = static_cast<uint32_t>(i);
        for (uint64_t i = trips - 1; i > 0; --i) std::swap(rank_of[i], rank_of[draw(i, 6, i + 1)]);
        for (uint64_t i = 0; i < trips; ++i) number_of[rank_of[i]] = static_cast<uint32_t>(i);
    }

    /// The network of this timetable, ready for start().
    NetworkSimplex network() const {
        AnonymousArray<uint32_t> rank_of("ranks", trips), number_of("numbers", trips);
        shuffle(rank_of, number_of);
        uint64_t count = 0;
        arcs(rank_of, number_of, [&](uint64_t, uint64_t, int64_t) { ++count; });
        NetworkSimplex network(nodes(), count);
        for (uint64_t i = 0; i < nodes(); ++i) network.node(i).supply = i < trips ? 1 : i < 2 * trips ? -1 : 0;
        uint64_t a = 0;
        arcs(rank_of, number_of, [&](uint64_t tail, uint64_t head, int64_t cost) { network.set_arc(a++, tail, head, 1, cost); });
        return network;
    }
};

}  // namespace tessera::workloads
