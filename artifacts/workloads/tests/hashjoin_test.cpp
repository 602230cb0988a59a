// hashjoin: chains and overflow by hand, and random joins against a map.
#include "hashjoin.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/rng.h"

using namespace tessera::workloads;
using namespace tessera::workloads::hashjoin;

namespace {

struct Memory {
    std::vector<Bucket> buckets, overflow;
    HashTable table;

    Memory(unsigned log2_buckets, uint64_t capacity)
        : buckets(uint64_t{1} << log2_buckets), overflow(capacity), table{buckets.data(), log2_buckets, overflow.data(), capacity} {}
};

/// n different keys that share the first bucket of two: their products' high bit is 0.
std::vector<Tuple> colliding(uint64_t n) {
    std::vector<Tuple> tuples;
    for (uint64_t key = 1; tuples.size() < n; ++key)
        if (key * 0x9e3779b97f4a7c15u >> 63 == 0) tuples.push_back({key, key * 100});
    return tuples;
}

TEST(HashJoin, ABucketIsACacheLine) { EXPECT_EQ(sizeof(Bucket), 64u); }

TEST(HashJoin, AFullBucketOverflowsBehindTheHead) {
    for (const auto& [tuples, overflowed] : {std::pair<uint64_t, uint64_t>{3, 0}, {4, 1}, {6, 1}, {7, 2}}) {
        Memory memory(1, 2);
        const auto r = colliding(tuples);
        EXPECT_EQ(build_table(memory.table, r.data(), r.size()), overflowed) << tuples;
        const Joined joined = probe_table(memory.table, r.data(), r.size());
        EXPECT_EQ(joined.matches, tuples);
        EXPECT_EQ(joined.checksum, 0u);  // each payload meets itself
    }
}

TEST(HashJoin, OverflowBucketsThatRunOutAreReported) {
    Memory memory(1, 2);
    const auto r = colliding(10);
    EXPECT_EQ(build_table(memory.table, r.data(), 9), 2u);
    Memory again(1, 2);
    EXPECT_EQ(build_table(again.table, r.data(), 10), kOverflowFull);
}

TEST(HashJoin, KeysThatAreAbsentMatchNothing) {
    Memory memory(4, 8);
    const std::vector<Tuple> r = {{1, 10}, {2, 20}}, s = {{3, 5}, {0, 5}};
    build_table(memory.table, r.data(), r.size());
    EXPECT_EQ(probe_table(memory.table, s.data(), s.size()).matches, 0u);
}

TEST(HashJoin, AgreesWithAMapWhenKeysRepeatAndMiss) {
    for (const uint64_t keys : {1u, 10u, 1000u}) {
        std::vector<Tuple> r, s;
        for (uint64_t i = 0; i < 500; ++i) r.push_back({below(mix64(1, i), keys), mix64(2, i)});
        for (uint64_t i = 0; i < 700; ++i) s.push_back({below(mix64(3, i), keys + 5), mix64(4, i)});
        Memory memory(6, 500);
        ASSERT_NE(build_table(memory.table, r.data(), r.size()), kOverflowFull);
        const Joined joined = probe_table(memory.table, s.data(), s.size());

        std::multimap<uint64_t, uint64_t> map;
        for (const Tuple& tuple : r) map.emplace(tuple.key, tuple.payload);
        Joined expected;
        for (const Tuple& tuple : s)
            for (auto [at, end] = map.equal_range(tuple.key); at != end; ++at, ++expected.matches)
                expected.checksum += at->second ^ tuple.payload;
        EXPECT_EQ(joined.matches, expected.matches) << keys;
        EXPECT_EQ(joined.checksum, expected.checksum) << keys;
    }
}

}  // namespace
