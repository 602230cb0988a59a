// lane_tlbs.h - L1 DTLB and second level of all layouts.
//
// Arrays do not see each other's contents, so each is moved through a whole batch of accesses at once. A filter skips what
// cannot change anything, and is exact: a page that was the last to be referenced in its L1 set is hit in every lane that
// refers to it, and touching the entry touched last changes nothing under LRU and tree-PLRU (under SRRIP from the third
// time on). Consecutive references to one page are the commonest case.
#pragma once

#include "engine/lanes/byte_counters.h"
#include "engine/lanes/lane_array.h"
#include "engine/lanes/machine.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Dense numbers for pages of all sizes: 512 of 4KB, one of 2MB and one of 1GB a region (a gigabyte has that of one of its
/// regions). pre: region < 2^21, so that items stay below 2^31.
LANES_INLINE uint32_t item_of_4kb(uint32_t region, uint64_t address) { return region * 514 + (uint32_t(address >> 12) & 511); }
LANES_INLINE uint32_t item_of_2mb(uint32_t region) { return region * 514 + 512; }
LANES_INLINE uint32_t item_of_1gb(uint32_t gigabyte) { return gigabyte * 514 + 513; }

/// What happened to a batch of accesses, an element an access.
struct TlbOutcomes {
    static constexpr size_t batch = 64;
    uint64_t looked_up[batch];  ///< lanes that missed L1
    uint64_t walk[3][batch];    ///< lanes that walk for a 4KB, 2MB, 1GB page
};

class LaneTlbs {
public:
    static constexpr unsigned page_shift[3] = {12, 21, 30};

    explicit LaneTlbs(const TlbConfig& c)
        : arrays_{LaneArray(c.l1[0]), LaneArray(c.l1[1]), LaneArray(c.l1[2]), LaneArray(c.stlb), LaneArray(c.stlb_2mb), LaneArray(c.stlb_1gb)},
          last_{Array<uint32_t>(c.l1[0].sets), Array<uint32_t>(c.l1[1].sets), Array<uint32_t>(c.l1[2].sets)},
          once_(c.l1[0].replacement == Replacement::srrip ? 1u << 31 : 0) {
        for (unsigned size = 0; size < 3; ++size) {
            l1_of_[size] = c.l1_in_4kb[size] ? 0 : uint8_t(size);
            l2_of_[size] = uint8_t(c.stlb_holds[size] ? 3 : 3 + size);
        }
    }

    /// Accesses [begin, end), at most a batch. Returns false, and leaves `out` alone, when every access hits in L1 in all lanes.
    bool run(const Work& w, size_t begin, size_t end, TlbOutcomes& out) {
        struct Level1 {
            SetIndex index;
            uint32_t* last;
            Reference* next;
        } level1[3];
        for (unsigned l1 = 0; l1 < 3; ++l1) level1[l1] = {arrays_[l1].index(), last_[l1].data(), first_[l1]};
        Level1 &for_4kb = level1[0], &for_2mb = level1[l1_of_[1]], &for_1gb = level1[l1_of_[2]];
        const SetIndex second[3] = {arrays_[l2_of_[0]].index(), arrays_[l2_of_[1]].index(), arrays_[l2_of_[2]].index()};
        const uint32_t once = once_;
        Asked* asked = asked_;
        for (size_t i = begin; i < end; ++i) {
            const uint64_t address = w.addresses[i];
            const uint32_t id = w.regions[i], owner = uint32_t(i - begin);
            const Region& region = w.region_table[id];
            const auto ask = [&](Level1& l1, unsigned size, uint32_t item) __attribute__((always_inline)) {
                const uint64_t number = address >> page_shift[size];
                const uint32_t set = l1.index(number), who = size << 6 | owner;
                uint32_t& last = l1.last[set];
                if (last == item) return;
                last = last == (item | once) ? item : item | once;
                *l1.next = {region.lanes[size], item, set << 8 | who};
                *asked++ = {l1.next++, second[size](number) << 8 | who};
            };
            if (region.lanes[0] != 0) ask(for_4kb, 0, item_of_4kb(id, address));
            if (region.lanes[1] != 0) ask(for_2mb, 1, item_of_2mb(id));
            if (region.lanes[2] != 0) ask(for_1gb, 2, item_of_1gb(region.gigabyte));
        }
        if (asked == asked_) return false;
        for (unsigned l1 = 0; l1 < 3; ++l1)
            if (level1[l1].next != first_[l1]) arrays_[l1].run(first_[l1], size_t(level1[l1].next - first_[l1]));
        second_level(asked, out);
        return true;
    }

    /// A code page that missed the ITLB, which is the same in all lanes; returns the lanes that miss the second level too.
    uint64_t fetch(uint64_t address, uint32_t region, uint64_t lanes) {
        LaneArray& stlb = arrays_[3];
        const uint64_t walks = stlb.exists() ? stlb.reference(item_of_4kb(region, address), stlb.index()(address >> 12), lanes) : lanes;
        instruction_hits.add(lanes & ~walks);
        instruction_misses.add(walks);
        return walks;
    }

    unsigned wide_arrays() const {
        unsigned wide = 0;
        for (const LaneArray& a : arrays_) wide += a.wide();
        return wide;
    }

    LaneCounter hits, misses, instruction_hits, instruction_misses;

private:
    /// A reference to L1, and its place in the second level (as Reference::place).
    struct Asked {
        const Reference* first;
        uint32_t second_place;
    };

    /// What missed L1, in the order of accesses.
    void second_level(const Asked* end, TlbOutcomes& out) {
        Reference* next[6] = {nullptr, nullptr, nullptr, second_[0], second_[1], second_[2]};
        uint64_t* const walk = out.walk[0];  // by the lower eight bits of a place
        std::memset(&out, 0, sizeof out);
        for (const Asked* asked = asked_; asked != end; ++asked) {
            const uint64_t lanes = asked->first->lanes;
            if (lanes == 0) continue;
            const uint32_t place = asked->second_place;
            out.looked_up[place & 63] |= lanes;
            Reference*& to = next[l2_of_[place >> 6 & 3]];
            to->lanes = lanes;
            to->item = asked->first->item;
            to->place = place;
            ++to;
        }
        for (unsigned l2 = 0; l2 < 3; ++l2) {
            const size_t count = size_t(next[3 + l2] - second_[l2]);
            if (count != 0 && arrays_[3 + l2].exists()) arrays_[3 + l2].run(second_[l2], count);  // without an array, what missed walks
            for (size_t k = 0; k < count; ++k) {
                asm("");  // one at a time: scattered stores are slower
                walk[second_[l2][k].place & 255] = second_[l2][k].lanes;
            }
        }
        uint64_t hit[TlbOutcomes::batch], miss[TlbOutcomes::batch];
        for (size_t i = 0; i < TlbOutcomes::batch; ++i) {
            miss[i] = out.walk[0][i] | out.walk[1][i] | out.walk[2][i];
            hit[i] = out.looked_up[i] & ~miss[i];
        }
        hits.add_all(hit, TlbOutcomes::batch);
        misses.add_all(miss, TlbOutcomes::batch);
    }

    LaneArray arrays_[6];  ///< L1 of 4KB, 2MB, 1GB; shared second level, that of 2MB, that of 1GB
    Array<uint32_t> last_[3];  ///< [set] of an L1 array: the item referenced last
    uint32_t once_;            ///< under SRRIP, set in `last_` until the item has been referenced twice
    uint8_t l1_of_[3], l2_of_[3];
    Reference first_[3][3 * TlbOutcomes::batch], second_[3][3 * TlbOutcomes::batch];  ///< of the batch, by array
    Asked asked_[3 * TlbOutcomes::batch];                                             ///< those of L1, by access
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
