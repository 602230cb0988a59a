// Reservations outside the pools: what became accessible is counted once per page, against one bool per page.
#include "preload/reservations.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

using namespace mosalloc;

namespace {

constexpr uint64_t kPages = 64;

TEST(Reservations, CountsEachOpenedPageOnce) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations reservations;
    ASSERT_TRUE(reservations.init(map.get(), true));
    EXPECT_TRUE(reservations.empty());
    std::vector<bool> closed(kPages, false);
    uint64_t opened = 0;
    std::mt19937 random(7);
    for (int step = 0; step < 5000; ++step) {
        const uint64_t from = random() % kPages, to = from + 1 + random() % (kPages - from);
        const Range range{from * kPage4K, to * kPage4K};
        const int call = random() % 4;
        if (call == 0) reservations.made(range);
        if (call == 1 || call == 2) reservations.opened(range);
        if (call == 3) reservations.gone(range);
        for (uint64_t page = from; page < to; ++page) {
            opened += (call == 1 || call == 2) && closed[page] ? kPage4K : 0;
            closed[page] = call == 0;
        }
        ASSERT_EQ(map->opened_bytes, opened) << step;
    }
    EXPECT_GT(map->reservation_calls, 1000u);
}

TEST(Reservations, MoveWithWhatWasNeverAccessible) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations reservations;
    ASSERT_TRUE(reservations.init(map.get(), true));
    reservations.made({0, 8 * kPage4K});
    reservations.moved({0, 8 * kPage4K}, {100 * kPage4K, 116 * kPage4K});
    reservations.opened({0, 8 * kPage4K});
    EXPECT_EQ(map->opened_bytes, 0u);
    reservations.opened({114 * kPage4K, 116 * kPage4K});
    EXPECT_EQ(map->opened_bytes, 2 * kPage4K);
}

TEST(Reservations, OnlyWhereTheyAreAllowed) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations allowed, recorded;
    ASSERT_TRUE(allowed.init(map.get(), true) && recorded.init(map.get(), false));
    EXPECT_TRUE(allowed.may_leave(kReservation, 0));
    testing::internal::CaptureStderr();
    EXPECT_FALSE(recorded.may_leave(5 * kPage1G, kPage4K));
    EXPECT_FALSE(recorded.may_leave(5 * kPage1G, kPage4K));  // said once
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("mmap of 5120MB"), std::string::npos) << said;
    EXPECT_NE(said.find("what to do: record with --anon-pool 6GB;"), std::string::npos) << said;
    EXPECT_EQ(said.find("what to do"), said.rfind("what to do"));
}

}  // namespace
