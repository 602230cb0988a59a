// deferred_sets.h - queues references to an array, one short queue per set, until a set has enough of them.
//
// Sets are independent, so only the order within a set matters. A batch of references of a set moves the set's rows from
// memory to registers and back only once. Before any code reads outcomes, counts or rows, it must process the queue of the
// set.
#pragma once

#include "engine/lanes/byte_counters.h"
#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Hits and misses of an array, a lane.
struct Tally {
    LaneCounter hits, misses;
};

/// References to one set in program order, by one-byte names.
struct alignas(64) Deferred {
    static constexpr unsigned room = 32;
    uint64_t lanes[room];
    uint8_t name[room];
};

class DeferredSets {
public:
    explicit DeferredSets(uint64_t sets) : waiting_(sets), count_(sets) {}

    struct View {
        Deferred* waiting;
        uint32_t* count;
        /// False, and nothing has happened, when the set's queue is full.
        LANES_INLINE_MEMBER bool add(uint32_t name, uint32_t set, uint64_t lanes) const {
            const uint32_t at = count[set];
            if (__builtin_expect(at == Deferred::room, 0)) return false;
            waiting[set].lanes[at] = lanes;
            waiting[set].name[at] = uint8_t(name);
            count[set] = at + 1;
            return true;
        }
    };
    View view() { return {waiting_.data(), count_.data()}; }

    bool is_full(uint32_t set) const { return count_[set] == Deferred::room; }
    unsigned count(uint32_t set) const { return count_[set]; }
    const Deferred& waiting(uint32_t set) const { return waiting_[set]; }
    void clear(uint32_t set) { count_[set] = 0; }

private:
    Array<Deferred> waiting_;  ///< [set]
    Array<uint32_t> count_;    ///< [set]
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
