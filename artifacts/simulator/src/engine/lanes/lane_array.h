// lane_array.h - one set-associative array (a TLB or a walk cache) of all layouts: rows, names, and the loop that fits its
// replacement, associativity and name width, chosen when it is made.
//
// Names have one byte until a set holds so many different items that building its table anew all the time would cost more
// than wide rows do; then the array goes over to names of two bytes and stays there. Counts are exact either way.
#pragma once

#include "engine/lanes/lru_rows.h"
#include "engine/lanes/machine_config.h"
#include "engine/lanes/names.h"
#include "engine/lanes/srrip.h"
#include "engine/lanes/tree_plru.h"
#include "engine/lanes/way_rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// One reference of a batch: to `item`, which falls into set `place` >> 8, in `lanes`; the array leaves those that missed.
struct Reference {
    uint64_t lanes;
    uint32_t item;
    uint32_t place;  ///< the lower eight bits are the caller's
};

class LaneArray {
public:
    explicit LaneArray(const ArrayShape& shape)
        : shape_(shape), index_(shape.sets), rows_(shape.sets * shape.ways),
          set_words_(words_of(shape)), words_(shape.sets * set_words_), loop_(choose<1>(shape)) {
        if (exists()) names_.open(shape.sets, 8);
    }

    bool exists() const { return shape_.sets != 0; }
    bool wide() const { return is_wide_; }
    const SetIndex& index() const { return index_; }

    /// Makes references in order.
    void run(Reference* references, size_t count) {
        for (size_t i = 0; i < count;) {
            i += loop_(*this, references + i, count - i);
            if (i < count) make_room(references[i].item, references[i].place >> 8);
        }
    }
    /// One reference; returns the lanes that missed.
    uint64_t reference(uint32_t item, uint32_t set, uint64_t lanes) {
        Reference one{lanes, item, set << 8};
        run(&one, 1);
        return one.lanes;
    }

private:
    /// Makes references until one finds no name, which is not made; returns how many were made.
    using Loop = size_t (*)(LaneArray&, Reference*, size_t);
    static constexpr size_t names_ahead = 5;
    /// Of 255 names; beyond, buckets fill so fast that names of two bytes are cheaper.
    static constexpr uint32_t most_held = 144;

    template <unsigned planes, unsigned fixed_ways>
    static size_t lru_loop(LaneArray& a, Reference* references, size_t count) {
        const Names::View names = a.view<planes>();
        const unsigned ways = fixed_ways != 0 ? fixed_ways : a.shape_.ways;
        Row* const rows = a.rows_.data();
        for (size_t i = 0; i < count; ++i) {
            const Reference r = references[i];
            if (i + names_ahead < count) names.prefetch(references[i + names_ahead].item, references[i + names_ahead].place >> 8);
            const uint32_t set = r.place >> 8;
            Row* row = rows + size_t{set} * ways * planes;
            const Names::Found found = names.name(r.item, set);
            if (found.known) {
                references[i].lanes = move_to_front<planes, fixed_ways>(row, ways, found.name, r.lanes);
                continue;
            }
            if (__builtin_expect(found.name == 0, 0)) return i;
            push_front<planes, fixed_ways>(row, ways, found.name, r.lanes);
        }
        return count;
    }

    template <unsigned planes, class Policy>
    static size_t ways_loop(LaneArray& a, Reference* references, size_t count) {
        const Names::View names = a.view<planes>();
        const unsigned ways = a.shape_.ways;
        for (size_t i = 0; i < count; ++i) {
            Reference& r = references[i];
            const uint32_t set = r.place >> 8;
            const Names::Found found = names.name(r.item, set);
            if (__builtin_expect(found.name == 0, 0)) return i;
            r.lanes = reference_ways<planes, Policy>(a.rows_.data() + size_t{set} * ways * planes, a.words_.data() + size_t{set} * a.set_words_, ways,
                                                     found.name, found.known, r.lanes);
        }
        return count;
    }

    /// One-byte tables have 256 slots, which the compiler may know.
    template <unsigned planes>
    LANES_INLINE_MEMBER Names::View view() {
        Names::View view = names_.view();
        if (planes == 1) view.log_capacity = 8;
        return view;
    }

    static unsigned words_of(const ArrayShape& shape) {
        if (shape.replacement == Replacement::lru) return 0;
        return shape.ways + (shape.replacement == Replacement::srrip ? Srrip::words(shape.ways) : TreePlru::words(shape.ways));
    }

    template <unsigned planes>
    static Loop choose(const ArrayShape& shape) {
        if (shape.replacement == Replacement::tree_plru) return ways_loop<planes, TreePlru>;
        if (shape.replacement == Replacement::srrip) return ways_loop<planes, Srrip>;
        switch (shape.ways) {  // the associativities that occur, unrolled
            case 4: return lru_loop<planes, 4>;
            case 6: return lru_loop<planes, 6>;
            case 8: return lru_loop<planes, 8>;
            case 12: return lru_loop<planes, 12>;
            default: return lru_loop<planes, 0>;
        }
    }

    /// The item's bucket is full. Afterwards the item has a name.
    __attribute__((noinline)) void make_room(uint32_t item, uint32_t set) {
        if ((is_wide_ ? rebuild<2>(set) : rebuild<1>(set)) > most_held && !is_wide_) widen();
        if (names_.place(item, set) != 0) return;
        out_of_memory();  // not reached: half of a wide table's slots are empty after rebuild()
    }

    /// Removes from the set's table what no row holds; returns how many items are left.
    template <unsigned planes>
    uint32_t rebuild(uint32_t set) {
        uint8_t held[65536];
        std::memset(held, 0, names_.capacity());
        Row* const rows = rows_.data() + size_t{set} * shape_.ways * planes;
        for (unsigned way = 0; way < shape_.ways; ++way) mark<planes>(rows + way * planes, held);
        held[0] = 0;
        if (names_.all_at_home(set)) return names_.keep(set, held);
        uint16_t renamed[65536];
        uint32_t left = 0;
        Array<uint32_t> items(names_.capacity());
        std::memcpy(items.data(), names_.table(set), names_.capacity() * sizeof(uint32_t));
        names_.clear(set);
        for (uint32_t name = 0; name < items.size(); ++name) {
            left += held[name];
            renamed[name] = held[name] != 0 ? uint16_t(names_.place(items[name], set)) : 0;
        }
        for (unsigned way = 0; way < shape_.ways; ++way)
            for (unsigned lane = 0; lane < 64; ++lane) put<planes>(rows + way * planes, lane, renamed[get<planes>(rows + way * planes, lane)]);
        return left;
    }

    /// Eight lanes at a time: this is most of what rebuild() costs.
    template <unsigned planes>
    static void mark(const Row* row, uint8_t* held) {
        for (unsigned lane = 0; lane < 64; lane += 8) {
            uint64_t low, high = 0;
            __builtin_memcpy(&low, row->byte + lane, 8);
            if (planes == 2) __builtin_memcpy(&high, row[planes - 1].byte + lane, 8);
#pragma GCC unroll 8
            for (unsigned i = 0; i < 64; i += 8) held[(low >> i & 255) | (planes == 2 ? (high >> i & 255) << 8 : 0)] = 1;
        }
    }
    template <unsigned planes>
    static uint32_t get(const Row* row, unsigned lane) {
        return planes == 1 ? row->byte[lane] : row->byte[lane] | row[planes - 1].byte[lane] << 8;
    }
    template <unsigned planes>
    static void put(Row* row, unsigned lane, uint32_t name) {
        row->byte[lane] = uint8_t(name);
        if (planes == 2) row[planes - 1].byte[lane] = uint8_t(name >> 8);
    }

    __attribute__((noinline)) void widen() {
        unsigned log_capacity = 10;
        while (1u << log_capacity < 4 * 64 * shape_.ways) ++log_capacity;  // at least three quarters are empty after each rebuild
        Names wide;
        wide.open(shape_.sets, log_capacity);
        Array<Row> rows(2 * rows_.size());
        for (uint32_t set = 0; set < shape_.sets; ++set) {
            uint32_t renamed[256] = {};
            for (size_t way = size_t{set} * shape_.ways, end = way + shape_.ways; way < end; ++way)
                for (unsigned lane = 0; lane < 64; ++lane) {
                    const uint32_t old = rows_[way].byte[lane];
                    if (old != 0 && renamed[old] == 0) renamed[old] = wide.place(names_.table(set)[old], set);
                    put<2>(&rows[2 * way], lane, renamed[old]);
                }
        }
        rows_.swap(rows);
        names_.swap(wide);
        is_wide_ = true;
        loop_ = choose<2>(shape_);
    }

    ArrayShape shape_;
    SetIndex index_;
    Array<Row> rows_;  ///< [set][way][plane]
    unsigned set_words_;
    Array<uint64_t> words_;  ///< of policies that keep bits: [set][set_words_]
    Loop loop_;
    bool is_wide_ = false;
    Names names_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
