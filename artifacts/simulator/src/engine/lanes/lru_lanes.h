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
        if (ways_ == 0) return pending;
        V* way = &tags_[size_t{index_(number)} * ways_];
        const V name = broadcast(tag);
        V carry = name;
        for (unsigned w = 0; w < ways_; ++w) {
            const V old = load(way + w);
            store(way + w, select(pending, carry, old));
            pending = without(pending, eq(old, name));
            if (!any(pending)) break;
            carry = old;
        }
        return pending;
    }

private:
    unsigned ways_;
    SetIndex index_;
    Array<V> tags_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
