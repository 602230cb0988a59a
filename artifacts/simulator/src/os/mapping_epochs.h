// mapping_epochs.h - the rules over the epochs of a mapping file: whole pages change, and no two pages share a frame.
//
// The epochs are applied one after the other. An epoch costs one pass over the rows that hold, and a sort of its own rows.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "os/mapping_rules.h"
#include "os/row_splice.h"

namespace tessera::sim::mapping_epochs {

constexpr uint64_t pages_in(PageSize size) { return uint64_t{1} << (shift_of(size) - 12); }

/// Rows of both pools over one numbering of pages.
inline std::vector<MappedRow> numbered(const std::vector<MappingRow>& rows) {
    std::vector<MappedRow> found;
    found.reserve(rows.size());
    for (const MappingRow& row : rows)
        found.push_back({(static_cast<uint64_t>(row.pool) << 40) + row.page, row.mapped ? row.frame : no_frame, row.pages, row.size});
    return found;
}

struct Frames {
    uint64_t begin, end;
    bool operator<(const Frames& other) const { return begin < other.begin; }
};

inline std::vector<Frames> frames_of(const std::vector<MappedRow>& rows) {
    std::vector<Frames> found;
    found.reserve(rows.size());
    for (const MappedRow& row : rows)
        if (row.frame != no_frame) found.push_back({row.frame, row.frame + row.pages});
    if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
    return found;
}

inline std::optional<uint64_t> lowest_shared(const std::vector<Frames>& sorted) {
    uint64_t end = 0;
    for (const Frames& frames : sorted) {
        if (frames.begin < end) return frames.begin;
        end = std::max(end, frames.end);
    }
    return {};
}

/// Whether a row of `state` shares frames with a row of `change`, or two rows of `change` do, without sorting the state.
inline bool may_share(const std::vector<MappedRow>& state, const std::vector<MappedRow>& change) {
    const std::vector<Frames> fresh = frames_of(change);
    if (lowest_shared(fresh)) return true;
    size_t overlapping = 0;  // a row of `change` overlaps itself
    for (const MappedRow& row : state) {
        const auto behind = std::lower_bound(fresh.begin(), fresh.end(), Frames{row.frame + row.pages, 0});
        overlapping += behind != fresh.begin() && (behind - 1)->end > row.frame;
    }
    return overlapping != fresh.size();
}

/// Whether a place is inside a large page.
inline bool cuts(const std::vector<MappedRow>& state, uint64_t place) {
    auto row = std::upper_bound(state.begin(), state.end(), place, [](uint64_t at, const MappedRow& r) { return at < r.page; });
    if (row == state.begin()) return false;
    --row;
    return place - row->page < row->pages && (place - row->page) % pages_in(row->size) != 0;
}

inline void check_cuts(const std::vector<MappedRow>& state, const std::vector<MappingRow>& rows, const std::vector<MappedRow>& change,
                       const std::string& path, size_t first_line) {
    for (size_t i = 0; i < change.size(); ++i) {
        const bool first = i == 0 || end_of(change[i - 1]) != change[i].page;
        const bool last = i + 1 == change.size() || end_of(change[i]) != change[i + 1].page;
        if ((first && cuts(state, change[i].page)) || (last && cuts(state, end_of(change[i]))))
            mapping_rules::refuse(mapping_rules::cut_page, path, first_line + i, "page", std::to_string(rows[i].page));
    }
}

/// Throws Refusal with the line of the row that breaks a rule. pre: each row obeys the rules of rows.
inline void check_epochs(const std::vector<MappingEpoch>& epochs, const std::string& path) {
    std::vector<MappedRow> state;
    size_t line = 2;
    for (const MappingEpoch& epoch : epochs) {
        const bool first = &epoch == &epochs[0];
        std::vector<MappedRow> change = numbered(epoch.rows), spliced;
        for (size_t i = 0; first && i < change.size(); ++i)
            if (change[i].frame == no_frame) mapping_rules::refuse(mapping_rules::first_unmapped, path, line + i, "frame", "");
        check_cuts(state, epoch.rows, change, path, line);
        if (!first) spliced = replaced(state, change);
        const std::vector<MappedRow>& next = first ? change : spliced;
        if (first || may_share(next, change))
            if (const auto frame = lowest_shared(frames_of(next))) {
                size_t row = change.size();  // the last one that has the frame
                while (--row > 0 && (change[row].frame > *frame || *frame - change[row].frame >= change[row].pages)) {
                }
                mapping_rules::refuse(mapping_rules::frames, path, line + row, "frame", std::to_string(*frame));
            }
        state = std::move(first ? change : spliced);
        line += epoch.rows.size();
    }
}

}  // namespace tessera::sim::mapping_epochs
