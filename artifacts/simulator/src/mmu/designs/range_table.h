// range_table.h - the table of ranges in physical memory that a redundant memory mapping searches after a miss.
//
// Ranges are the chunks of at least two pages, sorted by page. The table lies in physical::of_design (assumed) and has one of two forms:
//   B-tree: nodes of 64 bytes with four ranges and five children, a load for each node on the path. Nodes are full but for the
//           last, and node k has the children 5k + 1 to 5k + 5, so they need no pointers (assumed).
//   sorted: rows of 24 bytes, binary search, a load for each row that it compares (its first byte counts).
// Table 4 of Virtuoso (Kanellopoulos et al., ASPLOS 2025) stores the ranges of RMM in a B+ tree. Ours also has ranges in its inner
// nodes (assumed). A search ends at the row or node that holds the page. After a change of the mapping, the next search builds the
// table again; what the operating system loads and stores for that is not modelled.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "os/mapped_pages.h"
#include "os/physical_map.h"

namespace tessera::sim {

class RangeTable {
public:
    static constexpr uint64_t base = physical::of_design.begin;

    /// The mapping outlives the table.
    RangeTable(const MappedPages& mapping, bool btree) : mapping_(mapping), btree_(btree) {}

    void changed() { built_ = false; }

    /// The rows or nodes that a search for the range of a chunk loads, in order. The chunk is an index of the mapping's chunks().
    /// Valid until the next call. pre: the chunk has at least two pages.
    ///
    /// Ranges are disjoint and sorted. So a page is before, in or behind a row as its range's number is less, equal or greater, and
    /// the loads of a search follow from that number without the pages.
    std::span<const PhysAddr> search(uint32_t chunk) {
        if (!built_) build();
        return btree_ ? path_to_node(place_of_chunk_[chunk]) : path_to_row(place_of_chunk_[chunk]);
    }

private:
    static constexpr size_t row_bytes = 24, node_bytes = 64, node_ranges = 4, longest_path = 34;
    static_assert(physical::of_design.holds(std::max(row_bytes, node_bytes / node_ranges) << 32));  // chunks have numbers of 32 bits

    std::span<const PhysAddr> path_to_row(size_t range) {
        size_t low = 0, high = ranges_, length = 0;
        for (;;) {
            const size_t middle = (low + high) / 2;
            path_[length++] = PhysAddr(base + row_bytes * middle);
            if (middle == range) return {path_.data(), length};
            high = range < middle ? middle : high;  // no branches: half of them would be mispredicted
            low = range < middle ? low : middle + 1;
        }
    }

    /// From the node up to the root, written from the end of the path.
    std::span<const PhysAddr> path_to_node(size_t node) {
        size_t at = path_.size();
        for (;; node = (node - 1) / (node_ranges + 1)) {
            path_[--at] = PhysAddr(base + node_bytes * node);
            if (node == 0) return std::span<const PhysAddr>(path_).subspan(at);
        }
    }

    void build() {
        const std::vector<PageChunk>& chunks = mapping_.chunks();
        place_of_chunk_.assign(chunks.size(), 0);
        std::vector<uint32_t> chunk_of_range;
        for (size_t chunk = 0; chunk < chunks.size(); ++chunk)
            if (chunks[chunk].pages > 1) chunk_of_range.push_back(uint32_t(chunk));
        ranges_ = chunk_of_range.size();
        if (btree_) {
            auto next = chunk_of_range.begin();
            place(0, next);
        } else {
            for (size_t range = 0; range < ranges_; ++range) place_of_chunk_[chunk_of_range[range]] = uint32_t(range);
        }
        built_ = true;
    }

    /// Gives the node and its children the next ranges, in order.
    void place(size_t node, std::vector<uint32_t>::iterator& next) {
        if (node * node_ranges >= ranges_) return;
        for (size_t slot = 0; slot <= node_ranges; ++slot) {
            place((node_ranges + 1) * node + 1 + slot, next);
            if (slot < node_ranges && node * node_ranges + slot < ranges_) place_of_chunk_[*next++] = uint32_t(node);
        }
    }

    const MappedPages& mapping_;
    bool btree_, built_ = false;
    size_t ranges_ = 0;
    std::vector<uint32_t> place_of_chunk_;  ///< of its range, for chunks of at least two pages: the node that holds it, or the row
    std::array<PhysAddr, longest_path> path_;
};

}  // namespace tessera::sim
