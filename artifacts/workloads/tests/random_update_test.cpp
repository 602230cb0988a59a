// gups --mode update: HPCC's number stream, and that undoing finds every damage.
#include "random_update.h"

#include <gtest/gtest.h>

#include <vector>

using namespace tessera::workloads;

namespace {

std::vector<uint64_t> fresh(uint64_t elements) {
    std::vector<uint64_t> table(elements);
    for (uint64_t i = 0; i < elements; ++i) table[i] = i;
    return table;
}

TEST(UpdateStream, BeginsAsHpccDoes) {
    UpdateStream numbers(0);
    for (unsigned k = 1; k < 64; ++k) EXPECT_EQ(numbers.next(), uint64_t{1} << k);
    EXPECT_EQ(numbers.next(), 7u);  // x^64
    EXPECT_EQ(numbers.next(), 14u);
}

TEST(UpdateStream, APowerEqualsStepping) {
    UpdateStream stepped(0);
    uint64_t state = 1;
    for (uint64_t k = 0; k <= 5000; ++k, state = stepped.next()) ASSERT_EQ(UpdateStream::power(k), state) << k;
}

TEST(UpdateStream, PowersMultiply) {
    for (const auto& [a, b] : {std::pair<uint64_t, uint64_t>{63, 1}, {1000, 99999}, {1ull << 40, 12345}})
        EXPECT_EQ(UpdateStream::product(UpdateStream::power(a), UpdateStream::power(b)), UpdateStream::power(a + b));
}

// The powers return to 1 after HPCC's period, and not after the period over any of its prime factors.
TEST(UpdateStream, HasHpccsPeriod) {
    EXPECT_EQ(UpdateStream::power(UpdateStream::kPeriod), 1u);
    uint64_t rest = UpdateStream::kPeriod;
    for (uint64_t prime = 2; prime < 1000000; ++prime) {
        if (rest % prime != 0) continue;
        EXPECT_NE(UpdateStream::power(UpdateStream::kPeriod / prime), 1u) << prime;
        while (rest % prime == 0) rest /= prime;
    }
    EXPECT_EQ(rest, 1u);
}

TEST(RandomUpdate, TheFirstUpdatesByHand) {
    auto table = fresh(8);
    update_at_random(table.data(), 8, 4, 0);  // 2, 4, 8 and 16
    EXPECT_EQ(table, (std::vector<uint64_t>{8 ^ 16, 1, 2 ^ 2, 3, 4 ^ 4, 5, 6, 7}));
}

TEST(RandomUpdate, UndoingRestoresAtBlockBoundaries) {
    for (const uint64_t updates : {1u, 1048575u, 1048576u, 1048577u}) {
        auto table = fresh(1024);
        update_at_random(table.data(), 1024, updates, 77);
        EXPECT_NE(table, fresh(1024));
        EXPECT_EQ(wrong_after_undoing(table.data(), 1024, updates, 77), 0u) << updates;
    }
}

TEST(RandomUpdate, OneUpdateTooFewOrADamagedElementShows) {
    auto table = fresh(1024);
    update_at_random(table.data(), 1024, 9999, 5);
    EXPECT_EQ(wrong_after_undoing(table.data(), 1024, 10000, 5), 1u);
    table = fresh(1024);
    update_at_random(table.data(), 1024, 10000, 5);
    table[0] ^= 4;
    table[1023] ^= 1;
    EXPECT_EQ(wrong_after_undoing(table.data(), 1024, 10000, 5), 2u);
}

}  // namespace
