// walk_path.h - the reads of a page walk, and the levels of a page-table format whose entries walk caches may keep.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace tessera::sim {

/// A level of a format whose entries point to a next table: one entry of it maps 2^shift bytes.
struct TableLevel {
    const char* name;
    unsigned shift;
};

/// Root first. A format without such entries (a hashed table) has none.
using TableLevels = std::vector<TableLevel>;

/// One page-table entry that a walk reads.
struct EntryRead {
    PhysAddr address;
    uint8_t step;    ///< reads of equal step, which are neighbours, begin together when those before are done
    bool onward;     ///< it points to the next table, so walk caches may keep it
    uint8_t level;   ///< if onward: its level, an index of the format's levels
};

/// All reads of a walk without walk caches, in order; the last entry maps the page.
using WalkPath = std::vector<EntryRead>;

}  // namespace tessera::sim
