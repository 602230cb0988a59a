// btree_build.h - a B+ tree as random insertions leave it, built from the bottom in one pass.
//
// Insertions in random order scatter nodes over memory and leave them partly filled. Both are kept: nodes
// and elements go to places in random order, and their fill is drawn from the equilibrium of random
// insertions (Yao, "On Random 2-3 Trees", Acta Informatica 9, 1978), which follows from which node splits
// into which: leaves of 2 and 3 elements 2:1; inner nodes of 2, 3 and 4 children 4:5:3.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "btree.h"
#include "common/anonymous_array.h"

namespace tessera::workloads::btree {

/// How many of `left` members the next node takes: 2 to `most`, and never such that one is left alone.
inline uint64_t draw_fill(uint64_t left, uint64_t most, uint64_t random) {
    if (left <= most) return left;
    const uint64_t draw = below(random, 12);
    const uint64_t fill = most == Node::kKeys ? (draw < 8 ? 2 : 3) : (draw < 4 ? 2 : draw < 9 ? 3 : 4);
    if (left - fill != 1) return fill;
    return fill == 2 ? 3 : fill - 1;
}

/// Nodes of each level, leaves first, for draw_fill's numbers of this seed.
inline std::vector<uint64_t> count_levels(uint64_t elements, uint64_t seed) {
    std::vector<uint64_t> levels;
    uint64_t members = elements, most = Node::kKeys, number = 0;
    do {
        uint64_t nodes = 0;
        for (uint64_t left = members; left > 0; ++nodes) left -= draw_fill(left, most, mix64(seed, number++));
        levels.push_back(nodes);
        members = nodes;
        most = Node::kChildren;
    } while (members > 1);
    return levels;
}

/// Places 0 to count-1 in random order (Fisher and Yates; Knuth, vol. 2, 3.4.2, algorithm P).
inline AnonymousArray<uint32_t> random_places(uint64_t count, uint64_t seed) {
    AnonymousArray<uint32_t> places("places", count);
    for (uint64_t i = 0; i < count; ++i) places[i] = static_cast<uint32_t>(i);
    for (uint64_t i = count; i > 1; --i) std::swap(places[i - 1], places[below(mix64(seed, i), i)]);
    return places;
}

struct Tree {
    AnonymousArray<Node> nodes;
    AnonymousArray<Element> elements;
    const Node* root;
    uint64_t levels;
};

/// Nodes by number, leaves first, then level by level.
struct NodesByNumber {
    AnonymousArray<Node>& nodes;
    AnonymousArray<uint32_t> places;
    AnonymousArray<uint64_t> least_key;  ///< of the elements under a node

    NodesByNumber(AnonymousArray<Node>& where, uint64_t seed)
        : nodes(where), places(random_places(where.size(), seed)), least_key("least keys", where.size()) {}
    Node& operator[](uint64_t number) { return nodes[places[number]]; }
};

/// Fills the leaves and the elements that they point to; returns the number of leaves.
inline uint64_t fill_leaves(NodesByNumber& nodes, AnonymousArray<Element>& elements, uint64_t seed) {
    const AnonymousArray<uint32_t> places = random_places(elements.size(), ~seed);
    uint64_t number = 0, i = 0;
    for (Node* previous = nullptr; i < elements.size(); ++number) {
        Node& leaf = nodes[number];
        const uint64_t end = i + draw_fill(elements.size() - i, Node::kKeys, mix64(seed, number));
        nodes.least_key[number] = key_of_element(i);
        leaf.leaf = 1;
        for (; i < end; ++i) {
            Element& element = elements[places[i]];
            element = {key_of_element(i), value_of_element(i)};
            leaf.key[leaf.keys] = element.key;
            leaf.slot[leaf.keys++].element = &element;
        }
        if (previous != nullptr) previous->slot[Node::kKeys].child = &leaf;
        previous = &leaf;
    }
    return number;
}

/// Puts a level on the nodes [first, end), numbered from `end` on; returns its end.
inline uint64_t add_level(NodesByNumber& nodes, uint64_t first, uint64_t end, uint64_t seed) {
    uint64_t number = end;
    for (uint64_t child = first; child < end; ++number) {
        Node& node = nodes[number];
        const uint64_t fill = draw_fill(end - child, Node::kChildren, mix64(seed, number));
        nodes.least_key[number] = nodes.least_key[child];
        node.keys = static_cast<uint32_t>(fill - 1);
        for (uint64_t i = 0; i < fill; ++i, ++child) {
            if (i > 0) node.key[i - 1] = nodes.least_key[child];
            node.slot[i].child = &nodes[child];
        }
    }
    return number;
}

/// 1 to 2^32 - 1 elements.
inline Tree build_tree(uint64_t count, uint64_t seed) {
    uint64_t node_count = 0;
    for (const uint64_t level : count_levels(count, seed)) node_count += level;
    Tree tree{AnonymousArray<Node>("tree nodes", node_count), AnonymousArray<Element>("elements", count), nullptr, 1};
    NodesByNumber nodes(tree.nodes, seed + 1);
    uint64_t first = 0, end = fill_leaves(nodes, tree.elements, seed);
    for (; end - first > 1; ++tree.levels) {
        const uint64_t next = add_level(nodes, first, end, seed);
        first = end;
        end = next;
    }
    tree.root = &nodes[first];
    return tree;
}

}  // namespace tessera::workloads::btree
