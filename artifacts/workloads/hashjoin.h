// hashjoin.h - the kernel of hashjoin: build a chained hash table of one relation, probe it with another.
//
// The no-partitioning hash join of Blanas, Li and Patel (SIGMOD 2011, section 3.2): a bucket is a header and
// a few tuples in place, and a full bucket moves its tuples to an overflow bucket behind it, so that an
// insertion touches the head only. Mitosis (table 1) uses such a join as "hash-table probing".
// Encoding: a bucket is one cache line with three 16-byte tuples; `next` is 1 + the index of an overflow
// bucket, 0 for none. The matches are aggregated, not written out, as in that paper's experiments.
// Not modelled: latches (one thread needs none).
#pragma once

#include <cstdint>

#include "common/measure.h"

namespace tessera::workloads::hashjoin {

struct Tuple {
    uint64_t key;
    uint64_t payload;
};

struct alignas(64) Bucket {
    static constexpr uint32_t kSlots = 3;
    uint32_t count;  ///< filled slots
    uint32_t next;
    Tuple slots[kSlots];
};

/// A view of the table's memory, zeroed before the build.
struct HashTable {
    Bucket* buckets;             ///< 2^log2_buckets of them
    unsigned log2_buckets;       ///< 1 to 63
    Bucket* overflow;
    uint64_t overflow_capacity;  ///< buckets, below 2^32 - 1

    /// Multiplicative hashing (Knuth, vol. 3, 6.4): the high bits of the product.
    Bucket& home(uint64_t key) const { return buckets[key * 0x9e3779b97f4a7c15u >> (64 - log2_buckets)]; }
};

struct Joined {
    uint64_t matches = 0;
    uint64_t checksum = 0;  ///< sum over the matches of both payloads, exclusive-ored
};

constexpr uint64_t kOverflowFull = UINT64_MAX;

/// Inserts all tuples; returns how many overflow buckets that took, or kOverflowFull if they ran out.
TESSERA_KERNEL inline uint64_t build_table(const HashTable& table, const Tuple* tuples, uint64_t count) {
    uint64_t overflowed = 0;
    for (uint64_t i = 0; i < count; ++i) {
        const Tuple tuple = tuples[i];
        Bucket& head = table.home(tuple.key);
        uint32_t slot = head.count;
        if (slot == Bucket::kSlots) {
            if (overflowed == table.overflow_capacity) return kOverflowFull;
            table.overflow[overflowed++] = head;
            head.next = static_cast<uint32_t>(overflowed);
            slot = 0;
        }
        head.slots[slot] = tuple;
        head.count = slot + 1;
    }
    return overflowed;
}

/// Keys may repeat in both relations: a chain is read to its end.
TESSERA_KERNEL inline Joined probe_table(const HashTable& table, const Tuple* tuples, uint64_t count) {
    Joined joined;
    for (uint64_t i = 0; i < count; ++i) {
        const Tuple tuple = tuples[i];
        const Bucket* bucket = &table.home(tuple.key);
        while (true) {
            for (uint32_t slot = 0; slot < bucket->count; ++slot) {
                if (bucket->slots[slot].key != tuple.key) continue;
                ++joined.matches;
                joined.checksum += bucket->slots[slot].payload ^ tuple.payload;
            }
            if (bucket->next == 0) break;
            bucket = table.overflow + (bucket->next - 1);
        }
    }
    return joined;
}

}  // namespace tessera::workloads::hashjoin
