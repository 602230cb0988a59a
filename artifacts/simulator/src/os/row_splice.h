// row_splice.h - an epoch applied to rows: its ranges replace what the rows held there.
#pragma once

#include <algorithm>
#include <vector>

#include "os/mapped_pages.h"

namespace tessera::sim {

/// The frame of a row that unmaps its range.
inline constexpr uint64_t no_frame = ~uint64_t{0};

constexpr uint64_t end_of(const MappedRow& row) { return row.page + row.pages; }

/// The rows of `state` with the ranges of `change` replaced; rows without a frame only remove. Rows are cut at the borders of
/// the ranges. Neighbours are not joined, and chunks are not set.
/// pre: both are sorted by page and disjoint.
inline std::vector<MappedRow> replaced(const std::vector<MappedRow>& state, const std::vector<MappedRow>& change) {
    std::vector<MappedRow> found;
    found.reserve(state.size() + 2 * change.size());
    size_t at = 0;
    uint64_t from = 0;  // pages below are done
    const auto keep_until = [&](uint64_t limit) {
        for (; at < state.size() && state[at].page < limit; ++at) {
            const MappedRow& row = state[at];
            const uint64_t begin = std::max(row.page, from), end = std::min(end_of(row), limit);
            if (begin < end) found.push_back({begin, row.frame + (begin - row.page), end - begin, row.size});
            if (end_of(row) > limit) break;  // the rest of the row may stay behind the range
        }
    };
    for (const MappedRow& row : change) {
        keep_until(row.page);
        if (row.frame != no_frame) found.push_back(row);
        from = end_of(row);
    }
    keep_until(~uint64_t{0});
    return found;
}

}  // namespace tessera::sim
