// lane_array.h - one set-associative array (a TLB or a walk cache) of all layouts: rows, names, and the code that fits its
// replacement, associativity and name width, chosen when it is made and when it is widened.
#pragma once

#include "engine/lanes/lru_rows.h"
#include "engine/lanes/named_rows.h"
#include "engine/lanes/srrip.h"
#include "engine/lanes/tree_plru.h"
#include "engine/lanes/way_rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LaneArray {
public:
    /// deferring: defer() will be called.
    explicit LaneArray(const ArrayShape& shape, bool deferring = false)
        : shape_(shape),
          index_(shape.sets),
          rows_(shape),
          set_words_(words_of(shape)),
          words_(shape.sets * set_words_),
          deferred_(deferring ? shape.sets : 0),
          code_(choose<1>(shape)) {
        if (!deferring) code_.together = nullptr;
    }

    bool exists() const { return shape_.sets != 0; }
    bool wide() const { return rows_.is_wide(); }
    const SetIndex& index() const { return index_; }

    /// One reference; returns the lanes that missed.
    uint64_t reference(uint32_t item, uint32_t set, uint64_t lanes) {
        if (code_.together != nullptr) settle(set);
        return code_.one(*this, item, set, lanes);
    }

    /// What View needs: a power of two of sets, LRU, and names of one byte.
    bool is_plain() const { return exists() && index_.is_power_of_two() && shape_.replacement == Replacement::lru && !wide(); }
    unsigned ways() const { return shape_.ways; }
    bool is_deferring() const { return code_.together != nullptr; }

    /// What a loop over references keeps in registers: stores of rows could otherwise change it for all that the compiler knows.
    /// pre: is_plain(), which the array ceases to be when it is widened; any call of reference() or defer() may do so.
    struct View {
        uint64_t set_mask;  ///< a set's number is the page's, masked
        Names::View names;
        Row* rows;
        DeferredSets::View deferred;

        /// guess: a byte for this item alone that is 0 at first, for an item that keeps its name long; or null.
        LANES_INLINE_MEMBER uint32_t name(uint32_t item, uint32_t set, uint8_t* guess) const {
            return guess != nullptr ? names.name_again(item, set, *guess) : names.name(item, set).name;
        }
        /// As reference(); `found` is false, and nothing has happened, where there is no place for a name. pre: ways() == ways.
        template <unsigned ways>
        LANES_INLINE_MEMBER uint64_t reference(uint32_t item, uint32_t set, uint64_t lanes, uint8_t* guess, bool& found) const {
            const uint32_t name = this->name(item, set, guess);
            found = __builtin_expect(name != 0, 1);
            return found ? move_to_front<1, ways>(rows + size_t{set} * ways, ways, name, lanes) : 0;
        }
        /// As defer(); false, and nothing has happened, where there is no place for a name or in the queue. pre: is_deferring().
        LANES_INLINE_MEMBER bool defer(uint32_t item, uint32_t set, uint64_t lanes, uint8_t* guess) const {
            const uint32_t name = this->name(item, set, guess);
            return __builtin_expect(name != 0, 1) && deferred.add(name, set, lanes);
        }
    };
    View view() { return {index_.mask(), rows_.names<1>(), rows_.rows_of<1>(0, 0), deferred_.view()}; }

    /// A reference whose hits and misses are wanted by the next settle() only. pre: deferring.
    void defer(uint32_t item, uint32_t set, uint64_t lanes) {
        if (code_.together == nullptr) return count_now(item, set, lanes);
        if (deferred_.is_full(set)) settle(set);
        if (!view().defer(item, set, lanes, nullptr)) count_now(item, set, lanes);
    }
    void settle() {
        for (uint32_t set = 0; code_.together != nullptr && set < index_.sets(); ++set) settle(set);
    }
    /// What deferred references have hit and missed.
    Tally& tally() { return tally_; }

private:
    struct Code {
        uint64_t (*one)(LaneArray&, uint32_t item, uint32_t set, uint64_t lanes);
        void (*together)(LaneArray&, uint32_t set);  ///< all deferred references to a set; null: nothing is deferred
    };

    template <unsigned planes, unsigned fixed_ways>
    static uint64_t lru_one(LaneArray& a, uint32_t item, uint32_t set, uint64_t lanes) {
        const uint32_t name = a.rows_.names<planes>().name(item, set).name;
        if (__builtin_expect(name == 0, 0)) return a.reference_after_making_room(item, set, lanes);
        const unsigned ways = fixed_ways != 0 ? fixed_ways : a.shape_.ways;
        return move_to_front<planes, fixed_ways>(a.rows_.rows_of<planes>(set, ways), ways, name, lanes);
    }
    template <unsigned ways>
    static void lru_together(LaneArray& a, uint32_t set) {
        move_all_to_front<ways>(a.rows_.rows_of<1>(set, ways), a.deferred_.waiting(set), a.deferred_.count(set), a.tally_);
    }

    template <unsigned planes, class Policy>
    static uint64_t ways_one(LaneArray& a, uint32_t item, uint32_t set, uint64_t lanes) {
        const unsigned ways = a.shape_.ways;
        const Names::Found found = a.rows_.names<planes>().name(item, set);
        if (__builtin_expect(found.name == 0, 0)) return a.reference_after_making_room(item, set, lanes);
        return reference_ways<planes, Policy>(a.rows_.rows_of<planes>(set, ways), a.words_.data() + size_t{set} * a.set_words_, ways,
                                              found.name, found.known, lanes);
    }
    static unsigned words_of(const ArrayShape& shape) {
        if (shape.replacement == Replacement::lru) return 0;
        return shape.ways + (shape.replacement == Replacement::srrip ? Srrip::words(shape.ways) : TreePlru::words(shape.ways));
    }

    template <unsigned planes>
    static Code choose(const ArrayShape& shape) {
        if (shape.replacement == Replacement::tree_plru) return {ways_one<planes, TreePlru>, nullptr};
        if (shape.replacement == Replacement::srrip) return {ways_one<planes, Srrip>, nullptr};
        switch (shape.ways) {  // the associativities that occur, unrolled
            case 4: return lru_code<planes, 4>();
            case 6: return lru_code<planes, 6>();
            case 8: return lru_code<planes, 8>();
            case 12: return lru_code<planes, 12>();
            default: return {lru_one<planes, 0>, nullptr};
        }
    }
    template <unsigned planes, unsigned ways>
    static Code lru_code() {
        if constexpr (planes == 1) return {lru_one<1, ways>, lru_together<ways>};
        else return {lru_one<planes, ways>, nullptr};
    }

    void settle(uint32_t set) {
        if (deferred_.count(set) == 0) return;
        code_.together(*this, set);
        deferred_.clear(set);
    }
    __attribute__((noinline)) void count_now(uint32_t item, uint32_t set, uint64_t lanes) {
        const uint64_t missed = reference(item, set, lanes);
        tally_.hits.add(lanes & ~missed);
        tally_.misses.add(missed);
    }

    /// The item's bucket is full. pre: nothing is deferred in this set, so what no row holds is in no lane.
    __attribute__((noinline)) uint64_t reference_after_making_room(uint32_t item, uint32_t set, uint64_t lanes) {
        if (rows_.forget(set)) {
            settle();  // deferred references have one-byte names
            rows_.widen();
            code_ = choose<2>(shape_);
        }
        rows_.place(item, set);
        return code_.one(*this, item, set, lanes);
    }

    ArrayShape shape_;
    SetIndex index_;
    NamedRows rows_;
    unsigned set_words_;
    Array<uint64_t> words_;  ///< of policies that keep bits: [set][set_words_]
    DeferredSets deferred_;
    Tally tally_;
    Code code_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
