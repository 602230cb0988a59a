// stream.cpp - a streamer: follows ascending or descending runs of lines inside 4KB pages (after the Intel optimization
// manual's description of the L2 streamer: one forward or backward stream a page, some lines ahead of the access).
//
// `entries` pages are followed; a page that is not gets the entry that was used longest ago (an unused one first), with its line, no
// direction, 0 steps. An access to the page's last line changes nothing but recency. Otherwise its direction is up or down
// from the last line: the same direction as before adds a step, another starts over with 1 step and forgets what was
// asked for. From the second step on, the lines after the furthest one asked for (or after the access itself where that is further),
// in the direction, up to `distance` lines from the access, at most `degree` of them and inside the page, are asked for in this order.
#include <algorithm>

#include "cache/prefetchers/slot.h"

namespace tessera::sim {
namespace {

class Stream final : public Prefetcher {
public:
    explicit Stream(const PrefetchSlot& slot)
        : slot_(checked(slot)), pages_(slot.entries, ~uint64_t{0}), entries_(slot.entries), newest_(uint32_t(slot.entries - 1)) {
        for (uint32_t i = 0; i < entries_.size(); ++i) {
            entries_[i].newer = i + 1 < entries_.size() ? i + 1 : 0;
            entries_[i].older = i > 0 ? i - 1 : newest_;
        }
    }

    void observe(const DemandAccess& access, std::vector<VirtAddr>& wanted) override {
        const uint64_t page = access.address.value >> page_shift;
        const int64_t line = int64_t(access.address.value >> line_shift) % lines_per_page;
        Entry& entry = entry_of(page, line);
        if (line == entry.last) return;
        const int64_t direction = line > entry.last ? 1 : -1;
        entry.last = line;
        if (direction != entry.direction) {
            entry.direction = direction;
            entry.steps = 1;
            entry.furthest = line;
            return;
        }
        if (++entry.steps >= 2) ask(entry, page, line, wanted);
    }

private:
    struct Entry {
        uint64_t steps = 0;
        int64_t last = 0, direction = 0, furthest = 0;
        uint32_t newer = 0, older = 0;  ///< a ring in order of use: the oldest is the newer one of the newest
    };

    /// The page's entry, which becomes the newest.
    Entry& entry_of(uint64_t page, int64_t line) {
        if (pages_[newest_] == page) return entries_[newest_];
        const uint32_t oldest = entries_[newest_].newer;
        uint32_t found = uint32_t(pages_.size());
        for (uint32_t i = 0; i < pages_.size(); ++i) found = pages_[i] == page ? i : found;  // no branches: few could be predicted
        if (found == pages_.size()) {
            found = oldest;
            pages_[found] = page;
            entries_[found] = {0, line, 0, line, entries_[found].newer, entries_[found].older};
        }
        if (found != oldest) move_behind_newest(found);
        newest_ = found;
        return entries_[found];
    }

    /// pre: the entry is neither the newest nor the oldest.
    void move_behind_newest(uint32_t at) {
        Entry& entry = entries_[at];
        entries_[entry.older].newer = entry.newer;
        entries_[entry.newer].older = entry.older;
        entry.older = newest_;
        entry.newer = entries_[newest_].newer;
        entries_[entry.older].newer = at;
        entries_[entry.newer].older = at;
    }

    void ask(Entry& entry, uint64_t page, int64_t line, std::vector<VirtAddr>& wanted) const {
        const auto further = [&](int64_t a, int64_t b) { return entry.direction > 0 ? std::max(a, b) : std::min(a, b); };
        int64_t next = further(entry.furthest, line) + entry.direction;
        const int64_t end = line + entry.direction * int64_t(slot_.distance);
        for (uint64_t asked = 0; asked < slot_.degree; ++asked, next += entry.direction) {
            if (next < 0 || next >= lines_per_page || further(next, end) != end) return;
            wanted.push_back(VirtAddr((page << page_shift) + (uint64_t(next) << line_shift)));
            entry.furthest = next;
        }
    }

    PrefetchSlot slot_;
    std::vector<uint64_t> pages_;  ///< of the entries, beside them: a search reads pages only
    std::vector<Entry> entries_;
    uint32_t newest_;
};

const Registered row(prefetchers(), "stream", "per 4KB page: prefetches ahead of ascending or descending lines",
                     [](const PrefetchSlot& slot, const Platform&) { return std::make_unique<Stream>(slot); });

}  // namespace
}  // namespace tessera::sim
