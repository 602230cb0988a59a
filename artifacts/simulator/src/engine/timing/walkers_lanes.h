// walkers_lanes.h - the page walkers (Walkers in engine/reference_resources.h) for all layouts of a pass.
//
// idle_begin and idle_end hold the idle intervals that walks can still use, sorted by end in each lane. Most programs leave few: where no
// lane's last one ends late enough, the search is skipped.
#pragma once

#include "engine/timing/config.h"
#include "engine/timing/resources_lanes.h"

namespace tessera::sim::timing::TESSERA_ISA {

template <unsigned parts>
struct LaneWalkers {
    using V = Vec<parts>;
    using M = Mask<parts>;
    Servers<parts> servers;
    V *idle_begin, *idle_end;

    /// When walks that are ready at `ready` are done, in `lanes`.
    CLOCK_MEMBER V serve(V ready, V duration, M lanes) {
        V done = ready + duration;
        if (servers.count == 0) return done;
        const V room = max(duration, broadcast<parts>(1));
        if (any(lanes & at_most(ready + room, load(idle_end + idle_intervals - 1)))) lanes = use_idle(ready, duration, room, lanes, done);
        const V free = servers.first(), begin = max(ready, free);
        done = select(lanes, begin + duration, done);
        servers.take_until(done, lanes);
        const M waits = without(lanes, at_most(ready, free));
        if (any(waits)) remember(free, begin, waits);
        return done;
    }

private:
    /// Returns the lanes that found none.
    CLOCK_MEMBER M use_idle(V ready, V duration, V room, M lanes, V& done) {
        for (unsigned k = 0; k < idle_intervals; ++k) {
            const V from = load(idle_begin + k), begin = max(ready, from);
            const M fits = lanes & at_most(begin + room, load(idle_end + k));
            done = select(fits, begin + duration, done);
            store(idle_begin + k, select(fits, done, from));
            lanes = without(lanes, fits);
        }
        return lanes;
    }

    /// Interval k moves one down where the new one ends no earlier than k + 1 does, and the new one takes the place that is left.
    CLOCK_MEMBER void remember(V begin, V end, M lanes) {
        V to_begin = load(idle_begin), to_end = load(idle_end);
        lanes = lanes & at_most(to_end, end);
        for (unsigned k = 0; k < idle_intervals; ++k) {
            const bool last = k + 1 == idle_intervals;
            const V next_begin = last ? begin : load(idle_begin + k + 1), next_end = last ? end : load(idle_end + k + 1);
            const M shifts = last ? mask_of<parts>(0) : lanes & at_most(next_end, end);
            const M lands = without(lanes, shifts);
            store(idle_begin + k, select(shifts, next_begin, select(lands, begin, to_begin)));
            store(idle_end + k, select(shifts, next_end, select(lands, end, to_end)));
            lanes = shifts;
            to_begin = next_begin;
            to_end = next_end;
        }
    }
};

}  // namespace tessera::sim::timing::TESSERA_ISA
