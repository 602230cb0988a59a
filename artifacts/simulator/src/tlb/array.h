// array.h - one set-associative TLB array: sets x ways of page names and a replacement policy.
//
// A page's name is its number together with its size, so that one array can hold several sizes. Its set is its number, in
// units of its own size, modulo the sets (any number of sets). Unused ways are filled first, lowest index first. The class
// also implements page-walk caches, whose entries have the name of the region that they cover. Not modelled: PCIDs,
// permissions, coalescing of neighbouring pages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/remainder.h"
#include "base/types.h"
#include "tlb/replacement.h"

namespace tessera::sim {

class TlbArray {
public:
    /// geometry.entries 0: an array that does not exist; it never hits. Throws Refusal on an unknown policy.
    TlbArray(const Geometry& geometry, const Chosen& replacement)
        : sets_(geometry.sets()), ways_(geometry.ways), set_of_(sets_), names_(sets_ * ways_, unused), used_(sets_, 0) {
        if (exists()) policy_ = replacements().make(replacement, sets_, ways_);
    }

    bool exists() const { return sets_ != 0; }

    /// True if present; the policy is then told about the hit.
    bool lookup(PageNumber page) {
        if (!exists()) return false;
        const size_t set = set_of_(page.number);
        const uint64_t* const first = &names_[set * ways_];
        const uint64_t name = name_of(page);
        for (size_t way = 0; way < ways_; ++way)
            if (first[way] == name) {
                policy_->hit(set, way);
                return true;
            }
        return false;
    }

    /// pre: the page is not present. True if another page was evicted; `evicted` is then that page.
    bool fill(PageNumber page, PageNumber* evicted = nullptr) {
        if (!exists()) return false;
        const size_t set = set_of_(page.number);
        const bool full = used_[set] == ways_;
        const size_t way = full ? policy_->victim(set) : used_[set]++;
        uint64_t& name = names_[set * ways_ + way];
        if (full && evicted != nullptr) *evicted = {name >> 6, static_cast<PageSize>(name & 63)};
        name = name_of(page);
        policy_->fill(set, way);
        return full;
    }

private:
    static constexpr uint64_t unused = ~uint64_t{0};
    static uint64_t name_of(PageNumber page) { return page.number << 6 | shift_of(page.size); }

    size_t sets_, ways_;
    Remainder set_of_;
    std::vector<uint64_t> names_;  ///< [set][way]
    std::vector<size_t> used_;     ///< [set]: ways in use
    std::unique_ptr<Replacement> policy_;
};

}  // namespace tessera::sim
