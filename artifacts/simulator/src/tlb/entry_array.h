// entry_array.h - one set-associative array of named entries with a payload: sets x ways and a replacement policy.
//
// The caller chooses an entry's index, which gives the set (index modulo sets, any number of sets), and its name, which is
// unique in the array (kinds of entries that share an array differ in their names). Unused ways are filled first, lowest way
// first. With LRU, the usual policy, a set of up to eight ways is one of lru_sets.h; more ways ask the policy without virtual calls.
//
// A caller that enters what it did not find has two ways to do so. lookup() and fill() are two searches with a branch between them.
// seek() and enter() are one search, and up to eight ways of LRU have no branch on what a set holds, which the host cannot predict.
// Not modelled: PCIDs, permissions.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "base/remainder.h"
#include "base/select.h"
#include "replacement/lru.h"
#include "tlb/entry_name.h"
#include "tlb/lru_sets.h"

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
        : sets_(geometry.sets()), ways_(geometry.ways), set_of_(sets_), few_(0, 1), payloads_(1) {
        if (!exists()) return;
        const bool is_lru = replacement == "lru";
        is_few_ = is_lru && ways_ <= LruSets::most_ways;
        if (is_few_) {
            few_ = LruSets(sets_, ways_);
        } else {
            policy_ = replacements().make(replacement, sets_, ways_, platform);
            if (is_lru) lru_ = static_cast<Lru*>(policy_.get());
            names_.assign(sets_ * ways_, unused);
        }
        stride_ = is_few_ ? LruSets::most_ways : ways_;
        payloads_.resize(sets_ * stride_);
    }

    bool exists() const { return sets_ != 0; }

    /// The entry's payload if present, else null; the policy is then told about the hit. Valid until the next call.
    Payload* lookup(uint64_t index, uint64_t name) {
        const EntryPlace at = seek(index, name);
        if (!at.found) return nullptr;
        use(at.set, at.way);
        return &payload(at);
    }

    /// pre: the entry is not present. True if another one was evicted; `evicted` is then that one.
    bool fill(uint64_t index, uint64_t name, Payload payload = {}, Evicted* evicted = nullptr) {
        if (!exists()) return false;
        const size_t set = set_of_(index), way = next_way(set);
        const uint64_t held = is_few_ ? few_.name(set, way) : names_[set * ways_ + way];
        const bool full = held != unused;
        if (full && evicted != nullptr) *evicted = {held, std::move(payloads_[set * stride_ + way])};
        put(set, way, name, std::move(payload));
        return full;
    }

    /// Changes nothing.
    EntryPlace seek(uint64_t index, uint64_t name) const {
        const size_t set = set_of_(index);
        if (is_few_) {
            const size_t way = few_.find(set, name);
            return {set, way & (LruSets::most_ways - 1), way < LruSets::most_ways};
        }
        if (!exists()) return {0, 0, false};
        const size_t way = find(&names_[set * ways_], name);
        return way < ways_ ? EntryPlace{set, way, true} : EntryPlace{set, 0, false};
    }
    /// What lookup() does if the entry is there (its payload is then replaced), else what fill() does. pre: `at` is where it belongs,
    /// and whether it is there has not changed since.
    void enter(EntryPlace at, uint64_t name, Payload payload = {}) {
        if (is_few_) {
            const size_t way = select(at.found, at.way, few_.victim(at.set));
            few_.put(at.set, way, name);
            payloads_[at.set * LruSets::most_ways + way] = std::move(payload);
            few_.use(at.set, way);
            return;
        }
        if (!exists()) return;
        if (at.found) {
            this->payload(at) = std::move(payload);
            use(at.set, at.way);
        } else {
            put(at.set, next_way(at.set), name, std::move(payload));
        }
    }
    void enter_if(bool condition, EntryPlace at, uint64_t name, Payload payload = {}) {
        if (condition) enter(at, name, std::move(payload));
    }
    /// Both steps. True if the entry was there.
    bool lookup_or_fill(uint64_t index, uint64_t name, Payload payload = {}) {
        const EntryPlace at = seek(index, name);
        enter(at, name, std::move(payload));
        return at.found;
    }
    /// Any payload if the entry was not found.
    Payload& payload(EntryPlace at) { return payloads_[at.set * stride_ + at.way]; }

    /// Forgets the entries for which test(name, payload) is true.
    template <class Test>
    void drop(Test&& test) {
        if (is_few_) return few_.drop([&](size_t set, size_t way, uint64_t name) { return test(name, payloads_[set * stride_ + way]); });
        for (size_t set = 0; set < sets_; ++set)
            for (size_t way = 0; way < ways_; ++way) {
                uint64_t& name = names_[set * ways_ + way];
                if (name == unused || !test(name, payloads_[set * stride_ + way])) continue;
                name = unused;
                if (lru_ != nullptr) lru_->forget(set, way);
            }
    }

private:
    static constexpr uint64_t unused = LruSets::unused;
    static constexpr size_t all_compared = 16;  ///< most ways that are all compared, without branches

    /// The way that holds the name; ways_ if none does.
    size_t find(const uint64_t* names, uint64_t name) const {
        if (ways_ > all_compared) return size_t(std::find(names, names + ways_, name) - names);
        uint32_t found = 0;
        for (size_t way = 0; way < ways_; ++way) found |= uint32_t(names[way] == name) << way;
        return found == 0 ? ways_ : size_t(std::countr_zero(found));
    }

    void use(size_t set, size_t way) {
        if (is_few_) few_.use(set, way);
        else if (lru_ != nullptr) lru_->hit(set, way);
        else policy_->hit(set, way);
    }

    /// An unused way, the lowest one, else the policy's victim.
    size_t next_way(size_t set) {
        if (is_few_) return few_.victim(set);
        if (lru_ != nullptr) return lru_->victim(set);
        const size_t way = find(&names_[set * ways_], unused);
        return way == ways_ ? policy_->victim(set) : way;
    }

    void put(size_t set, size_t way, uint64_t name, Payload payload) {
        payloads_[set * stride_ + way] = std::move(payload);
        if (is_few_) {
            few_.put(set, way, name);
            few_.use(set, way);
            return;
        }
        names_[set * ways_ + way] = name;
        if (lru_ != nullptr) lru_->fill(set, way);
        else policy_->fill(set, way);
    }

    size_t sets_, ways_, stride_ = 0;  ///< stride_: payloads of a set
    Remainder set_of_;
    bool is_few_ = false;
    LruSets few_;                          ///< if is_few_
    std::vector<uint64_t> names_;          ///< else: [set][way]
    std::unique_ptr<Replacement> policy_;  ///< else
    Lru* lru_ = nullptr;                   ///< the policy, if it is LRU
    std::vector<Payload> payloads_;        ///< [set][way]
};

}  // namespace tessera::sim
