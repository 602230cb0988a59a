// range_table.h - the table of ranges in physical memory that a redundant memory mapping searches after a miss.
//
// Ranges are the chunks of at least two pages, sorted by page. The table begins at page_table_base + 2^38 (assumed) and has one of
// two forms:
//   sorted: rows of 24 bytes, binary search, a load for each row that it compares (its first byte counts).
//   B-tree: nodes of 64 bytes with four ranges and five children, a load for each node on the path. Nodes are full but for the
//           last, and node k has the children 5k + 1 to 5k + 5, so they need no pointers (assumed).
// A search ends at the row that holds the page. After a change of the mapping, the next search builds the table again; what the
// operating system loads and stores for that is not modelled.
#pragma once

#include <algorithm>
#include <vector>

#include "os/mapped_pages.h"
#include "pagetable/layout_constants.h"

namespace tessera::sim {

class RangeTable {
public:
    static constexpr uint64_t base = page_table_base + (uint64_t{1} << 38);

    /// The mapping outlives the table.
    RangeTable(const MappedPages& mapping, bool btree) : mapping_(mapping), btree_(btree) {}

    void changed() { built_ = false; }

    /// Calls load(PhysAddr) for each row or node of the search for the range of a chunk of the mapping (an index of its chunks()).
    /// pre: the chunk has at least two pages.
    ///
    /// Ranges are disjoint and sorted. So a page is before, in or behind a row as its range's number is less, equal or greater, and
    /// the loads of a search follow from that number without the pages.
    template <class Load>
    void search(uint32_t chunk, Load&& load) {
        if (!built_) build();
        if (btree_) search_tree(range_of_chunk_[chunk], load);
        else search_rows(range_of_chunk_[chunk], load);
    }

private:
    static constexpr size_t row_bytes = 24, node_bytes = 64, node_ranges = 4;

    template <class Load>
    void search_rows(size_t range, Load& load) const {
        size_t low = 0, high = ranges_;
        for (;;) {
            const size_t middle = (low + high) / 2;
            load(PhysAddr(base + row_bytes * middle));
            if (middle == range) return;
            high = range < middle ? middle : high;  // no branches: half of them would be mispredicted
            low = range < middle ? low : middle + 1;
        }
    }

    template <class Load>
    void search_tree(size_t range, Load& load) const {
        for (size_t node = 0;;) {
            load(PhysAddr(base + node_bytes * node));
            const size_t begin = node * node_ranges, end = std::min(begin + node_ranges, ranges_);
            size_t at = begin;
            while (at < end && tree_[at] < range) ++at;
            if (at < end && tree_[at] == range) return;
            node = (node_ranges + 1) * node + 1 + at - begin;
        }
    }

    void build() {
        const std::vector<PageChunk>& chunks = mapping_.chunks();
        range_of_chunk_.assign(chunks.size(), 0);
        ranges_ = 0;
        for (size_t chunk = 0; chunk < chunks.size(); ++chunk)
            if (chunks[chunk].pages > 1) range_of_chunk_[chunk] = uint32_t(ranges_++);
        tree_.assign(btree_ ? ranges_ : 0, 0);
        uint32_t next = 0;
        if (btree_) place(0, next);
        built_ = true;
    }

    /// Gives the node and its children the next ranges, in order.
    void place(size_t node, uint32_t& next) {
        if (node * node_ranges >= ranges_) return;
        for (size_t slot = 0; slot <= node_ranges; ++slot) {
            place((node_ranges + 1) * node + 1 + slot, next);
            const size_t at = node * node_ranges + slot;
            if (slot < node_ranges && at < ranges_) tree_[at] = next++;
        }
    }

    const MappedPages& mapping_;
    bool btree_, built_ = false;
    size_t ranges_ = 0;
    std::vector<uint32_t> range_of_chunk_;  ///< the number of its range, for chunks of at least two pages
    std::vector<uint32_t> tree_;            ///< numbers of ranges, node after node
};

}  // namespace tessera::sim
