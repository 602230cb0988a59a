// named_rows.h - the rows of a set-associative array and the names that are in them.
//
// Names have one byte until a set holds so many different items that building its table anew all the time would cost more
// than wide rows do; then the array goes over to names of two bytes and stays there. Counts are exact either way.
#pragma once

#include "engine/lanes/machine_config.h"
#include "engine/lanes/names.h"
#include "engine/lanes/rows.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class NamedRows {
public:
    explicit NamedRows(const ArrayShape& shape) : sets_(uint32_t(shape.sets)), ways_(shape.ways), rows_(shape.sets * shape.ways) {
        if (shape.sets != 0) names_.open(shape.sets, 8);
    }

    bool is_wide() const { return is_wide_; }
    template <unsigned planes>
    LANES_INLINE_MEMBER Row* rows_of(uint32_t set, unsigned ways) {
        return rows_.data() + size_t{set} * ways * planes;
    }
    /// One-byte tables have 256 slots, which the compiler may know.
    template <unsigned planes>
    LANES_INLINE_MEMBER Names::View names() {
        Names::View view = names_.view();
        if (planes == 1) view.log_capacity = 8;
        return view;
    }

    /// Takes the names that no row holds from the set's items. True where so many are left that the array should be widened.
    bool forget(uint32_t set) { return (is_wide_ ? rebuild<2>(set) : rebuild<1>(set)) > most_held && !is_wide_; }

    /// A name for an item that has none. pre: forget(set), widen() where it said so.
    void place(uint32_t item, uint32_t set) {
        if (names_.place(item, set) == 0) out_of_memory();  // not reached: half of a wide table's slots are empty after forget()
    }

    /// Goes over to names of two bytes.
    __attribute__((noinline)) void widen() {
        unsigned log_capacity = 10;
        while (1u << log_capacity < 4 * 64 * ways_) ++log_capacity;  // at least three quarters are empty after each rebuild
        Names wide;
        wide.open(sets_, log_capacity);
        Array<Row> rows(2 * rows_.size());
        for (uint32_t set = 0; set < sets_; ++set) {
            uint32_t renamed[256] = {};
            for (size_t way = size_t{set} * ways_, end = way + ways_; way < end; ++way)
                for (unsigned lane = 0; lane < 64; ++lane) {
                    const uint32_t old = rows_[way].byte[lane];
                    if (old != 0 && renamed[old] == 0) renamed[old] = wide.place(names_.table(set)[old], set);
                    put<2>(&rows[2 * way], lane, renamed[old]);
                }
        }
        rows_.swap(rows);
        names_.swap(wide);
        is_wide_ = true;
    }

private:
    /// Of 255 names; beyond, buckets fill so fast that names of two bytes are cheaper.
    static constexpr uint32_t most_held = 144;

    /// Removes from the set's table what no row holds; returns how many items are left.
    template <unsigned planes>
    uint32_t rebuild(uint32_t set) {
        uint8_t held[65536];
        std::memset(held, 0, names_.capacity());
        Row* const rows = rows_of<planes>(set, ways_);
        for (unsigned way = 0; way < ways_; ++way) mark<planes>(rows + way * planes, held);
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
        for (unsigned way = 0; way < ways_; ++way)
            for (unsigned lane = 0; lane < 64; ++lane)
                put<planes>(rows + way * planes, lane, renamed[get<planes>(rows + way * planes, lane)]);
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

    uint32_t sets_, ways_;
    Array<Row> rows_;  ///< [set][way][plane]
    Names names_;
    bool is_wide_ = false;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
