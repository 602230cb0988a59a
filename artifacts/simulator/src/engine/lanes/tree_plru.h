// tree_plru.h - tree pseudo-LRU for all lanes at once: each node of the tree is a word, bit l the pointer of lane l.
//
// The tree stands over the next power of two of the ways. A touch (hit or fill) points every node on the way's path away
// from it (1: right). A victim is found by following the pointers; a subtree without existing ways is never entered.
#pragma once

#include "engine/lanes/inline.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class TreePlru {
public:
    static unsigned words(unsigned ways) { return leaves(ways); }

    TreePlru(uint64_t* words, unsigned ways) : node_(words), ways_(ways), leaves_(leaves(ways)) {}

    void hit(unsigned way, uint64_t lanes) {
        for (unsigned at = leaves_ + way; at > 1; at /= 2) {
            uint64_t& above = node_[at / 2];
            above = at % 2 != 0 ? above & ~lanes : above | lanes;
        }
    }
    void filled(unsigned way, uint64_t lanes) { hit(way, lanes); }

    /// Calls fill(way, lanes) for each way that is a victim in some of `lanes`.
    template <class Fill>
    void evict(uint64_t lanes, const Fill& fill) {
        uint64_t goes[128];
        goes[1] = lanes;
        for (unsigned at = 1, span = leaves_; at < leaves_; ++at) {
            if ((at & (at - 1)) == 0) span = leaves_ / at;  // ways below a node of this depth
            const unsigned first_right = at * span - leaves_ + span / 2;
            const uint64_t right = first_right < ways_ ? goes[at] & node_[at] : 0;
            goes[2 * at + 1] = right;
            goes[2 * at] = goes[at] & ~right;
        }
        for (unsigned way = 0; way < ways_; ++way)
            if (goes[leaves_ + way] != 0) fill(way, goes[leaves_ + way]);
    }

private:
    static unsigned leaves(unsigned ways) {
        unsigned count = 1;
        while (count < ways) count *= 2;
        return count;
    }

    uint64_t* node_;  ///< [1..leaves)
    unsigned ways_, leaves_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
