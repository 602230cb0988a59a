// lane_tlbs.h - L1 DTLB and second level of all layouts.
//
// If only counts are needed, references to the second level are deferred (deferred_sets.h), and L1 arrays of the common
// shape use a specialised loop, plain_pass(), which keeps all its data in registers.
#pragma once

#include "engine/lanes/first_level.h"
#include "engine/lanes/machine.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Dense numbers for pages of all sizes: 512 of 4KB, one of 2MB and one of 1GB a region (a gigabyte has that of one of its
/// regions). pre: region < 2^21, so that items stay below 2^31.
LANES_INLINE uint32_t item_of_4kb(uint32_t region, uint64_t address) { return region * 514 + (uint32_t(address >> 12) & 511); }
LANES_INLINE uint32_t item_of_2mb(uint32_t region) { return region * 514 + 512; }
LANES_INLINE uint32_t item_of_1gb(uint32_t gigabyte) { return gigabyte * 514 + 513; }

/// What happened to an access.
struct TlbOutcome {
    uint64_t looked_up;  ///< lanes that missed L1
    uint64_t walk[3];    ///< lanes that walk for a 4KB, 2MB, 1GB page
};

class LaneTlbs {
public:
    explicit LaneTlbs(const TlbConfig& c)
        : l1_{LaneFirstLevel(c.l1[0]), LaneFirstLevel(c.l1[1]), LaneFirstLevel(c.l1[2])},
          l2_{LaneArray(c.stlb, true), LaneArray(c.stlb_2mb, true), LaneArray(c.stlb_1gb, true)} {
        for (unsigned size = 0; size < 3; ++size) {
            l1_of_[size] = c.l1_in_4kb[size] ? 0 : uint8_t(size);
            l2_of_[size] = uint8_t(c.stlb_holds[size] ? 0 : size);
        }
    }

    /// Accesses [begin, end), of which only counts are wanted.
    void run(const Work& w, size_t begin, size_t end) {
        while (begin < end) begin = is_plain() ? plain_pass(w, begin, end) : any_pass(w, begin, end);
    }

    /// The second page of an access, of which only counts are wanted.
    void run_second(uint64_t address, uint32_t id, const Region& region) {
        each_size(address, id, region,
                  [&](unsigned size, uint64_t page, uint32_t item, uint64_t lanes) { count(size, page, item, lanes); });
    }

    LANES_INLINE_MEMBER TlbOutcome access(uint64_t address, uint32_t id, const Region& region) {
        TlbOutcome out = {0, {0, 0, 0}};
        each_size(address, id, region, [&](unsigned size, uint64_t page, uint32_t item, uint64_t lanes) __attribute__((always_inline)) {
            const uint64_t missed = l1_[l1_of_[size]].reference(page, item, lanes);
            if (missed == 0) return;
            LaneArray& second = l2_[l2_of_[size]];
            out.looked_up |= missed;
            out.walk[size] = second.exists() ? second.reference(item, second.index()(page), missed) : missed;
        });
        if (out.looked_up == 0) return out;
        const uint64_t walks = out.walk[0] | out.walk[1] | out.walk[2];
        data_.hits.add(out.looked_up & ~walks);
        data_.misses.add(walks);
        return out;
    }

    /// A code page that missed the ITLB, which is the same in all lanes; returns the lanes that miss the second level too.
    uint64_t fetch(uint64_t address, uint32_t region, uint64_t lanes) {
        LaneArray& second = l2_[0];
        const uint64_t walks =
            second.exists() ? second.reference(item_of_4kb(region, address), second.index()(address >> 12), lanes) : lanes;
        instruction.hits.add(lanes & ~walks);
        instruction.misses.add(walks);
        return walks;
    }

    /// Adds the data side's counts since the last call.
    void drain(uint64_t hits[64], uint64_t misses[64]) {
        for (LaneArray& second : l2_) {
            second.settle();
            second.tally().hits.drain(hits);
            second.tally().misses.drain(misses);
        }
        data_.hits.drain(hits);
        data_.misses.drain(misses);
    }

    unsigned wide_arrays() const {
        unsigned wide = 0;
        for (const LaneFirstLevel& first : l1_) wide += first.wide();
        for (const LaneArray& second : l2_) wide += second.wide();
        return wide;
    }

    Tally instruction;

private:
    /// Calls reference(size, page, item, lanes) for each page size that the access has in some lane.
    template <class Reference>
    LANES_INLINE void each_size(uint64_t address, uint32_t id, const Region& region, const Reference& reference) {
        if (region.lanes[0] != 0) reference(0, address >> 12, item_of_4kb(id, address), region.lanes[0]);
        if (region.lanes[1] != 0) reference(1, address >> 21, item_of_2mb(id), region.lanes[1]);
        if (region.lanes[2] != 0) reference(2, address >> 30, item_of_1gb(region.gigabyte), region.lanes[2]);
    }

    void count(unsigned size, uint64_t page, uint32_t item, uint64_t lanes) {
        const uint64_t missed = l1_[l1_of_[size]].reference(page, item, lanes);
        if (missed != 0) count_second(size, page, item, missed);
    }
    void count_second(unsigned size, uint64_t page, uint32_t item, uint64_t lanes) {
        LaneArray& second = l2_[l2_of_[size]];
        if (second.exists()) second.defer(item, second.index()(page), lanes);
        else data_.misses.add(lanes);
    }

    /// Returns `end`, as plain_pass() does.
    __attribute__((noinline)) size_t any_pass(const Work& w, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
            each_size(w.addresses[i], w.regions[i], w.region_table[w.regions[i]],
                      [&](unsigned size, uint64_t page, uint32_t item, uint64_t lanes) { count(size, page, item, lanes); });
        return end;
    }

    /// The arrays of 4KB and 2MB pages have views, and the second level defers.
    bool is_plain() const {
        for (unsigned size = 0; size < 2; ++size) {
            const LaneArray& second = l2_[l2_of_[size]];
            if (!l1_[l1_of_[size]].is_plain() || !second.is_plain() || !second.is_deferring()) return false;
        }
        return true;
    }
    /// Returns where it ended: before `end` when an array was widened, which makes views invalid.
    __attribute__((noinline)) size_t plain_pass(const Work& w, size_t begin, size_t end) {
        const LaneFirstLevel::View first[2] = {l1_[l1_of_[0]].view(), l1_[l1_of_[1]].view()};
        const LaneArray::View second[2] = {l2_[l2_of_[0]].view(), l2_[l2_of_[1]].view()};
        const unsigned wide = wide_arrays();
        const uint64_t* const addresses = w.addresses;
        const uint32_t* const ids = w.regions;
        const Region* const regions = w.region_table;
        // Where there are few regions, their names stay, and are tried before they are looked up.
        Guess* const guesses = w.region_count <= few_regions ? guesses_.data() : nullptr;
        bool valid = true;
        size_t i = begin;
        const auto one = [&](unsigned size, uint64_t page, uint32_t item, uint64_t lanes, Guess* guess) __attribute__((always_inline)) {
            bool found;
            const uint64_t missed = first[size].reference(page, item, lanes, guess != nullptr ? &guess->first : nullptr, found);
            if (__builtin_expect(!found, 0)) {
                count(size, page, item, lanes);
                valid = wide_arrays() == wide;
            } else if (missed != 0 && __builtin_expect(!second[size].defer(item, uint32_t(page & second[size].set_mask), missed,
                                                                           guess != nullptr ? &guess->second : nullptr),
                                                       0)) {
                count_second(size, page, item, missed);
                valid = wide_arrays() == wide;
            }
        };
        for (; i < end && valid; ++i) {
            const uint64_t address = addresses[i];
            const uint32_t id = ids[i];
            const Region& region = regions[id];
            if (region.lanes[0] != 0) one(0, address >> 12, item_of_4kb(id, address), region.lanes[0], nullptr);
            if (region.lanes[1] != 0) {
                if (__builtin_expect(valid, 1))
                    one(1, address >> 21, item_of_2mb(id), region.lanes[1], guesses != nullptr ? guesses + id : nullptr);
                else count(1, address >> 21, item_of_2mb(id), region.lanes[1]);
            }
            if (__builtin_expect(region.lanes[2] != 0, 0)) {
                count(2, address >> 30, item_of_1gb(region.gigabyte), region.lanes[2]);
                valid = wide_arrays() == wide;
            }
        }
        return i;
    }

    static constexpr size_t few_regions = 1024;
    /// Names that a region's 2MB page had in its arrays of the first and second level.
    struct Guess {
        uint8_t first, second;
    };

    LaneFirstLevel l1_[3];  ///< of 4KB, 2MB, 1GB
    LaneArray l2_[3];   ///< shared, that of 2MB, that of 1GB
    uint8_t l1_of_[3], l2_of_[3];
    Array<Guess> guesses_{few_regions};  ///< by region id
    Tally data_;  ///< hits and misses that were not deferred
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
