// bitmap.h - sets of small integers, one bit each, in 64-bit words. Ranges are [first, first + count).
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t bitmap_words(uint64_t bits) { return (bits + 63) / 64; }

static inline bool bitmap_get(const uint64_t *words, uint64_t bit) { return words[bit / 64] >> (bit % 64) & 1; }

/// Bits of word `word` that lie in the range; 0 if there are none.
static inline uint64_t bitmap_mask(uint64_t word, uint64_t first, uint64_t count) {
    const uint64_t low = word * 64, end = first + count;
    if (end <= low || first >= low + 64) return 0;
    uint64_t mask = ~UINT64_C(0);
    if (first > low) mask &= ~UINT64_C(0) << (first - low);
    if (end < low + 64) mask &= ~(~UINT64_C(0) << (end - low));
    return mask;
}

static inline void bitmap_set(uint64_t *words, uint64_t first, uint64_t count) {
    if (count == 0) return;
    for (uint64_t word = first / 64; word <= (first + count - 1) / 64; ++word) words[word] |= bitmap_mask(word, first, count);
}

static inline void bitmap_clear(uint64_t *words, uint64_t first, uint64_t count) {
    if (count == 0) return;
    for (uint64_t word = first / 64; word <= (first + count - 1) / 64; ++word) words[word] &= ~bitmap_mask(word, first, count);
}

static inline uint64_t bitmap_count(const uint64_t *words, uint64_t first, uint64_t count) {
    uint64_t sum = 0;
    if (count == 0) return 0;
    for (uint64_t word = first / 64; word <= (first + count - 1) / 64; ++word)
        sum += (uint64_t)__builtin_popcountll(words[word] & bitmap_mask(word, first, count));
    return sum;
}

/// The end of the run of equal bits that starts at `first`; at most `end`.
static inline uint64_t bitmap_run_end(const uint64_t *words, uint64_t first, uint64_t end) {
    const bool value = bitmap_get(words, first);
    uint64_t bit = first + 1;
    while (bit < end) {
        const uint64_t different = (value ? ~words[bit / 64] : words[bit / 64]) & ~UINT64_C(0) << (bit % 64);
        if (different != 0) {
            bit = bit / 64 * 64 + (uint64_t)__builtin_ctzll(different);
            break;
        }
        bit = (bit / 64 + 1) * 64;
    }
    return bit < end ? bit : end;
}
