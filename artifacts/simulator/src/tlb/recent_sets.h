// recent_sets.h - the sets of an array with at most eight ways and true LRU, each a cache line in the order of use: for AVX-512 only.
//
// Encoding. A word is an entry: name << 17 | payload. Of a name it holds the low 47 bits: the size of a page and the address bits
// up to 52, which tell all canonical addresses of 48 bits apart. The first word of a set is its most recent entry; unused ways hold ~0
// and come last. A use shifts the words before the entry by one place and puts it in front, and a fill does the same with all ways: the
// last word leaves. Words of ways that do not exist stay ~0. Invariant: the names of a set differ.
//
// Why it is beside lru_sets.h: with AVX-512, a set is a register and a step takes few instructions (recent_sets_avx512.h). A miss of
// anchor.cpp then takes 14 ns; with entry_array.h it takes 28 ns on gups and 40 ns on zipf (benchmark/streams.h; Sapphire Rapids at load
// 20, CPU time). The functions here do the same on any x86-64, for single steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/platform.h"
#include "tlb/entry_name.h"

namespace tessera::sim {

struct alignas(64) RecentSet {
    static constexpr size_t most_ways = 8;
    uint64_t words[most_ways];
};

class RecentSets {
public:
    static constexpr unsigned payload_bits = 17;
    static constexpr uint64_t most_payload = (uint64_t{1} << payload_bits) - 1;

    static bool can_be(const Geometry& geometry, const Chosen& replacement) {
        return geometry.entries != 0 && std::has_single_bit(geometry.sets()) && geometry.ways <= RecentSet::most_ways &&
               replacement == "lru";
    }

    /// pre: can_be().
    RecentSets(const Geometry& geometry, const Chosen&, const Platform&) : ways_(geometry.ways), sets_(geometry.sets()) {
        for (RecentSet& set : sets_) std::fill_n(set.words, RecentSet::most_ways, unused);
    }

    /// As those of tlb/entry_array.h; a place's way is a bit, and 0 if not found.
    /// pre: no name has 47 low bits that are all 1; payload <= most_payload.
    EntryPlace seek(uint64_t index, uint64_t name) const {
        const size_t set = index & set_mask();
        for (size_t way = 0; way < ways_; ++way)
            if ((sets_[set].words[way] ^ name << payload_bits) <= most_payload) return {set, size_t{1} << way, true};
        return {set, 0, false};
    }
    uint64_t payload(EntryPlace at) const { return sets_[at.set].words[std::countr_zero(at.found ? at.way : 1)] & most_payload; }
    void enter(EntryPlace at, uint64_t name, uint64_t payload) {
        uint64_t *const words = sets_[at.set].words, *const place = words + (at.found ? size_t(std::countr_zero(at.way)) : ways_ - 1);
        std::copy_backward(words, place, place + 1);
        words[0] = name << payload_bits | payload;
    }
    void enter_if(bool condition, EntryPlace at, uint64_t name, uint64_t payload) {
        if (condition) enter(at, name, payload);
    }

    /// Forgets the entries for which test(name, payload) is true; of the name, the low 47 bits.
    template <class Test>
    void drop(Test&& test) {
        for (RecentSet& set : sets_) {
            uint64_t* const end = set.words + ways_;
            const auto drops = [&](uint64_t word) { return word != unused && test(word >> payload_bits, word & most_payload); };
            std::fill(std::remove_if(set.words, end, drops), end, unused);
        }
    }

    RecentSet* sets() { return sets_.data(); }
    uint64_t set_mask() const { return sets_.size() - 1; }
    uint32_t all_ways() const { return (uint32_t{1} << ways_) - 1; }  ///< a bit for each

private:
    static constexpr uint64_t unused = ~uint64_t{0};

    size_t ways_;
    std::vector<RecentSet> sets_;
};

}  // namespace tessera::sim
