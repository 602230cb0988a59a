// btree - random lookups in a B+ tree. Kernel and citation: btree.h; construction of the tree: btree_build.h.
#include "btree.h"

#include "btree_build.h"
#include "common/program.h"

using namespace tessera::workloads;
using namespace tessera::workloads::btree;

namespace {

Outcome run(const Arguments& arguments) {
    const uint64_t elements = arguments.count("elements");
    const uint64_t lookups = arguments.count("lookups");
    const uint64_t seed = arguments.count("seed");
    Tree tree = build_tree(elements, seed);
    if (arguments.flag("self-test-corrupt")) {
        Lcg64 draws(seed);  // the first element that will be looked up; its place is not known here
        const uint64_t key = key_of_element(below(draws.next(), elements));
        for (uint64_t i = 0; i < elements; ++i)
            if (tree.elements[i].key == key) tree.elements[i].value ^= 1;
    }

    uint64_t checksum = 0;
    const uint64_t roi_ns = region_of_interest_ns([&] { checksum = look_up_at_random(tree.root, elements, lookups, seed); });

    const uint64_t expected = expected_sum(elements, lookups, seed);
    std::string complaint;
    if (checksum != expected) complaint = "checksum " + std::to_string(checksum) + ", expected " + std::to_string(expected);
    Result result("btree");
    result.add("elements", elements)
        .add("lookups", lookups)
        .add("seed", seed)
        .add("footprint_bytes", tree.nodes.bytes() + tree.elements.bytes())
        .add("roi_ns", roi_ns)
        .add("nodes", tree.nodes.size())
        .add("levels", tree.levels)
        .add("checksum", checksum);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("btree", "look up random keys in a B+ tree of order 4",
                       {{"elements", Kind::count, "4000000", 1, 4294967295.0, "number of 16-byte elements in the tree"},
                        {"lookups", Kind::count, "1000000", 1, 1e12, "number of lookups in the region of interest"},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
