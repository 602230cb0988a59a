// entry_array.h - one set-associative array of named entries with a payload: sets x ways and a replacement policy.
//
// The caller chooses an entry's index, which gives the set (index modulo sets, any number of sets), and its name, which is
// unique in the array (kinds of entries that share an array differ in their names). Unused ways are filled first, lowest way
// first. LRU, the usual policy, is done here without calls of a policy: a row of the array is the names of a set, then the time of
// each one's last use, 0 for an unused way. Which way holds an entry cannot be predicted, so it is found without branches.
// Not modelled: PCIDs, permissions.
#pragma once

#include <algorithm>
#include <bit>
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
        : sets_(geometry.sets()), ways_(geometry.ways), set_of_(sets_), rows_(2 * sets_ * ways_, 0), payloads_(sets_ * ways_) {
        if (!exists()) return;
        for (size_t set = 0; set < sets_; ++set) std::fill_n(names_of(set), ways_, unused);
        policy_ = replacements().make(replacement, sets_, ways_, platform);
        if (replacement == "lru") policy_ = nullptr;
    }

    bool exists() const { return sets_ != 0; }

    /// The entry's payload if present, else null; the policy is then told about the hit. Valid until the next call.
    Payload* lookup(uint64_t index, uint64_t name) {
        if (!exists()) return nullptr;
        const size_t set = set_of_(index), way = find(names_of(set), name);
        if (way == ways_) return nullptr;
        used(set, way);
        return &payloads_[set * ways_ + way];
    }

    /// pre: the entry is not present. True if another one was evicted; `evicted` is then that one.
    bool fill(uint64_t index, uint64_t name, Payload payload = {}, Evicted* evicted = nullptr) {
        if (!exists()) return false;
        const size_t set = set_of_(index), way = next_way(set), place = set * ways_ + way;
        uint64_t& held = names_of(set)[way];
        const bool full = held != unused;
        if (full && evicted != nullptr) *evicted = {held, std::move(payloads_[place])};
        held = name;
        payloads_[place] = std::move(payload);
        if (policy_ == nullptr) times_of(set)[way] = ++now_;
        else policy_->fill(set, way);
        return full;
    }

    /// Forgets the entries for which test(name, payload) is true.
    template <class Test>
    void drop(Test&& test) {
        for (size_t set = 0; set < sets_; ++set)
            for (size_t way = 0; way < ways_; ++way) {
                uint64_t& name = names_of(set)[way];
                if (name == unused || !test(name, payloads_[set * ways_ + way])) continue;
                name = unused;
                times_of(set)[way] = 0;
            }
    }

private:
    static constexpr uint64_t unused = ~uint64_t{0};
    static constexpr size_t few = 16;  ///< ways that are all compared, without branches

    uint64_t* names_of(size_t set) { return &rows_[2 * set * ways_]; }
    uint64_t* times_of(size_t set) { return names_of(set) + ways_; }

    /// The way that holds the name; ways_ if none does.
    size_t find(const uint64_t* names, uint64_t name) const {
        if (ways_ > few) return size_t(std::find(names, names + ways_, name) - names);
        const uint32_t found = ways_ == 8 ? equal<8>(names, name) : ways_ == 4 ? equal<4>(names, name) : equal<0>(names, name);
        return found == 0 ? ways_ : size_t(std::countr_zero(found));
    }
    /// A bit for each way with this name. ways 0: as many as the array has.
    template <size_t ways>
    uint32_t equal(const uint64_t* names, uint64_t name) const {
        uint32_t found = 0;
        for (size_t way = 0; way < (ways == 0 ? ways_ : ways); ++way) found |= uint32_t(names[way] == name) << way;
        return found;
    }

    void used(size_t set, size_t way) {
        if (policy_ == nullptr) times_of(set)[way] = ++now_;
        else policy_->hit(set, way);
    }

    /// An unused way, the lowest one, else the policy's victim.
    size_t next_way(size_t set) {
        if (policy_ != nullptr) {
            const size_t way = find(names_of(set), unused);
            return way == ways_ ? policy_->victim(set) : way;
        }
        return ways_ == 8 ? oldest<8>(times_of(set)) : ways_ == 4 ? oldest<4>(times_of(set)) : oldest<0>(times_of(set));
    }
    /// ways 0: as many as the array has.
    template <size_t ways>
    size_t oldest(const uint64_t* times) const {
        size_t found = 0;
        uint64_t when = times[0];
        for (size_t way = 1; way < (ways == 0 ? ways_ : ways); ++way) {  // two selects: branches on times would be mispredicted
            const bool older = times[way] < when;
            found = older ? way : found;
            when = older ? times[way] : when;
        }
        return found;
    }

    size_t sets_, ways_;
    Remainder set_of_;
    std::vector<uint64_t> rows_;     ///< [set]: names by way, then times by way
    std::vector<Payload> payloads_;  ///< [set][way]
    uint64_t now_ = 0;
    std::unique_ptr<Replacement> policy_;  ///< null: LRU
};

}  // namespace tessera::sim
