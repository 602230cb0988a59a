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

    /// Calls load(PhysAddr) for each row or node of the search.
    template <class Load>
    void search(uint64_t page, Load&& load) {
        if (!built_) build();
        if (btree_) search_tree(page, load);
        else search_rows(page, load);
    }

private:
    static constexpr size_t row_bytes = 24, node_bytes = 64, node_ranges = 4;
    struct Row {
        uint64_t page, pages;
    };

    template <class Load>
    void search_rows(uint64_t page, Load& load) const {
        for (size_t low = 0, high = rows_.size(); low < high;) {
            const size_t middle = (low + high) / 2;
            load(PhysAddr(base + row_bytes * middle));
            if (page - rows_[middle].page < rows_[middle].pages) return;
            if (page < rows_[middle].page) high = middle;
            else low = middle + 1;
        }
    }

    template <class Load>
    void search_tree(uint64_t page, Load& load) const {
        for (size_t node = 0; node * node_ranges < rows_.size();) {
            load(PhysAddr(base + node_bytes * node));
            const size_t begin = node * node_ranges, end = std::min(begin + node_ranges, rows_.size());
            size_t at = begin;
            while (at < end && page >= rows_[at].page + rows_[at].pages) ++at;
            if (at < end && page >= rows_[at].page) return;
            node = (node_ranges + 1) * node + 1 + at - begin;
        }
    }

    void build() {
        std::vector<Row> sorted;
        for (const PageChunk& chunk : mapping_.chunks())
            if (chunk.pages > 1) sorted.push_back({chunk.page, chunk.pages});
        std::sort(sorted.begin(), sorted.end(), [](const Row& a, const Row& b) { return a.page < b.page; });
        rows_.assign(sorted.size(), {});
        auto next = sorted.cbegin();
        if (btree_) place(0, next);
        else rows_ = std::move(sorted);
        built_ = true;
    }

    /// Gives the node and its children the next ranges, in order.
    void place(size_t node, std::vector<Row>::const_iterator& next) {
        if (node * node_ranges >= rows_.size()) return;
        for (size_t slot = 0; slot <= node_ranges; ++slot) {
            place((node_ranges + 1) * node + 1 + slot, next);
            const size_t at = node * node_ranges + slot;
            if (slot < node_ranges && at < rows_.size()) rows_[at] = *next++;
        }
    }

    const MappedPages& mapping_;
    bool btree_, built_ = false;
    std::vector<Row> rows_;  ///< sorted, or node after node
};

}  // namespace tessera::sim
