// names.h - short names for what an array holds: one or two bytes for a page or a region, exact.
//
// A row has a byte (or two) for each layout, so what it holds must have a name of that size. A set's names are the slots of a
// small hash table of items, sixteen slots (a host cache line) a bucket: an item's name is where it is in the table, and an
// item that is not there is in no lane. Name 0 is an empty way. An item is in its own bucket, or in one of the next if all before
// are full, so a bucket with an empty slot ends a search. When an item's bucket is full, what no row holds is removed: just so
// while every item is in its own bucket, else the table is built anew (lane_array.h). Items are dense numbers, never parts of
// addresses: truncated ones would collide and give counts that look plausible.
#pragma once

#include "engine/lanes/rows.h"
#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Which of the sixteen are `item`, a bit each.
LANES_INLINE uint32_t matches(const uint32_t* bucket, uint32_t item) {
#if defined(__AVX512BW__)
    return _cvtmask16_u32(_mm512_cmpeq_epi32_mask(_mm512_load_si512(bucket), _mm512_set1_epi32(int(item))));
#elif defined(__AVX2__)
    const __m256i wanted = _mm256_set1_epi32(int(item));
    const __m256i* half = reinterpret_cast<const __m256i*>(bucket);
    const __m256i low = _mm256_cmpeq_epi32(_mm256_load_si256(half), wanted), high = _mm256_cmpeq_epi32(_mm256_load_si256(half + 1), wanted);
    return uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(low)) | _mm256_movemask_ps(_mm256_castsi256_ps(high)) << 8);
#else
    uint32_t bits = 0;
    for (unsigned slot = 0; slot < 16; ++slot) bits |= uint32_t{bucket[slot] == item} << slot;
    return bits;
#endif
}

/// Which of the sixteen are `item` (bits 0 to 15) and which are `other` (16 to 31).
LANES_INLINE uint32_t matches_of_two(const uint32_t* bucket, uint32_t item, uint32_t other) {
#if defined(__AVX512BW__)
    const __m512i slots = _mm512_load_si512(bucket);
    const __mmask16 first = _mm512_cmpeq_epi32_mask(slots, _mm512_set1_epi32(int(item)));
    return _cvtmask32_u32(_mm512_kunpackw(_mm512_cmpeq_epi32_mask(slots, _mm512_set1_epi32(int(other))), first));
#elif defined(__AVX2__)
    const __m256i* half = reinterpret_cast<const __m256i*>(bucket);
    const __m256i low = _mm256_load_si256(half), high = _mm256_load_si256(half + 1), wanted = _mm256_set1_epi32(int(item)),
                  also = _mm256_set1_epi32(int(other));
    const __m256i first = _mm256_packs_epi32(_mm256_cmpeq_epi32(low, wanted), _mm256_cmpeq_epi32(high, wanted));
    const __m256i second = _mm256_packs_epi32(_mm256_cmpeq_epi32(low, also), _mm256_cmpeq_epi32(high, also));
    const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // packing goes by halves of 128 bits
    return uint32_t(_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(_mm256_packs_epi16(first, second), in_order)));
#else
    return matches(bucket, item) | matches(bucket, other) << 16;
#endif
}

/// Empties those of sixteen slots whose `held` is 0; returns how many are left.
LANES_INLINE uint32_t keep_in_bucket(uint32_t* bucket, const uint8_t* held) {
#if defined(__AVX512BW__)
    const __m128i marks = _mm_loadu_si128(reinterpret_cast<const __m128i*>(held));
    const __mmask16 keep = _mm_test_epi8_mask(marks, marks);
    _mm512_store_si512(bucket, _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), keep, _mm512_load_si512(bucket)));
    return uint32_t(__builtin_popcount(keep));
#else
    uint32_t left = 0;
    for (unsigned slot = 0; slot < 16; ++slot) {
        left += held[slot];
        bucket[slot] |= held[slot] - 1u;
    }
    return left;
#endif
}

class Names {
public:
    static constexpr uint32_t nothing = ~uint32_t{0};  ///< in an empty slot

    void open(uint64_t sets, unsigned log_capacity) {
        log_capacity_ = log_capacity;
        items_.grow(sets << log_capacity);
        full_.grow(sets);
        for (uint64_t set = 0; set < sets; ++set) clear(uint32_t(set));
    }
    void clear(uint32_t set) {
        uint32_t* slot = table(set);
        for (uint32_t name = 0; name < capacity(); ++name) slot[name] = nothing;
        slot[0] = reserved;
        full_[set] = 0;
    }

    struct Found {
        uint32_t name;  ///< 0: no name, and no place for one
        bool known;     ///< some lane may hold it
    };
    /// The item's name, given now if it has none. What a loop needs, in registers: stores of rows could otherwise change it for all
    /// that the compiler knows.
    struct View {
        uint32_t* items;
        const uint8_t* full;
        unsigned log_capacity;

        LANES_INLINE_MEMBER uint32_t first_name(uint32_t item) const { return (item * 0x9e3779b1u >> (32 - log_capacity)) & ~15u; }
        LANES_INLINE_MEMBER Found name(uint32_t item, uint32_t set) const {
            uint32_t* const table = items + (size_t{set} << log_capacity);
            const uint32_t first = first_name(item), fits = matches_of_two(table + first, item, nothing);
            if (__builtin_expect(fits == 0, 0)) return full[set] != 0 ? search(table, first, item) : Found{0, false};
            const uint32_t at = uint32_t(__builtin_ctz(fits)), name = first + at % 16;
            table[name] = item;  // whether it was there or not: that is a coin's toss, which no processor predicts
            return {name, at < 16};
        }
        /// As name(...).name, looking first where the item was last time: `guess`, which is kept up to date. Any guess will do, since
        /// an item is in one slot at most, and slot 0 holds none.
        LANES_INLINE_MEMBER uint32_t name_again(uint32_t item, uint32_t set, uint8_t& guess) const {
            const uint32_t last = guess;
            if (__builtin_expect(items[(size_t{set} << log_capacity) + last] == item, 1)) return last;
            const uint32_t now = name(item, set).name;
            guess = uint8_t(now);
            return now;
        }
        __attribute__((noinline)) Found search(const uint32_t* table, uint32_t first, uint32_t item) const {
            for (uint32_t step = 16; step < 1u << log_capacity; step += 16) {
                const uint32_t at = (first + step) & ((1u << log_capacity) - 1);
                if (const uint32_t here = matches(table + at, item); here != 0) return {at + uint32_t(__builtin_ctz(here)), true};
                if (matches(table + at, nothing) != 0) break;
            }
            return {0, false};
        }
    };
    View view() { return {items_.data(), full_.data(), log_capacity_}; }

    /// A name for an item that has none, outside its bucket if that is full; 0 when the whole table is.
    uint32_t place(uint32_t item, uint32_t set) {
        uint32_t* const slots = table(set);
        const uint32_t first = view().first_name(item);
        for (uint32_t step = 0; step < capacity(); step += 16) {
            const uint32_t at = (first + step) & (capacity() - 1), empty = matches(slots + at, nothing);
            if (empty == 0) continue;
            if (step != 0) full_[set] = 1;
            const uint32_t name = at + uint32_t(__builtin_ctz(empty));
            slots[name] = item;
            return name;
        }
        return 0;
    }

    /// Empties the slots that are not marked by 1 in `held`; returns how many are left. pre: no item is outside its bucket.
    uint32_t keep(uint32_t set, const uint8_t* held) {
        uint32_t* const slots = table(set);
        const uint32_t zeroth = slots[0];
        uint32_t left = 0;
        for (uint32_t name = 0; name < capacity(); name += 16) left += keep_in_bucket(slots + name, held + name);
        slots[0] = zeroth;
        return left;
    }
    bool all_at_home(uint32_t set) const { return full_[set] == 0; }

    void swap(Names& other) {
        const unsigned log_capacity = log_capacity_;
        log_capacity_ = other.log_capacity_;
        other.log_capacity_ = log_capacity;
        items_.swap(other.items_);
        full_.swap(other.full_);
    }
    uint32_t capacity() const { return 1u << log_capacity_; }
    uint32_t* table(uint32_t set) { return &items_[size_t{set} << log_capacity_]; }

private:
    static constexpr uint32_t reserved = nothing - 1;  ///< in slot 0

    unsigned log_capacity_ = 0;
    Array<uint32_t> items_;  ///< [set][name]
    Array<uint8_t> full_;    ///< [set]: some item is outside its bucket
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
