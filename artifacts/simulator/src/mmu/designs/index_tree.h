// index_tree.h - the tree that finds the segment of an address: nodes of one cache line, six keys and seven values (Park, 2.4.3).
//
// The keys of a node are the first addresses of its second to seventh child, ascending. The child to go on to has the number of the keys
// that are <= the address. The values of a leaf are segments. All leaves have the same depth (assumed; Park also allows segments in
// inner nodes). Nodes are numbered by level, the root first (assumed); each has 64 bytes, in the order of their numbers.
//
// full: each node but the last of its level has seven children. half full: four, what the splits of a B-tree leave at worst
// (assumed). Unused keys are larger than all addresses.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tessera::sim {

class IndexTree {
public:
    static constexpr size_t most_keys = 6;

    /// starts: first addresses of the segments, ascending.
    IndexTree(const std::vector<uint64_t>& starts, bool half_full) : children_(half_full ? 4 : 7) {
        size_t below = starts.size();  // values of the level in the making
        size_t span = 1;               // segments under each of them
        do {
            std::vector<Node> level((below + children_ - 1) / children_);
            for (size_t value = 0; value < below; ++value)
                if (value % children_ != 0) level[value / children_][value % children_ - 1] = starts[value * span];
            below = level.size();
            span *= children_;
            levels_.push_back(std::move(level));
        } while (below > 1);
        std::reverse(levels_.begin(), levels_.end());
    }

    /// Levels from root to leaf.
    size_t depth() const { return levels_.size(); }
    size_t nodes() const {
        size_t sum = 0;
        for (const auto& level : levels_) sum += level.size();
        return sum;
    }

    /// The segment whose first address is the largest <= the address (0 if there is none); visit(number) for each node, from the root on.
    template <class Visit>
    size_t find(uint64_t address, Visit&& visit) const {
        size_t node = 0, first = 0;
        for (const std::vector<Node>& level : levels_) {
            visit(first + node);
            const Node& keys = level[node];
            size_t child = 0;
            for (const uint64_t key : keys) child += key <= address;
            first += level.size();
            node = node * children_ + child;
        }
        return node;
    }

private:
    struct Node : std::array<uint64_t, most_keys> {
        Node() { fill(~uint64_t{0}); }
    };
    size_t children_;
    std::vector<std::vector<Node>> levels_;  ///< root first
};

}  // namespace tessera::sim
