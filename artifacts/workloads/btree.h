// btree.h - the kernel of btree: lookups in a B+ tree of order 4, one pointer after the other.
//
// B+ tree after Comer, "The Ubiquitous B-Tree" (ACM Computing Surveys 11(2), 1979): inner nodes hold keys to
// steer by, leaves hold pointers to the elements and to the next leaf. Order 4 (at most 4 children and 3
// keys) and elements of 16 bytes as in Mitosis (table 1). A node is one cache line.
// Encoding: child i of an inner node has the keys k with key[i-1] <= k < key[i]; a leaf's slot i is the
// element of key[i], its slot 3 the next leaf.
#pragma once

#include <cstdint>

#include "common/measure.h"
#include "common/rng.h"

namespace tessera::workloads::btree {

struct Element {
    uint64_t key;
    uint64_t value;
};

struct alignas(64) Node {
    static constexpr uint32_t kKeys = 3, kChildren = 4;
    union Slot {
        Node* child;
        const Element* element;
    };
    uint32_t keys;  ///< used keys; an inner node has one child more
    uint32_t leaf;  ///< 1 for a leaf
    uint64_t key[kKeys];
    Slot slot[kChildren];
};

/// The element of a key; null if the tree has none.
inline const Element* find(const Node* node, uint64_t key) {
    while (node->leaf == 0) {
        uint32_t i = 0;
        while (i < node->keys && node->key[i] <= key) ++i;
        node = node->slot[i].child;
    }
    for (uint32_t i = 0; i < node->keys; ++i)
        if (node->key[i] == key) return node->slot[i].element;
    return nullptr;
}

/// Keys are sorted as their elements are and leave gaps.
inline uint64_t key_of_element(uint64_t i) { return i * 8 + (i * 0x9e3779b97f4a7c15u >> 61); }
inline uint64_t value_of_element(uint64_t i) { return i * 0xd6e8feb86659fd93u ^ i >> 7; }

/// Looks up the keys of elements drawn at random, all present; returns the sum of their values.
TESSERA_KERNEL inline uint64_t look_up_at_random(const Node* root, uint64_t elements, uint64_t lookups, uint64_t seed) {
    Lcg64 draws(seed);
    uint64_t sum = 0;
    for (uint64_t k = 0; k < lookups; ++k) {
        const Element* found = find(root, key_of_element(below(draws.next(), elements)));
        if (found != nullptr) sum += found->value;
    }
    return sum;
}

/// What look_up_at_random must return; without a tree, in blocks from the last to the first.
inline uint64_t expected_sum(uint64_t elements, uint64_t lookups, uint64_t seed) {
    constexpr uint64_t kBlock = 65536;
    uint64_t sum = 0;
    for (uint64_t block = (lookups + kBlock - 1) / kBlock; block-- > 0;) {
        Lcg64 draws(seed);
        draws.jump(block * kBlock);
        for (uint64_t k = block * kBlock; k < lookups && k < (block + 1) * kBlock; ++k)
            sum += value_of_element(below(draws.next(), elements));
    }
    return sum;
}

}  // namespace tessera::workloads::btree
