// page_table.h - where the entries of a 4-level radix page table are in physical memory.
//
// Table pages (512 entries of 8 bytes) are handed out in the order in which the program first touches the
// regions they map, from a physical region of their own above all program data. The three tables of a region
// below the root are reserved at its first touch even where a layout maps it with a large page and leaves the lower ones
// unused: every layout then has its entries at the same addresses, and layouts differ only in which entries
// walks read. Not modelled: accessed and dirty bit updates, page faults, several address spaces.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/types.h"
#include "base/level.h"
#include "pagetable/layout_constants.h"

namespace tessera::sim {

/// Frame numbers (4KB units above page_table_base) of the tables that a walk of one 2MB region reads.
struct TablePath {
    std::array<uint32_t, 4> frame{};  ///< indexed by Level: the table that holds this level's entry
};

class PageTable {
public:
    /// The tables on the path to `address`, reserved top down on the first touch of its 2MB region.
    const TablePath& touch(VirtAddr address) {
        const auto [found, fresh] = paths_.try_emplace(address.value >> 21);
        if (fresh) {
            TablePath& path = found->second;
            path.frame[1] = table_of(pdpt_, address.value >> 39);
            path.frame[2] = table_of(pd_, address.value >> 30);
            path.frame[3] = next_++;
        }
        return found->second;
    }

    uint32_t frames() const { return next_; }

    static PhysAddr entry_address(const TablePath& path, VirtAddr address, Level level) {
        const uint64_t index = (address.value >> coverage_shift(level)) & 511;
        return PhysAddr(page_table_base + uint64_t{path.frame[static_cast<size_t>(level)]} * 4096 + index * 8);
    }

private:
    uint32_t table_of(std::unordered_map<uint64_t, uint32_t>& tables, uint64_t key) {
        const auto [found, fresh] = tables.try_emplace(key, next_);
        if (fresh) ++next_;
        return found->second;
    }

    uint32_t next_ = 1;  // frame 0 is the PML4
    std::unordered_map<uint64_t, uint32_t> pdpt_, pd_;
    std::unordered_map<uint64_t, TablePath> paths_;
};

}  // namespace tessera::sim
