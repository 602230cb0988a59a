// level.h - the levels of an x86-64 page table, top down. Four-level tables begin at pml4e.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"

namespace tessera::sim {

enum class Level : uint8_t { pml5e = 0, pml4e = 1, pdpte = 2, pde = 3, pte = 4 };

inline constexpr size_t level_count = 5;

/// One entry of this level maps 2^shift bytes.
constexpr unsigned coverage_shift(Level level) { return 48 - 9 * static_cast<unsigned>(level); }

constexpr Level next(Level level) { return static_cast<Level>(static_cast<unsigned>(level) + 1); }

/// The level whose entry maps a page of this size.
constexpr Level leaf_level(PageSize size) {
    return size == PageSize::small_4kb ? Level::pte : size == PageSize::large_2mb ? Level::pde : Level::pdpte;
}

/// One page-table entry that a walk reads.
struct EntryRead {
    PhysAddr address;
    Level level;
};

/// All reads of a walk without walk caches, in order; the last entry maps the page. Entries of higher levels point to the
/// next table, and walk caches may keep them. A format may have no such entries.
using WalkPath = std::vector<EntryRead>;

constexpr bool points_onward(const EntryRead& entry, Level leaf) { return entry.level < leaf; }

}  // namespace tessera::sim
