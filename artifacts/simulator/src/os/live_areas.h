// live_areas.h - the areas of a process (Linux: VMAs) under a log, at one moment: disjoint ranges of pages, ascending.
//
// Calls of the program make, change and remove them; faults do not. Areas outside the log's pools (program, libraries, stack) are not known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"
#include "tessera/trace/events.h"

namespace tessera::sim {

struct LiveArea {
    VirtRange range;
    uint32_t flags;  ///< bit 0: readable, 1: writable, 2: executable; all in artifacts/imitation/vm/areas.h
    bool operator==(const LiveArea&) const = default;
};

/// The range is an area of its own from now on, and others lose what they had of it; or it is in no area any more.
struct AreaChange {
    LiveArea area;
    bool live;
    std::optional<trace::EventKind> call;  ///< that did it; none: no call of the program
    bool operator==(const AreaChange&) const = default;
};

class LiveAreas {
public:
    const std::vector<LiveArea>& all() const { return areas_; }
    /// Null: the address is in no area.
    const LiveArea* at(VirtAddr address) const {
        const auto found = from(address);
        return found != areas_.end() && found->range.begin <= address ? &*found : nullptr;
    }
    void apply(const AreaChange& change) {
        const VirtRange range = change.area.range;
        auto first = areas_.begin() + (from(range.begin) - areas_.begin()), last = first;
        while (last != areas_.end() && last->range.begin < range.end) ++last;
        std::vector<LiveArea> parts;
        if (first != last && first->range.begin < range.begin) parts.push_back({{first->range.begin, range.begin}, first->flags});
        if (change.live) parts.push_back(change.area);
        if (first != last && range.end < (last - 1)->range.end) parts.push_back({{range.end, (last - 1)->range.end}, (last - 1)->flags});
        areas_.insert(areas_.erase(first, last), parts.begin(), parts.end());
    }

private:
    /// The first one that ends above the address.
    std::vector<LiveArea>::const_iterator from(VirtAddr address) const {
        return std::upper_bound(areas_.begin(), areas_.end(), address, [](VirtAddr a, const LiveArea& area) { return a < area.range.end; });
    }

    std::vector<LiveArea> areas_;
};

}  // namespace tessera::sim
