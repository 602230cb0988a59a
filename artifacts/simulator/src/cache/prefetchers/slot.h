// slot.h - common code of prefetchers: the check of a slot's numbers, and the page and line of an access.
#pragma once

#include <string>

#include "base/error.h"
#include "cache/prefetcher.h"

namespace tessera::sim {

/// A prefetcher with a table needs entries, degree and distance.
inline const PrefetchSlot& checked(const PrefetchSlot& slot) {
    if (slot.entries == 0 || slot.degree == 0 || slot.distance == 0)
        throw Refusal("prefetcher " + slot.kind.name + " with entries, degree and distance of at least 1",
                      "entries = " + std::to_string(slot.entries) + ", degree = " + std::to_string(slot.degree) +
                          ", distance = " + std::to_string(slot.distance),
                      "set all three keys, or kind = none");
    return slot;
}

inline constexpr uint64_t page_shift = shift_of(PageSize::small_4kb);
inline constexpr int64_t lines_per_page = int64_t{1} << (page_shift - line_shift);

}  // namespace tessera::sim
