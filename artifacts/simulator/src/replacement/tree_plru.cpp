// tree_plru.cpp - tree pseudo-LRU: a binary tree of pointers over the ways of a set.
//
// The tree has 2^k leaves, the next power of two of the ways; node 1 is the root, node n has children 2n and 2n+1, leaf
// 2^k + w is way w. Each inner node points to the side that was used less recently. A hit or a fill turns every node on
// the way's path away from it. The victim is found by following the pointers from the root; a side without an existing
// way (index >= ways) is never entered, even if the pointer points there. Initially all pointers point to the low side.
#include <bit>
#include <vector>

#include "replacement/replacement.h"

namespace tessera::sim {
namespace {

class TreePlru final : public Replacement {
public:
    TreePlru(size_t sets, size_t ways) : ways_(ways), leaves_(std::bit_ceil(ways)), points_high_(sets * leaves_, false) {}
    void hit(size_t set, size_t way) override { turn_away(set, way); }
    void fill(size_t set, size_t way) override { turn_away(set, way); }
    size_t victim(size_t set) override {
        size_t node = 1, first = 0;  // first: lowest way below this node
        for (size_t span = leaves_; span > 1; span /= 2) {
            const bool high = points_high_[set * leaves_ + node] && first + span / 2 < ways_;
            node = 2 * node + high;
            first += high ? span / 2 : 0;
        }
        return first;
    }

private:
    void turn_away(size_t set, size_t way) {
        for (size_t node = leaves_ + way; node > 1; node /= 2) points_high_[set * leaves_ + node / 2] = node % 2 == 0;
    }

    size_t ways_, leaves_;
    std::vector<bool> points_high_;  ///< [set][node]
};

const Registered row(replacements(), "tree-plru", "binary tree of pointers away from recent use, over the next power of two of the ways",
                     [](size_t sets, size_t ways, const Platform&) { return std::make_unique<TreePlru>(sets, ways); });

}  // namespace
}  // namespace tessera::sim
