// gups: the generator, and that the oracle and the kernel agree only where they should.
#include "random_read.h"

#include <gtest/gtest.h>

#include <vector>

using namespace tessera::workloads;

namespace {

std::vector<uint64_t> filled(uint64_t elements) {
    std::vector<uint64_t> array(elements);
    for (uint64_t i = 0; i < elements; ++i) array[i] = element_value(i);
    return array;
}

TEST(Lcg64, JumpEqualsStepping) {
    for (const uint64_t steps : {0u, 1u, 2u, 63u, 64u, 65u, 12345u}) {
        Lcg64 stepped(7), jumped(7);
        for (uint64_t k = 0; k < steps; ++k) stepped.next();
        jumped.jump(steps);
        EXPECT_EQ(stepped.next(), jumped.next()) << steps << " steps";
    }
}

TEST(Below, CoversTheRangeAndNoMore) {
    EXPECT_EQ(below(0, 10), 0u);
    EXPECT_EQ(below(UINT64_MAX, 10), 9u);
    EXPECT_EQ(below(UINT64_MAX, 1), 0u);
}

TEST(RandomRead, AgreesWithTheOracleAtBlockBoundaries) {
    for (const uint64_t elements : {1u, 2u, 1000u, 4096u}) {
        const auto array = filled(elements);
        for (const uint64_t reads : {1u, 65535u, 65536u, 65537u, 200000u})
            EXPECT_EQ(read_at_random(array.data(), elements, reads, 3), expected_checksum(elements, reads, 3));
    }
}

TEST(RandomRead, OneWrongElementShows) {
    auto array = filled(64);
    for (auto& element : array) {
        element ^= 1;
        EXPECT_NE(read_at_random(array.data(), 64, 10000, 1), expected_checksum(64, 10000, 1));
        element ^= 1;
    }
}

// One turn and one addition a read, recomputed with the generator stepped once a read and never jumped.
TEST(UnwrittenRead, SumsTheIndicesInTheirOrder) {
    const std::vector<uint64_t> zeros(1000);
    for (const uint64_t reads : {1u, 65u, 65536u, 65537u, 200000u}) {
        uint64_t state = 3, sum = 0;
        for (uint64_t k = 0; k < reads; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum = (sum << 1 | sum >> 63) + static_cast<uint64_t>((static_cast<uint128>(state) * 1000) >> 64);
        }
        EXPECT_EQ(read_unwritten_at_random(zeros.data(), 1000, reads, 3), sum);
        EXPECT_EQ(expected_index_sum(1000, reads, 3), sum);
    }
}

TEST(UnwrittenRead, OneWrittenElementShows) {
    std::vector<uint64_t> array(64);
    for (auto& element : array) {
        element = 1;
        EXPECT_NE(read_unwritten_at_random(array.data(), 64, 10000, 1), expected_index_sum(64, 10000, 1));
        element = 0;
    }
}

TEST(RandomRead, ReadsSpreadEvenly) {
    Lcg64 addresses(1);
    std::vector<int> hits(16, 0);
    for (int k = 0; k < 160000; ++k) ++hits[below(addresses.next(), 16)];
    for (const int count : hits) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

}  // namespace
