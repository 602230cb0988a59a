// entry_array.h - one set-associative array of named entries with a payload: sets x ways and a replacement policy.
//
// The caller chooses an entry's index, which gives the set (index modulo sets, any number of sets), and its name, which is
// unique in the array (kinds of entries that share an array differ in their names). Unused ways are filled first, lowest way
// first. LRU, the usual policy, is done here without calls of a policy: up to eight ways by lru_sets.h, and more ways by a row of
// names and a row of the times of their last uses, 0 for an unused way.
//
// lookup() and fill() are for all callers. seek() and enter() are the same steps without branches, for designs that replay
// many misses in a loop: which entries a set holds cannot be predicted. Not modelled: PCIDs, permissions.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "base/remainder.h"
#include "base/select.h"
#include "tlb/lru_sets.h"
#include "replacement/replacement.h"

namespace tessera::sim {

/// Where an entry of an array is, or belongs.
struct EntryPlace {
    size_t set, way;  ///< way: meaningless if not found
    bool found;
};

template <class Payload>
class EntryArray {
public:
    struct Evicted {
        uint64_t name;
        Payload payload;
    };

    /// geometry.entries 0: an array that does not exist; it never hits. Throws Refusal on an unknown policy.
    EntryArray(const Geometry& geometry, const Chosen& replacement, const Platform& platform)
        : sets_(geometry.sets()), ways_(geometry.ways), set_of_(sets_), few_(0, 1) {
        if (!exists()) return;
        policy_ = replacements().make(replacement, sets_, ways_, platform);
        if (replacement == "lru") policy_ = nullptr;
        is_few_ = policy_ == nullptr && ways_ <= LruSets::most_ways;
        if (is_few_) few_ = LruSets(sets_, ways_);
        else rows_.assign(2 * sets_ * ways_, 0);
        for (size_t set = 0; !is_few_ && set < sets_; ++set) std::fill_n(names_of(set), ways_, unused);
        stride_ = is_few_ ? LruSets::most_ways : ways_;
        payloads_.resize(sets_ * stride_);
    }

    bool exists() const { return sets_ != 0; }
    /// seek() and enter() are possible: LRU with at most eight ways.
    bool has_steps() const { return is_few_; }

    /// The entry's payload if present, else null; the policy is then told about the hit. Valid until the next call.
    Payload* lookup(uint64_t index, uint64_t name) {
        if (!exists()) return nullptr;
        const size_t set = set_of_(index);
        const size_t way = is_few_ ? few_.find(set, name) : find(names_of(set), name);
        if (way == stride_) return nullptr;
        used(set, way);
        return &payloads_[set * stride_ + way];
    }

    /// pre: the entry is not present. True if another one was evicted; `evicted` is then that one.
    bool fill(uint64_t index, uint64_t name, Payload payload = {}, Evicted* evicted = nullptr) {
        if (!exists()) return false;
        const size_t set = set_of_(index), way = next_way(set), place = set * stride_ + way;
        const uint64_t held = is_few_ ? few_.name(set, way) : names_of(set)[way];
        const bool full = held != unused;
        if (full && evicted != nullptr) *evicted = {held, std::move(payloads_[place])};
        if (is_few_) few_.put(set, way, name);
        else names_of(set)[way] = name;
        payloads_[place] = std::move(payload);
        if (policy_ == nullptr) used(set, way);
        else policy_->fill(set, way);
        return full;
    }

    /// pre of these: has_steps(). Only enter() changes the array.
    EntryPlace seek(uint64_t index, uint64_t name) const {
        const size_t set = set_of_(index), way = few_.find(set, name);
        return {set, way & (LruSets::most_ways - 1), way < LruSets::most_ways};
    }
    /// What lookup() does if the entry is there (its payload is then replaced), else what fill() does. pre: `at` is where it belongs,
    /// and whether it is there has not changed since.
    void enter(EntryPlace at, uint64_t name, Payload payload = {}) {
        const size_t way = select(at.found, at.way, few_.victim(at.set));
        few_.put(at.set, way, name);
        payloads_[at.set * LruSets::most_ways + way] = std::move(payload);
        few_.use(at.set, way);
    }

    /// Forgets the entries for which test(name, payload) is true.
    template <class Test>
    void drop(Test&& test) {
        if (is_few_) return few_.drop([&](size_t set, size_t way, uint64_t name) { return test(name, payloads_[set * stride_ + way]); });
        for (size_t set = 0; set < sets_; ++set)
            for (size_t way = 0; way < ways_; ++way) {
                uint64_t& name = names_of(set)[way];
                if (name == unused || !test(name, payloads_[set * stride_ + way])) continue;
                name = unused;
                times_of(set)[way] = 0;
            }
    }

private:
    static constexpr uint64_t unused = LruSets::unused;
    static constexpr size_t all_compared = 16;  ///< most ways that are all compared, without branches

    uint64_t* names_of(size_t set) { return &rows_[2 * set * ways_]; }
    uint64_t* times_of(size_t set) { return names_of(set) + ways_; }

    /// The way that holds the name; ways_ if none does.
    size_t find(const uint64_t* names, uint64_t name) const {
        if (ways_ > all_compared) return size_t(std::find(names, names + ways_, name) - names);
        uint32_t found = 0;
        for (size_t way = 0; way < ways_; ++way) found |= uint32_t(names[way] == name) << way;
        return found == 0 ? ways_ : size_t(std::countr_zero(found));
    }

    void used(size_t set, size_t way) {
        if (is_few_) few_.use(set, way);
        else if (policy_ == nullptr) times_of(set)[way] = ++now_;
        else policy_->hit(set, way);
    }

    /// An unused way, the lowest one, else the policy's victim.
    size_t next_way(size_t set) {
        if (is_few_) return few_.victim(set);
        if (policy_ == nullptr) return oldest(times_of(set));
        const size_t way = find(names_of(set), unused);
        return way == ways_ ? policy_->victim(set) : way;
    }
    size_t oldest(const uint64_t* times) const {
        size_t found = 0;
        uint64_t when = times[0];
        for (size_t way = 1; way < ways_; ++way) {  // two selects: branches on times would be mispredicted
            const bool older = times[way] < when;
            found = older ? way : found;
            when = older ? times[way] : when;
        }
        return found;
    }

    size_t sets_, ways_, stride_ = 0;  ///< stride_: payloads of a set
    Remainder set_of_;
    bool is_few_ = false;
    LruSets few_;                    ///< if is_few_
    std::vector<uint64_t> rows_;     ///< else: [set]: names by way, then times by way
    std::vector<Payload> payloads_;  ///< [set][way]
    uint64_t now_ = 0;
    std::unique_ptr<Replacement> policy_;  ///< null: LRU
};

}  // namespace tessera::sim
