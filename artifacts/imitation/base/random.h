// random.h - a small generator with a seed: the same seed gives the same numbers on every machine.
//
// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014, figure 17).
#pragma once

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/// A number below `bound` (bound > 0). The bias is below bound / 2^64.
static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
    return (uint64_t)((unsigned __int128)random_next(state) * bound >> 64);
}
