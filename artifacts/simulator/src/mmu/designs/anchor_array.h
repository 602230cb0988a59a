// anchor_array.h - the array of an anchor TLB: regular entries and anchors, each with a contiguity (0 for a regular entry).
//
// With LRU, at most eight ways and a power of two of sets, it is a RecentSets, which loops over many misses can use. Else it is
// an EntryArray. Both give the same hits and contiguities.
#pragma once

#include <optional>

#include "tlb/entry_array.h"
#include "tlb/recent_sets.h"

namespace tessera::sim {

class AnchorArray {
public:
    AnchorArray(const Geometry& geometry, const Chosen& replacement, const Platform& platform) : other_(geometry, replacement, platform) {
        if (replacement == "lru" && RecentSets::can_be(geometry)) recent_.emplace(geometry);
    }

    /// The contiguity of the entry if present; the policy is then told about the hit.
    std::optional<uint64_t> lookup(uint64_t index, uint64_t name) {
        if (recent_) return recent_->lookup(index, name);
        const uint64_t* const found = other_.lookup(index, name);
        return found == nullptr ? std::nullopt : std::optional(*found);
    }
    /// pre: the entry is not present.
    void fill(uint64_t index, uint64_t name, uint64_t contiguity) {
        if (recent_) recent_->fill(index, name, contiguity);
        else other_.fill(index, name, contiguity);
    }
    /// Forgets the entries for which test(name, contiguity) is true.
    template <class Test>
    void drop(Test&& test) {
        if (recent_) recent_->drop(test);
        else other_.drop(test);
    }
    RecentSets* recent() { return recent_ ? &*recent_ : nullptr; }

private:
    std::optional<RecentSets> recent_;
    EntryArray<uint64_t> other_;  ///< unused if there is a recent_
};

}  // namespace tessera::sim
