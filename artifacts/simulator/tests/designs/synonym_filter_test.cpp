// synonym_filter_test.cpp - bits worked out by hand, no false negatives, and how many false positives there are.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "mmu/synonym_filter.h"

namespace tessera::sim::testing {
namespace {

using Bits = std::array<uint32_t, 2>;

Bits fine(uint64_t address) { return BloomFilter(SynonymFilter::fine_shift).bits(VirtAddr(address)); }
Bits coarse(uint64_t address) { return BloomFilter(SynonymFilter::coarse_shift).bits(VirtAddr(address)); }

TEST(SynonymFilter, HasTheBitsWorkedOutByHand) {
    EXPECT_EQ(fine(0x7f1234567000), (Bits{371, 201}));
    EXPECT_EQ(coarse(0x7f1234567000), (Bits{485, 693}));
    EXPECT_EQ(fine(0x7f1234567000 + 0xfff), fine(0x7f1234567000));
    // 2^36: bit 21 of the fine granule is bit 5 of the high 17 bits and bit 10 of the high 22, bit 0 of a group: 1 << 5. Bit 12 of the
    // coarse granule is bit 0 of the high 12 bits, and bit 4 of the high 16: 16 << 5.
    EXPECT_EQ(fine(uint64_t{1} << 36), (Bits{32, 32}));
    EXPECT_EQ(coarse(uint64_t{1} << 36), (Bits{32, 512}));
    EXPECT_EQ(fine(0x8000), (Bits{1, 1}));
    EXPECT_EQ(coarse(0x8000), (Bits{0, 0}));
}

TEST(SynonymFilter, HoldsNothingAtFirst) {
    const SynonymFilter filter;
    EXPECT_FALSE(filter.candidate(VirtAddr(0)));
    EXPECT_FALSE(filter.candidate(VirtAddr(0x7f1234567000)));
}

TEST(SynonymFilter, HasNoFalseNegatives) {
    std::mt19937_64 random(1);
    for (const size_t granules : {1, 10, 300, 4096}) {
        SynonymFilter filter;
        std::vector<uint64_t> added;
        for (size_t i = 0; i < granules; ++i) {
            added.push_back(random() >> 16);
            filter.add(VirtAddr(added.back()));
        }
        for (const uint64_t address : added) EXPECT_TRUE(filter.candidate(VirtAddr(address ^ (random() & 0x7fff))));
    }
}

TEST(SynonymFilter, NeedsBothFilters) {
    SynonymFilter filter;
    filter.add(VirtAddr(0));
    // Granule 33 of 32KB: its groups 1 and 1 cancel, so its fine bits are those of granule 0.
    EXPECT_TRUE(filter.candidate(VirtAddr(33 * 0x8000)));
    EXPECT_FALSE(filter.candidate(VirtAddr(1 * 0x8000)));             // only the coarse filter has it
    EXPECT_FALSE(filter.candidate(VirtAddr(33 * 0x8000 | 1 << 24)));  // neither has it
    BloomFilter alone(SynonymFilter::fine_shift);
    alone.add(VirtAddr(0));
    // Granule bits 19 and 24 are bits 3 and 8 of the high 17, and bits 8 and 13 of the high 22; they cancel.
    EXPECT_EQ(fine(uint64_t{33} << 34), (Bits{0, 0}));
    EXPECT_TRUE(alone.has(VirtAddr(uint64_t{33} << 34)));
    EXPECT_FALSE(filter.candidate(VirtAddr(uint64_t{33} << 34)));  // only the fine filter has it
}

/// Share of random granules that the fine filter has after `granules` random ones; each trial has a filter of its own.
double measured(size_t granules, size_t trials, uint64_t seed) {
    std::mt19937_64 random(seed);
    size_t positives = 0;
    for (size_t trial = 0; trial < trials; ++trial) {
        BloomFilter filter(SynonymFilter::fine_shift);
        for (size_t i = 0; i < granules; ++i) filter.add(VirtAddr(random() >> 16));
        positives += filter.has(VirtAddr(random() >> 16));
    }
    return double(positives) / double(trials);
}

// By hand. Of the 33 bits x, the low part of the second hash lacks x[15:11], which its high part has instead; as 11 and 16 are both 1
// modulo 5, groups of the high parts agree. So second = first ^ u, where u depends on t = x[15:11] alone, is different for each t,
// and 0 for t = 0; first and t are independent. An added granule sets a given bit with probability p1 = 2/2^10 - 1/2^15. It sets
// one of two given bits, whose difference is some u, with probability p2 = 4/2^10 - 4/2^15. The bits of an asked
// granule are equal with probability 1/32.
TEST(SynonymFilter, HasTheFalsePositivesOfItsTwoDependentHashes) {
    for (const size_t granules : {16, 64, 200}) {
        const double n = double(granules), trials = 12000;
        const double one = std::pow(1 - 63 / 32768., n), both = std::pow(1 - 124 / 32768., n);
        const double expected = (1 - one) / 32 + (1 - 2 * one + both) * 31 / 32;
        const double sigma = std::sqrt(expected * (1 - expected) / trials);
        EXPECT_NEAR(measured(granules, size_t(trials), granules), expected, 3 * sigma) << granules;
        // Independent hashes would give fewer.
        EXPECT_GT(expected, std::pow(1 - std::pow(1 - 1 / 1024., 2 * n), 2)) << granules;
    }
}

}  // namespace
}  // namespace tessera::sim::testing
