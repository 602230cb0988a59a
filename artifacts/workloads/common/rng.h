// rng.h - the two random sources, both seeded and the same on every machine.
//
// `Lcg64`: the 64-bit linear congruential generator of Knuth's MMIX (The Art of Computer Programming,
// vol. 2, 3.3.4, table 1). Its high bits are the good ones, so numbers below n are taken from them.
// `mix64`: the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Used as a counter-based
// source: mix64(seed, k) is the k-th number, in any order, so an oracle can recompute any part alone.
#pragma once

#include <cstdint>

namespace tessera::workloads {

__extension__ typedef unsigned __int128 uint128;

class Lcg64 {
public:
    static constexpr uint64_t kMultiplier = 6364136223846793005u;
    static constexpr uint64_t kIncrement = 1442695040888963407u;

    explicit Lcg64(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        state_ = state_ * kMultiplier + kIncrement;
        return state_;
    }

    /// Advances by `steps` in O(log steps): x -> a x + c composed with itself by squaring.
    void jump(uint64_t steps) {
        uint64_t multiplier = 1, increment = 0;
        uint64_t square_multiplier = kMultiplier, square_increment = kIncrement;
        for (; steps != 0; steps >>= 1) {
            if (steps & 1) {
                increment = increment * square_multiplier + square_increment;
                multiplier *= square_multiplier;
            }
            square_increment *= square_multiplier + 1;
            square_multiplier *= square_multiplier;
        }
        state_ = state_ * multiplier + increment;
    }

private:
    uint64_t state_;
};

/// Maps a 64-bit number to [0, n) by its high bits; n need not be a power of two.
inline uint64_t below(uint64_t number, uint64_t n) { return static_cast<uint64_t>((static_cast<uint128>(number) * n) >> 64); }

inline uint64_t mix64(uint64_t seed, uint64_t counter) {
    uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

}  // namespace tessera::workloads
