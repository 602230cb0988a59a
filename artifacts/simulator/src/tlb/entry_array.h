// entry_array.h - one set-associative array of named entries with a payload: sets x ways and a replacement policy.
//
// The caller chooses an entry's index, which gives the set (index modulo sets, any number of sets), and its name, which is
// unique in the array (kinds of entries that share an array differ in their names). Unused ways are filled first, lowest way
// first. Not modelled: PCIDs, permissions.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "base/remainder.h"
#include "tlb/replacement.h"

namespace tessera::sim {

template <class Payload>
class EntryArray {
public:
    struct Evicted {
        uint64_t name;
        Payload payload;
    };

    /// geometry.entries 0: an array that does not exist; it never hits. Throws Refusal on an unknown policy.
    EntryArray(const Geometry& geometry, const Chosen& replacement, const Platform& platform)
        : sets_(geometry.sets()), ways_(geometry.ways), set_of_(sets_), names_(sets_ * ways_, unused), payloads_(sets_ * ways_),
          used_(sets_, 0) {
        if (exists()) policy_ = replacements().make(replacement, sets_, ways_, platform);
    }

    bool exists() const { return sets_ != 0; }

    /// The entry's payload if present, else null; the policy is then told about the hit. Valid until the next call.
    Payload* lookup(uint64_t index, uint64_t name) {
        if (!exists()) return nullptr;
        const size_t set = set_of_(index);
        const uint64_t* const first = &names_[set * ways_];
        for (size_t way = 0; way < ways_; ++way)
            if (first[way] == name) {
                policy_->hit(set, way);
                return &payloads_[set * ways_ + way];
            }
        return nullptr;
    }

    /// pre: the entry is not present. True if another one was evicted; `evicted` is then that one.
    bool fill(uint64_t index, uint64_t name, Payload payload = {}, Evicted* evicted = nullptr) {
        if (!exists()) return false;
        const size_t set = set_of_(index);
        const bool full = used_[set] == ways_;
        const size_t way = full ? policy_->victim(set) : first_unused(set);
        const size_t place = set * ways_ + way;
        if (full && evicted != nullptr) *evicted = {names_[place], std::move(payloads_[place])};
        if (!full) ++used_[set];
        names_[place] = name;
        payloads_[place] = std::move(payload);
        policy_->fill(set, way);
        return full;
    }

    /// Forgets the entries for which test(name, payload) is true.
    template <class Test>
    void drop(Test&& test) {
        for (size_t place = 0; place < names_.size(); ++place) {
            if (names_[place] == unused || !test(names_[place], payloads_[place])) continue;
            names_[place] = unused;
            --used_[place / ways_];
        }
    }

private:
    static constexpr uint64_t unused = ~uint64_t{0};

    size_t first_unused(size_t set) const {
        size_t way = 0;
        while (names_[set * ways_ + way] != unused) ++way;
        return way;
    }

    size_t sets_, ways_;
    Remainder set_of_;
    std::vector<uint64_t> names_;    ///< [set][way]
    std::vector<Payload> payloads_;  ///< [set][way]
    std::vector<size_t> used_;       ///< [set]: ways in use
    std::unique_ptr<Replacement> policy_;
};

}  // namespace tessera::sim
