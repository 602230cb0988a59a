// resources_lanes.h - the resources of engine/reference_resources.h for all layouts of a pass.
//
// Queue positions depend on instruction and access counts only, so they are the same in every lane; times are lanes.
// All of them are views of the memory that group_lanes.h lays out.
#pragma once

#include "engine/timing/vec.h"

namespace tessera::sim::timing::TESSERA_ISA {

/// The last n values of a sequence.
template <unsigned parts>
struct History {
    using V = Vec<parts>;
    V *at, *begin, *end;
    CLOCK_MEMBER V oldest() const { return load(at); }
    CLOCK_MEMBER void push(V value) {
        store(at, value);
        ++at;
        at = at == end ? begin : at;
    }
};

/// Ports (PortRing in engine/reference_resources.h): when each was free, the one that was taken longest ago first.
template <unsigned parts>
struct Ports {
    using V = Vec<parts>;
    History<parts> ring;
    CLOCK_MEMBER bool exist() const { return ring.begin != ring.end; }
    /// When jobs that are dispatched at `dispatch` can begin.
    CLOCK_MEMBER V take(V dispatch) {
        const V free = ring.oldest();
        ring.push(max(free, dispatch) + broadcast<parts>(1));
        return free;
    }
};

/// Identical servers, kept sorted by when they are free: servers are alike, so only the sorted times matter.
template <unsigned parts>
struct Servers {
    using V = Vec<parts>;
    V* free;
    uint32_t count;
    CLOCK_MEMBER V first() const { return load(free); }
    /// In `lanes` the first server becomes free at `done` instead, which is not before first().
    CLOCK_MEMBER void take_until(V done, Mask<parts> lanes) {
        V at = load(free);
        const V value = select(lanes, done, at);  // elsewhere the first server takes its own place again
        for (uint32_t k = 0; k + 1 < count; ++k) {
            const V next = load(free + k + 1);
            store(free + k, max(at, min(next, value)));
            at = next;
        }
        store(free + count - 1, max(at, value));
    }
};

/// A rate limit a slot: each job takes `distance` cycles, booked from its instruction's dispatch on.
template <unsigned parts>
struct Rates {
    using V = Vec<parts>;
    V* next;
    uint32_t distance, queue, write_queue;  ///< queues: what prefetches may wait for, and write-backs
    /// When jobs that are ready at `ready` begin; books in `lanes`.
    CLOCK_MEMBER V demand(size_t slot, V ready, V dispatch, Mask<parts> lanes) {
        const V before = load(next + slot);
        store(next + slot, select(lanes, max(before, dispatch) + broadcast<parts>(distance), before));
        return max(ready, before);
    }
    CLOCK_MEMBER V prefetch(size_t slot, V ready, V dispatch, Mask<parts> lanes) {
        const V before = load(next + slot), limit = dispatch + broadcast<parts>(queue);
        book(slot, before, dispatch, limit, lanes);
        return max(ready, min(before, limit));
    }
    CLOCK_MEMBER void write_back(size_t slot, V dispatch, Mask<parts> lanes) {
        book(slot, load(next + slot), dispatch, dispatch + broadcast<parts>(write_queue), lanes);
    }

private:
    CLOCK_MEMBER void book(size_t slot, V before, V dispatch, V limit, Mask<parts> lanes) {
        store(next + slot, select(lanes, max(before, min(max(before, dispatch) + broadcast<parts>(distance), limit)), before));
    }
};

}  // namespace tessera::sim::timing::TESSERA_ISA
