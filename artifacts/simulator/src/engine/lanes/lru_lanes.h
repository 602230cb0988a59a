// lru_lanes.h - an LRU array for sixteen layouts: tag[set][way][lane], ways in recency order.
//
// Serves as TLB and as page-walk cache. A reference moves its tag to the front in the lanes of a mask; what each
// way held moves one way down until the lane's old copy is met, so a miss needs no second step: the last way
// falls out. Tags are unique non-zero 32-bit names.
#pragma once

#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LruLanes {
public:
    explicit LruLanes(const Geometry& g) : ways_(unsigned(g.ways)), index_(g.sets()), tags_(g.entries) {}

    unsigned ways() const { return ways_; }
    const SetIndex& index() const { return index_; }

    /// References `tag` in the lanes of `pending`; returns the lanes that missed.
    LANES_INLINE_MEMBER Mask reference(uint64_t number, uint32_t tag, Mask pending) {
        V* way = tags_.data() + size_t{index_(number)} * ways_;
        switch (ways_) {  // the associativities that occur, unrolled without branches
            case 0: return pending;
            case 4: return move_to_front<4>(way, tag, pending);
            case 6: return move_to_front<6>(way, tag, pending);
            case 8: return move_to_front<8>(way, tag, pending);
            default: return move_to_front(way, tag, pending);
        }
    }

private:
    template <unsigned ways>
    LANES_INLINE_MEMBER static Mask move_to_front(V* way, uint32_t tag, Mask pending) {
        const V name = broadcast(tag);
        V old[ways];
        for (unsigned w = 0; w < ways; ++w) old[w] = load(way + w);
        store(way, select(pending, name, old[0]));
        for (unsigned w = 1; w < ways; ++w) {
            pending = without(pending, eq(old[w - 1], name));
            store(way + w, select(pending, old[w - 1], old[w]));
        }
        return without(pending, eq(old[ways - 1], name));
    }

    Mask move_to_front(V* way, uint32_t tag, Mask pending) const {
        const V name = broadcast(tag);
        V carry = name;
        for (unsigned w = 0; w < ways_ && any(pending); ++w) {
            const V old = load(way + w);
            store(way + w, select(pending, carry, old));
            pending = without(pending, eq(old, name));
            carry = old;
        }
        return pending;
    }

    unsigned ways_;
    SetIndex index_;
    Array<V> tags_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
