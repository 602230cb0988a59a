// btree: the rules of a B+ tree of order 4 on trees of every small size, fill and places, lookups.
#include "btree.h"

#include <gtest/gtest.h>

#include <set>

#include "btree_build.h"

using namespace tessera::workloads;
using namespace tessera::workloads::btree;

namespace {

/// Walks a subtree; checks fill and that keys lie in [least, most); returns its depth.
uint64_t checked_depth(const Node* node, bool root, uint64_t least, uint64_t most, std::set<const Node*>& seen) {
    EXPECT_TRUE(seen.insert(node).second) << "a node with two parents";
    EXPECT_LE(node->keys, Node::kKeys);
    if (!root) {
        EXPECT_GE(node->keys, node->leaf ? 2u : 1u);
    }
    uint64_t last = least;
    for (uint32_t i = 0; i < node->keys; ++i) {
        EXPECT_LT(node->key[i], most);
        EXPECT_TRUE(i == 0 ? node->key[0] >= last : node->key[i] > last);
        last = node->key[i];
    }
    if (node->leaf) {
        for (uint32_t i = 0; i < node->keys; ++i) EXPECT_EQ(node->slot[i].element->key, node->key[i]);
        return 1;
    }
    uint64_t depth = 0;
    for (uint32_t i = 0; i <= node->keys; ++i) {
        const uint64_t from = i == 0 ? least : node->key[i - 1], to = i == node->keys ? most : node->key[i];
        const uint64_t found = checked_depth(node->slot[i].child, false, from, to, seen);
        EXPECT_TRUE(i == 0 || found == depth) << "leaves at different depths";
        depth = found;
    }
    return depth + 1;
}

TEST(BTree, ANodeIsACacheLine) { EXPECT_EQ(sizeof(Node), 64u); }

TEST(BTree, KeysAscendWithGaps) {
    for (uint64_t i = 0; i < 1000; ++i) EXPECT_LT(key_of_element(i), key_of_element(i + 1));
}

TEST(BTree, EverySizeKeepsTheRulesAndFindsAllItsKeys) {
    for (uint64_t count = 1; count <= 300; ++count) {
        const Tree tree = build_tree(count, count);
        std::set<const Node*> seen;
        EXPECT_EQ(checked_depth(tree.root, true, 0, UINT64_MAX, seen), tree.levels) << count;
        EXPECT_EQ(seen.size(), tree.nodes.size());
        for (uint64_t i = 0; i < count; ++i) {
            const Element* found = find(tree.root, key_of_element(i));
            ASSERT_NE(found, nullptr);
            EXPECT_EQ(found->value, value_of_element(i));
            for (uint64_t absent = key_of_element(i) + 1; absent < key_of_element(i + 1); ++absent)
                EXPECT_EQ(find(tree.root, absent), nullptr) << absent;
        }
        EXPECT_EQ(find(tree.root, key_of_element(count)), nullptr);
    }
}

TEST(BTree, TheLeavesAreChainedInOrder) {
    const Tree tree = build_tree(1000, 3);
    const Node* leaf = tree.root;
    while (!leaf->leaf) leaf = leaf->slot[0].child;
    uint64_t i = 0;
    for (; leaf != nullptr; leaf = leaf->slot[Node::kKeys].child)
        for (uint32_t k = 0; k < leaf->keys; ++k, ++i) EXPECT_EQ(leaf->key[k], key_of_element(i));
    EXPECT_EQ(i, 1000u);
}

// 2:1 leaves hold 7/3 elements on average; 4:5:3 inner nodes have 35/12 children.
TEST(BTree, FillIsThatOfRandomInsertions) {
    const std::vector<uint64_t> levels = count_levels(300000, 1);
    EXPECT_NEAR(300000.0 / static_cast<double>(levels[0]), 7.0 / 3, 0.01);
    EXPECT_NEAR(static_cast<double>(levels[0]) / static_cast<double>(levels[1]), 35.0 / 12, 0.02);
}

TEST(BTree, NeighbouringLeavesLieApart) {
    const Tree tree = build_tree(100000, 1);
    const Node* leaf = tree.root;
    while (!leaf->leaf) leaf = leaf->slot[0].child;
    uint64_t leaves = 0, same_page = 0;
    for (const Node* next; (next = leaf->slot[Node::kKeys].child) != nullptr; leaf = next, ++leaves)
        same_page += reinterpret_cast<uintptr_t>(leaf) / 4096 == reinterpret_cast<uintptr_t>(next) / 4096;
    EXPECT_LT(same_page, leaves / 100);  // 1019 pages: by chance, 1 in 1000
}

TEST(BTree, LookupsAgreeWithTheOracleAndDamageShows) {
    Tree tree = build_tree(5000, 9);
    for (const uint64_t lookups : {1u, 65535u, 65536u, 65537u})
        EXPECT_EQ(look_up_at_random(tree.root, 5000, lookups, 2), expected_sum(5000, lookups, 2)) << lookups;
    tree.elements[17].value += 1;
    EXPECT_NE(look_up_at_random(tree.root, 5000, 200000, 2), expected_sum(5000, 200000, 2));
}

}  // namespace
