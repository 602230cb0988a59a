// predictor.h - predicts an address from the accesses before it.
//
// Each memory slot of each block remembers its last address, its last stride and its last distance from
// the access just before it in the stream. Array walks hit the stride; a read-modify-write, struct fields
// and stack traffic hit the distance. A miss costs 1, 2 or 3 bytes relative to one of the two anchors, or as many
// bytes as the span needs that the slot's far misses cover in this frame (far_slots.h): an absolute value has one bit
// less of entropy than a difference.
//
// Invariant: encoder and decoder call update() on the same states in the same order, from zero in each
// frame, so that every frame decodes alone.
#pragma once

#include <cstdint>

namespace tessera::trace {

enum Code : uint8_t {
    stride_hit = 0,
    gap_hit = 1,
    last_1 = 2,
    prev_1 = 3,
    last_2 = 4,
    prev_2 = 5,
    last_3 = 6,
    far = 7,
    code_count = 8,
};

struct SlotState {
    uint64_t last = 0;
    uint64_t stride = 0;
    uint64_t gap = 0;

    void update(uint64_t address, uint64_t previous) {
        stride = address - last;
        gap = address - previous;
        last = address;
    }
};

inline bool fits(uint64_t difference, int bits) { return difference + (uint64_t{1} << (bits - 1)) < uint64_t{1} << bits; }

/// The cheapest code of `address`.
inline Code choose(const SlotState& slot, uint64_t address, uint64_t previous) {
    const uint64_t from_last = address - slot.last;
    const uint64_t from_previous = address - previous;
    if (from_last == slot.stride) return stride_hit;
    if (from_previous == slot.gap) return gap_hit;
    if (fits(from_last, 8)) return last_1;
    if (fits(from_previous, 8)) return prev_1;
    if (fits(from_last, 16)) return last_2;
    if (fits(from_previous, 16)) return prev_2;
    if (fits(from_last, 24)) return last_3;
    return far;
}

}  // namespace tessera::trace
