// page_table.h - the physical addresses of the tables of a 4- or 5-level radix page table.
//
// Table pages (512 entries of 8 bytes) are allocated in the order in which the program first touches the regions that they
// map, from a separate physical region above all program data. The first touch of a region reserves all its tables below
// the root, top down, even if a layout maps the region with a large page and does not use the lower tables. So entries have
// the same addresses in every layout, and layouts differ only in the entries that walks read. Not modelled: accessed and
// dirty bit updates, page faults, several address spaces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "base/walk_path.h"
#include "os/physical_map.h"

namespace tessera::sim {

/// The levels of an x86-64 page table, top down. Four-level tables begin at pml4e.
enum class Level : uint8_t { pml5e = 0, pml4e = 1, pdpte = 2, pde = 3, pte = 4 };

inline constexpr size_t level_count = 5;

/// One entry of this level maps 2^shift bytes.
constexpr unsigned coverage_shift(Level level) { return 48 - 9 * static_cast<unsigned>(level); }

constexpr Level next(Level level) { return static_cast<Level>(static_cast<unsigned>(level) + 1); }

/// The level whose entry maps a page of this size.
constexpr Level leaf_level(PageSize size) {
    return size == PageSize::small_4kb ? Level::pte : size == PageSize::large_2mb ? Level::pde : Level::pdpte;
}

/// The levels above the leaves of 4KB pages.
inline TableLevels onward_levels(Level root) {
    TableLevels found;
    for (Level level = root; level != Level::pte; level = next(level))
        found.push_back({std::array{"pml5e", "pml4e", "pdpte", "pde"}[static_cast<size_t>(level)], coverage_shift(level)});
    return found;
}

/// The read of the entry in the table at `table`, for a walk from `root` down to `leaf`.
constexpr EntryRead entry_read(uint64_t table, VirtAddr address, Level level, Level root, Level leaf) {
    const auto number = static_cast<uint8_t>(static_cast<unsigned>(level) - static_cast<unsigned>(root));
    return {PhysAddr(table + ((address.value >> coverage_shift(level)) & 511) * 8), number, level < leaf, number};
}

/// Frame numbers (4KB units) of the tables that a walk of one 2MB region reads.
struct TablePath {
    std::array<uint32_t, level_count> frame{};  ///< indexed by Level: the table that holds this level's entry
    bool reserved() const { return frame.back() != 0; }
};

class PageTable {
public:
    /// most_frames: what their region holds (os/physical_map.h).
    explicit PageTable(uint64_t levels = 4, uint64_t most_frames = physical::table_frames) : levels_(levels), most_frames_(most_frames) {}

    /// The tables on the path to `address`, reserved on the first touch of its 2MB region. Throws Refusal if they are too many.
    const TablePath& touch(VirtAddr address) {
        TablePath& path = place_of(address);
        if (path.reserved()) return path;
        const auto reserve = [&](Level level, std::unordered_map<uint64_t, uint32_t>& tables, unsigned shift) {
            path.frame[static_cast<size_t>(level)] = table_of(tables, address.value >> shift);
        };
        if (levels_ == 5) reserve(Level::pml4e, pml4_, 48);  // with 4 levels the PML4 is the root, frame 0
        reserve(Level::pdpte, pdpt_, 39);
        reserve(Level::pde, pd_, 30);
        path.frame[static_cast<size_t>(Level::pte)] = take();
        return path;
    }

    /// The level whose entry a walk reads first when no walk cache helps.
    Level root() const { return levels_ == 5 ? Level::pml5e : Level::pml4e; }

    uint32_t frames() const { return next_; }

    /// Replaces `path` by the reads of a walk, if frame 0 is at `base`.
    void entries(VirtAddr address, PageSize size, uint64_t base, WalkPath& path) {
        const TablePath& tables = touch(address);
        const auto first = static_cast<uint8_t>(root()), count = static_cast<uint8_t>(static_cast<uint8_t>(leaf_level(size)) - first + 1);
        path.resize(count);
        unsigned shift = coverage_shift(root());
        for (uint8_t i = 0; i < count; ++i, shift -= 9)
            path[i] = {PhysAddr(base + uint64_t{tables.frame[first + i]} * 4096 + (address.value >> shift & 511) * 8), i, i + 1 < count, i};
    }

private:
    using OfGigabyte = std::array<TablePath, 512>;
    using OfHalfTerabyte = std::array<std::unique_ptr<OfGigabyte>, 512>;

    TablePath& place_of(VirtAddr address) {
        const uint64_t half_terabyte = address.value >> 39;
        if (half_terabyte >= paths_.size()) paths_.resize(half_terabyte + 1);
        auto& gigabytes = paths_[half_terabyte];
        if (gigabytes == nullptr) gigabytes = std::make_unique<OfHalfTerabyte>();
        auto& regions = (*gigabytes)[address.value >> 30 & 511];
        if (regions == nullptr) regions = std::make_unique<OfGigabyte>();
        return (*regions)[address.value >> 21 & 511];
    }

    uint32_t table_of(std::unordered_map<uint64_t, uint32_t>& tables, uint64_t key) {
        const auto [found, fresh] = tables.try_emplace(key, next_);
        if (fresh) take();
        return found->second;
    }
    uint32_t take() {
        if (next_ == most_frames_)
            throw Refusal("a trace whose page table has at most " + std::to_string(most_frames_) + " tables of 4KB",
                          "it touches more regions of 2MB", "simulate a part of the trace (os/physical_map.h has the room of page tables)");
        return next_++;
    }

    uint64_t levels_, most_frames_;
    uint32_t next_ = 1;  // frame 0 is the root
    std::unordered_map<uint64_t, uint32_t> pml4_, pdpt_, pd_;
    std::vector<std::unique_ptr<OfHalfTerabyte>> paths_;  ///< of touched regions
};

}  // namespace tessera::sim
