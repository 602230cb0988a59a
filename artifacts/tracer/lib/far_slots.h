// far_slots.h - encodes addresses far from all predictions as offsets within the span of their memory slot.
//
// Per frame and slot: base (the smallest such address), shift (zero bits that all differences to it share) and width
// (bytes that the largest difference needs). gups reads 8-byte words of 4GB at random: 29 bits, four bytes of which the
// top one has 5 bits, which zstd's entropy coder sees because byte positions lie in planes of their own. Literals are
// grouped by width, so that one count bounds each group.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "bytes.h"

namespace tessera::trace {

constexpr int max_far_width = 8;
constexpr int max_far_shift = 7;

struct FarSlot {
    uint64_t base = 0;
    uint8_t shift = 0;
    uint8_t width = 0;  ///< bytes; 0: the slot has no far misses
};

/// What the encoder learns of a slot in one frame.
struct FarSpan {
    uint64_t low = 0, high = 0;
    uint64_t differences = 0;  ///< bits in which its addresses differ from the first
    bool seen = false;

    void add(uint64_t address) {
        if (!seen) low = high = address, seen = true, first_ = address;
        low = address < low ? address : low;
        high = address > high ? address : high;
        differences |= address ^ first_;
    }
    FarSlot slot() const {
        const int shift = differences ? std::min(std::countr_zero(differences), max_far_shift) : 0;
        const int bits = std::bit_width((high - low) >> shift);
        return {low, static_cast<uint8_t>(shift), static_cast<uint8_t>(bits <= 8 ? 1 : (bits + 7) / 8)};
    }

private:
    uint64_t first_ = 0;
};

/// The slots with far misses, in ascending order: (gap, difference of bases as zigzag, shift and width).
inline std::string encode_far_slots(const std::vector<uint32_t>& touched, const std::vector<FarSlot>& slots) {
    std::string out;
    uint32_t slot_before = 0;
    uint64_t base_before = 0;
    put_varint(out, touched.size());
    for (const uint32_t slot : touched) {
        const FarSlot& far = slots[slot];
        const auto difference = static_cast<int64_t>(far.base - base_before);
        put_varint(out, slot - slot_before);
        put_varint(out, static_cast<uint64_t>(difference) << 1 ^ static_cast<uint64_t>(difference >> 63));
        put(out, static_cast<uint8_t>(far.shift | far.width << 3));
        slot_before = slot;
        base_before = far.base;
    }
    return out;
}

/// Fills `slots` (all others: width 0); false when malformed.
inline bool decode_far_slots(Cursor in, size_t slot_total, std::vector<FarSlot>& slots) {
    slots.assign(slot_total, FarSlot{});
    uint64_t slot = 0, base = 0;
    for (uint64_t left = in.get_varint(); in.ok() && left > 0; --left) {
        const uint64_t gap = in.get_varint(), coded = in.get_varint();
        const auto shape = in.get<uint8_t>();
        base += coded >> 1 ^ (~(coded & 1) + 1);
        if (gap >= slot_total - slot) return false;
        slot += gap;
        slots[slot] = {base, static_cast<uint8_t>(shape & 7), static_cast<uint8_t>(shape >> 3)};
        if (slots[slot].width == 0 || slots[slot].width > max_far_width) return false;
    }
    return in.ok() && in.at_end();
}

}  // namespace tessera::trace
