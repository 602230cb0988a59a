// Reservations outside the pools: what became accessible is counted once per page, against one bool per page.
#include "preload/reservations.h"
#include "core/table.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

using namespace mosalloc;

namespace {

constexpr uint64_t kClosable = 64;

TEST(Reservations, CountsEachOpenedPageOnce) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations reservations;
    ASSERT_TRUE(reservations.init(map.get(), true));
    EXPECT_TRUE(reservations.empty());
    std::vector<bool> closed(kClosable, false);
    uint64_t opened = 0;
    std::mt19937 random(7);
    for (int step = 0; step < 5000; ++step) {
        const uint64_t from = random() % kClosable, to = from + 1 + random() % (kClosable - from);
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
    reservations.moved({0, 8 * kPage4K}, {100 * kPage4K, 116 * kPage4K}, false);
    reservations.opened({0, 8 * kPage4K});
    EXPECT_EQ(map->opened_bytes, 0u);
    reservations.opened({114 * kPage4K, 116 * kPage4K});
    EXPECT_EQ(map->opened_bytes, 2 * kPage4K);
}

TEST(Reservations, OtherMovesBesideThem) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations reservations;
    ASSERT_TRUE(reservations.init(map.get(), true));
    const auto pages = [](uint64_t start, uint64_t end) { return Range{start * kPage4K, end * kPage4K}; };
    reservations.made(pages(0, 64));
    reservations.moved(pages(200, 200), pages(300, 308), false);  // a second mapping of shared memory
    reservations.opened(pages(300, 308));
    EXPECT_EQ(map->opened_bytes, 0u);
    reservations.moved(pages(200, 204), pages(10, 14), false);  // the program's memory over a part
    EXPECT_EQ(map->opened_bytes, 4 * kPage4K);
    reservations.moved(pages(0, 64), pages(0, 64), false);  // nothing: what was never used is not used now
    reservations.moved(pages(0, 64), pages(0, 32), false);
    EXPECT_EQ(map->opened_bytes, 4 * kPage4K);
    reservations.moved(pages(30, 32), pages(30, 34), false);
    EXPECT_EQ(map->reserved_bytes, 64 * kPage4K);
    reservations.opened(pages(30, 40));
    EXPECT_EQ(map->opened_bytes, 8 * kPage4K);
    reservations.moved(pages(20, 28), pages(400, 408), true);  // both places stay reserved
    reservations.opened(pages(20, 28));
    reservations.opened(pages(400, 408));
    EXPECT_EQ(map->opened_bytes, 24 * kPage4K);
}

TEST(Reservations, CountsTheMostAtATime) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations reservations;
    ASSERT_TRUE(reservations.init(map.get(), true));
    for (uint64_t i = 0; i < 100; ++i) {
        const Range range{i * kPage1G, (i + 3) * kPage1G};
        reservations.made(range);
        reservations.opened({range.start, range.end});
        EXPECT_FALSE(reservations.empty());  // open parts are reserved, too
        EXPECT_EQ(reservations.gone(range), 0u);
        EXPECT_TRUE(reservations.empty());
    }
    EXPECT_EQ(map->reservation_calls, 100u);
    EXPECT_EQ(map->reserved_bytes, 3 * kPage1G);
    reservations.made({0, kPage1G});
    reservations.back({0, kPage1G}, reservations.gone({0, kPage1G}));  // munmap failed
    EXPECT_FALSE(reservations.empty());
    reservations.opened({0, kPage4K});
    EXPECT_EQ(map->opened_bytes, 300 * kPage1G + kPage4K);
}

TEST(Reservations, AFullTableIsNeverWrittenBeyond) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations reservations;
    ASSERT_TRUE(reservations.init(map.get(), true));
    uint64_t at = 0;
    for (; reservations.may_leave(kReservation, 0); at += 2) reservations.made({at * kPage4K, (at + 1) * kPage4K});
    EXPECT_GT(at / 2, 65530u);  // vm.max_map_count of most machines
    for (int i = 0; i < 3; ++i, at += 2) reservations.made({at * kPage4K, (at + 1) * kPage4K});  // asked by several threads before
    EXPECT_EQ(map->opened_bytes, 3 * kPage4K);  // what cannot be followed counts as used
}

TEST(Reservations, OnlyWhereTheyAreAllowed) {
    auto map = std::make_unique<mosalloc_pool_map>();
    Reservations allowed, recorded;
    const size_t tables = table_count();
    ASSERT_TRUE(recorded.init(map.get(), false));
    EXPECT_EQ(table_count(), tables);  // which would move what a recorded program maps later
    ASSERT_TRUE(allowed.init(map.get(), true));
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
