// entry_name.h - the name of a page in an array of several page sizes, and where an entry is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace tessera::sim {

/// Its low six bits are the size, so that other kinds of entries can have names beside it.
constexpr uint64_t entry_name(PageNumber page) { return page.number << 6 | shift_of(page.size); }
constexpr PageNumber page_of_entry(uint64_t name) { return {name >> 6, static_cast<PageSize>(name & 63)}; }

/// Where an entry of an array is, or belongs.
struct EntryPlace {
    size_t set, way;  ///< way: meaningless if not found
    bool found;
};

}  // namespace tessera::sim
