// tlb.h - one TLB array as an oracle sees it: sets of std::list, most recently used first.
//
// Models: true LRU, set index = page number modulo the number of sets (any number of sets). An entry is a page
// number with its size, so an array may hold 4KB and 2MB pages together. Also used for page-walk caches, whose
// entries are named by the page number of the region they cover. Not modelled: PCIDs, permissions, coalescing
// of neighbouring pages. Slow and obvious on purpose: engine/lanes is checked against it.
#pragma once

#include <list>
#include <vector>

#include "base/platform.h"
#include "base/types.h"

namespace tessera::sim {

class Tlb {
public:
    explicit Tlb(const Geometry& geometry) : ways_(geometry.ways), sets_(geometry.sets()) {}

    bool exists() const { return !sets_.empty(); }

    /// True when present; the entry then becomes the most recently used.
    bool lookup(PageNumber page) {
        if (!exists()) return false;
        auto& set = sets_[page.number % sets_.size()];
        for (auto entry = set.begin(); entry != set.end(); ++entry)
            if (*entry == page) {
                set.splice(set.begin(), set, entry);
                return true;
            }
        return false;
    }

    /// pre: lookup(page) was false. Evicts the least recently used entry of a full set.
    void fill(PageNumber page) {
        if (!exists()) return;
        auto& set = sets_[page.number % sets_.size()];
        set.push_front(page);
        if (set.size() > ways_) set.pop_back();
    }

private:
    uint64_t ways_;
    std::vector<std::list<PageNumber>> sets_;
};

}  // namespace tessera::sim
