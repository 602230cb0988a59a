// slice_hash_test.cpp - the hash of L3's slices: against a computation bit by bit, and how it spreads strides.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "cache/slice_hash.h"

namespace tessera::sim::testing {
namespace {

/// Address bits of the functions o0, o1, o2 as Maurice et al. list them.
const std::vector<unsigned> functions[3] = {
    {6, 10, 12, 14, 16, 17, 18, 20, 22, 24, 25, 26, 27, 28, 30, 32, 33, 35, 36},
    {7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 24, 26, 28, 29, 31, 33, 34, 35, 37},
    {8, 12, 13, 16, 19, 22, 23, 26, 27, 30, 31, 34, 35, 36, 37},
};

uint64_t slice_by_bits(uint64_t line, uint64_t slices) {
    const uint64_t address = line << 6;
    if (slices == 1 || slices == 2 || slices == 4 || slices == 8) {
        uint64_t slice = 0;
        for (unsigned k = 0; uint64_t{1} << k < slices; ++k)
            for (unsigned bit : functions[k]) slice ^= (address >> bit & 1) << k;
        return slice;
    }
    uint64_t product = 0;  // modulo 2^64, by shifts and sums
    for (unsigned bit = 0; bit < 64; ++bit)
        if (line >> bit & 1) product += uint64_t{0x9E3779B97F4A7C15} << bit;
    uint64_t slice = 0;  // the largest whose part of 2^32 begins at or below the fraction
    while (slice + 1 < slices && ((slice + 1) << 32) <= (product >> 32) * slices) ++slice;
    return slice;
}

TEST(SliceHash, IsWhatItsBitsSay) {
    std::mt19937_64 random(31);
    for (uint64_t slices = 1; slices <= 64; ++slices)
        for (int i = 0; i < 3000; ++i) {
            const uint64_t line = random() >> (6 + random() % 50);
            ASSERT_EQ(slice_of(line, slices), slice_by_bits(line, slices)) << line << " of " << slices;
            ASSERT_LT(slice_of(line, slices), slices);
        }
}

TEST(SliceHash, KnownLines) {
    EXPECT_EQ(slice_of(1, 8), 1u);   // address bit 6: o0 alone
    EXPECT_EQ(slice_of(2, 8), 2u);   // bit 7: o1
    EXPECT_EQ(slice_of(4, 8), 4u);   // bit 8: o2
    EXPECT_EQ(slice_of(8, 8), 0u);   // bit 9: none
    EXPECT_EQ(slice_of(1 << 11, 8), 3u);  // bit 17: o0 and o1
    EXPECT_EQ(slice_of(1 << 11, 2), 1u);
    EXPECT_EQ(slice_of(1, 12), 7u);  // 0.618 x 12
}

struct Shape {
    uint64_t sets, slices;
};
const Shape shapes[] = {{24576, 12}, {16384, 8}, {8192, 4}, {4096, 2}, {2048, 1}, {49152, 24}, {53248, 26}, {36864, 18}, {65536, 8}};

/// Strides of 2^s lines, 64 B to 1 MB, of 2^15 lines each. Bits s to s + 14 of the lines' numbers take every value, and the
/// set within a slice (2^k sets, k <= 13) is their exclusive or with the 15 bits above bit 15. Its bits s to k - 1 have a line bit of
/// their own below bit 15, its bits below s one from bit 15 on: all 2^k values come equally often. So strides use at
/// least as many sets as a slice has; for 32 KB and Haswell's 24,576 sets 2048, where they are 48 without slices.
TEST(SliceHash, StridesOfPowersOfTwoUseAllSetsOfASlice) {
    for (const auto& [sets, slices] : shapes)
        for (unsigned s = 0; s <= 14; ++s) {
            SCOPED_TRACE(std::to_string(sets) + " sets, " + std::to_string(slices) + " slices, stride of 2^" + std::to_string(s) +
                         " lines");
            const uint64_t of_a_slice = sets / slices, first = (uint64_t{16} << 30) / 64;
            std::vector<uint64_t> in_set(of_a_slice), in_slice(slices);
            std::set<uint64_t> used;
            for (uint64_t i = 0; i < 1 << 15; ++i) {
                const uint64_t set = sliced_set(first + (i << s), slices, of_a_slice, [=](uint64_t number) { return number % of_a_slice; });
                ++in_set[set % of_a_slice], ++in_slice[set / of_a_slice];
                used.insert(set);
            }
            for (const uint64_t lines : in_set) ASSERT_EQ(lines, (1 << 15) / of_a_slice);
            EXPECT_GE(used.size(), of_a_slice);
            // Parities are balanced over all values of their bits, and multiples of the golden ratio nearly so.
            for (const uint64_t lines : in_slice) EXPECT_NEAR(double(lines), (1 << 15) / double(slices), 0.02 * (1 << 15));
        }
}

TEST(SliceHash, AStrideOf32KBUsesTwelveTimesTheSetsItDid) {
    std::set<uint64_t> without, with;
    for (uint64_t i = 0; i < 24576; ++i) {
        without.insert(512 * i % 24576);
        with.insert(sliced_set(512 * i, 12, 2048, [](uint64_t number) { return number % 2048; }));
    }
    EXPECT_EQ(without.size(), 48u);
    EXPECT_GE(with.size(), 12 * 48u);
    EXPECT_GE(with.size(), 2048u);
}

}  // namespace
}  // namespace tessera::sim::testing
