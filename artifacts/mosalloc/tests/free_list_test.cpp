// The free list against a slow oracle: one bool per page.
#include "core/free_list.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace mosalloc;

namespace {

constexpr uint64_t kPages = 64;

class Oracle {
public:
    bool take_first_fit(uint64_t bytes, uint64_t* start) {
        for (uint64_t at = 0; at + bytes <= kPages; ++at) {
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
        for (uint64_t i = 0; i < kPages; ++i) count += free_[i] && (i == 0 || !free_[i - 1]);
        return count;
    }

private:
    std::vector<bool> free_ = std::vector<bool>(kPages, true);
};

TEST(FreeList, AgreesWithTheOracleAndAlwaysCoalesces) {
    std::mt19937_64 rng(7);
    for (int round = 0; round < 200; ++round) {
        Range storage[kPages + 2];
        FreeList list;
        list.init(storage, kPages + 2, kPages);
        Oracle oracle;
        for (int step = 0; step < 200; ++step) {
            const uint64_t from = rng() % kPages, to = from + 1 + rng() % (kPages - from);
            uint64_t a = 0, b = 0;
            switch (rng() % 3) {
                case 0: {
                    const uint64_t bytes = 1 + rng() % 9;
                    const bool found = oracle.take_first_fit(bytes, &b);
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
            uint64_t free = 0;
            for (size_t i = 0; i < list.count(); ++i) free += list.at(i).bytes();
            ASSERT_EQ(list.free_bytes(), free);
        }
    }
}

TEST(FreeList, SaysWhenItsTableIsFull) {
    Range storage[2];
    FreeList list;
    list.init(storage, 2, 10);
    EXPECT_TRUE(list.has_room());
    list.take({4, 5});
    EXPECT_FALSE(list.has_room());
    list.give({4, 5});
    EXPECT_TRUE(list.has_room());
}

}  // namespace
