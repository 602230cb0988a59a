// The free list against a slow oracle: one bool per page.
#include "core/free_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace mosalloc;

namespace {

constexpr uint64_t kPages = 64;

class Oracle {
public:
    explicit Oracle(uint64_t pages = kPages) : pages_(pages), free_(pages, true) {}
    bool take_first_fit(uint64_t bytes, uint64_t* start) {
        for (uint64_t at = 0; at + bytes <= pages_; ++at) {
            if (!all(at, at + bytes, true)) continue;
            set(at, at + bytes, false);
            *start = at;
            return true;
        }
        return false;
    }
    void set(uint64_t from, uint64_t to, bool free) {
        for (; from < to; ++from) free_[from] = free;
    }
    bool all(uint64_t from, uint64_t to, bool free) const {
        for (; from < to; ++from)
            if (free_[from] != free) return false;
        return true;
    }
    size_t runs() const {
        size_t count = 0;
        for (uint64_t i = 0; i < pages_; ++i) count += free_[i] && (i == 0 || !free_[i - 1]);
        return count;
    }

private:
    uint64_t pages_;
    std::vector<bool> free_;
};

/// A list with storage of its own.
struct Owned : FreeList {
    Owned(size_t capacity, uint64_t bytes) : storage(storage_bytes(capacity) / 8 + 1, ~uint64_t{0}) {
        init(storage.data(), capacity, bytes);
    }
    std::vector<uint64_t> storage;  // not zero: the list must not rely on it
};

/// All ranges in their order, as the list itself gives them; they must be disjoint and must not touch.
uint64_t checked_bytes(const FreeList& list) {
    uint64_t bytes = 0, end = 0;
    for (size_t i = 0; i < list.count(); ++i) {
        const Range range = list.at(i);
        EXPECT_LT(range.start, range.end);
        if (i > 0) {
            EXPECT_GT(range.start, end);
        }
        end = range.end;
        bytes += range.bytes();
    }
    return bytes;
}

TEST(FreeList, AgreesWithTheOracleAndAlwaysCoalesces) {
    std::mt19937_64 rng(7);
    for (int round = 0; round < 200; ++round) {
        Owned list(kPages + 2, kPages);
        Oracle oracle;
        for (int step = 0; step < 200; ++step) {
            const uint64_t from = rng() % kPages, to = from + 1 + rng() % (kPages - from);
            uint64_t a = 0, b = 0;
            switch (rng() % 3) {
                case 0: {
                    const uint64_t bytes = 1 + rng() % 9;
                    const bool fits = list.fits(bytes), found = oracle.take_first_fit(bytes, &b);
                    ASSERT_EQ(fits, found);
                    ASSERT_EQ(list.take_first_fit(bytes, &a), found);
                    ASSERT_EQ(a, b);
                    break;
                }
                case 1: list.take({from, to}), oracle.set(from, to, false); break;
                default: list.give({from, to}), oracle.set(from, to, true);
            }
            const uint64_t x = rng() % kPages, y = x + 1 + rng() % (kPages - x);
            ASSERT_EQ(list.is_free({x, y}), oracle.all(x, y, true));
            ASSERT_EQ(list.is_taken({x, y}), oracle.all(x, y, false));
            ASSERT_EQ(list.count(), oracle.runs());
            ASSERT_EQ(list.free_bytes(), checked_bytes(list));
        }
    }
}

TEST(FreeList, SaysWhenItsTableIsFull) {
    Owned list(2, 10);
    EXPECT_TRUE(list.has_room());
    list.take({4, 5});
    EXPECT_FALSE(list.has_room());
    list.give({4, 5});
    EXPECT_TRUE(list.has_room());
}

/// Thousands of ranges in many chunks, which grow, split, shrink and merge; the oracle is slow, so it is asked seldom.
TEST(FreeList, AgreesWithTheOracleInManyChunks) {
    constexpr uint64_t kMany = 20000;
    std::mt19937_64 rng(11);
    Owned list(kMany, kMany);
    Oracle oracle(kMany);
    size_t most = 0;
    for (int step = 0; step < 60000; ++step) {
        const bool fills = step / 15000 % 2 == 0;  // many small holes, then large ranges that swallow them
        const uint64_t from = rng() % kMany, length = fills ? 1 + rng() % 2 : 1 + rng() % 300;
        const uint64_t to = std::min(kMany, from + length);
        const uint64_t pick = rng() % 8;
        if (pick == 0) {
            const uint64_t bytes = 1 + rng() % (fills ? 4 : 40);
            uint64_t a = 0, b = 0;
            const bool found = oracle.take_first_fit(bytes, &b);
            ASSERT_EQ(list.take_first_fit(bytes, &a), found);
            ASSERT_EQ(a, b);
        } else if (pick < 5) {
            list.take({from, to}), oracle.set(from, to, false);
        } else {
            list.give({from, to}), oracle.set(from, to, true);
        }
        most = std::max(most, list.count());
        ASSERT_TRUE(list.packed());
        const uint64_t x = rng() % kMany, y = std::min(kMany, x + 1 + rng() % 5);
        ASSERT_EQ(list.is_free({x, y}), oracle.all(x, y, true));
        ASSERT_EQ(list.is_taken({x, y}), oracle.all(x, y, false));
        if (step % 500 == 0) {
            ASSERT_EQ(list.count(), oracle.runs());
            ASSERT_EQ(list.free_bytes(), checked_bytes(list));
        }
    }
    EXPECT_GT(most, 2000u);  // in chunks of 128 at most
}

/// The storage is enough for any shape: alternate pages, freed in the worst orders, up to the capacity.
TEST(FreeList, HoldsItsCapacityInAnyShape) {
    constexpr size_t kCapacity = 5000;
    Owned list(kCapacity, 0);
    for (int round = 0; round < 3; ++round) {
        for (uint64_t i = 0; list.has_room(); ++i) {
            const uint64_t at = round == 0 ? i : round == 1 ? kCapacity - 1 - i : (i * 1237) % kCapacity;
            list.give({4 * at, 4 * at + 1 + at % 3});
        }
        ASSERT_EQ(list.count(), kCapacity);
        ASSERT_EQ(list.free_bytes(), checked_bytes(list));
        for (uint64_t at = 0; at < kCapacity; ++at)
            if (at % 97 != 0) list.take({4 * at, 4 * at + 4});  // leaves few in each chunk
        ASSERT_EQ(list.count(), (kCapacity + 96) / 97);
        for (uint64_t at = 0; at < kCapacity; at += 97) list.take({4 * at, 4 * at + 4});
        ASSERT_EQ(list.count(), 0u);
        ASSERT_EQ(list.free_bytes(), 0u);
    }
}

/// Ranges that shrink from one end, across the border of two chunks, leave no neighbours that are nearly empty.
TEST(FreeList, KeepsItsChunksFullWhenRangesAreSwallowed) {
    constexpr uint64_t kMany = 20000;
    for (const bool gives : {true, false}) {
        std::mt19937_64 rng(13);
        Owned list(kMany, 0);
        for (uint64_t at = 0; at < kMany; ++at) list.give({4 * at, 4 * at + 2});
        while (list.count() > 50) {
            const uint64_t from = rng() % (4 * kMany), to = from + 4 * (20 + rng() % 130);
            if (gives) list.give({from, std::min(to, 4 * kMany)});
            else list.take({from, std::min(to, 4 * kMany)});
            ASSERT_TRUE(list.packed());
        }
    }
}

}  // namespace
