// hashjoin - joins two relations by a hash table. Kernel and citation: hashjoin.h.
//
// R has unique keys, every tuple of S finds one of them (a foreign key), drawn uniformly. The region of
// interest is build and probe. The join's size and checksum follow from how the keys were drawn: the oracle
// computes them from the generator alone, in blocks from the last to the first, without keys or table.
#include <algorithm>
#include <bit>

#include "common/anonymous_array.h"
#include "common/program.h"
#include "common/rng.h"
#include "hashjoin.h"

using namespace tessera::workloads;
using namespace tessera::workloads::hashjoin;

namespace {

/// One to one in i for any seed, so keys are unique, and spread over all 64 bits.
uint64_t key_of(uint64_t i, uint64_t seed) { return mix64(seed, i); }
uint64_t payload_of(uint64_t i) { return i * 0xd6e8feb86659fd93u ^ i >> 7; }

AnonymousArray<Tuple> build_side(uint64_t count, uint64_t seed) {
    AnonymousArray<Tuple> tuples("relation R", count);
    for (uint64_t i = 0; i < count; ++i) tuples[i] = {key_of(i, seed), payload_of(i)};
    return tuples;
}

AnonymousArray<Tuple> probe_side(uint64_t count, uint64_t keys, uint64_t seed) {
    AnonymousArray<Tuple> tuples("relation S", count);
    Lcg64 draws(seed);
    for (uint64_t k = 0; k < count; ++k) tuples[k] = {key_of(below(draws.next(), keys), seed), k};
    return tuples;
}

Joined expected_join(uint64_t probes, uint64_t keys, uint64_t seed) {
    constexpr uint64_t kBlock = 65536;
    Joined joined{probes, 0};
    for (uint64_t block = (probes + kBlock - 1) / kBlock; block-- > 0;) {
        Lcg64 draws(seed);
        draws.jump(block * kBlock);
        for (uint64_t k = block * kBlock; k < probes && k < (block + 1) * kBlock; ++k)
            joined.checksum += payload_of(below(draws.next(), keys)) ^ k;
    }
    return joined;
}

Outcome run(const Arguments& arguments) {
    const uint64_t elements = arguments.count("elements");
    const uint64_t probes = arguments.count("probes");
    const uint64_t seed = arguments.count("seed");

    AnonymousArray<Tuple> r = build_side(elements, seed);
    const AnonymousArray<Tuple> s = probe_side(probes, elements, seed);
    // One to two tuples a bucket on average. At two, 0.15 overflow buckets a bucket are expected (Poisson),
    // 0.074 a tuple; room for one in eight.
    AnonymousArray<Bucket> buckets("hash buckets", std::bit_ceil(std::max(uint64_t{2}, (elements + 1) / 2)));
    AnonymousArray<Bucket> overflow("overflow buckets", elements / 8 + 64);
    buckets.prefault();
    overflow.prefault();
    const HashTable table{buckets.data(), static_cast<unsigned>(std::bit_width(buckets.size())) - 1, overflow.data(), overflow.size()};

    uint64_t overflowed = 0;
    Joined joined;
    const uint64_t roi_ns = region_of_interest_ns([&] {
        overflowed = build_table(table, r.data(), r.size());
        if (overflowed != kOverflowFull) joined = probe_table(table, s.data(), s.size());
    });
    if (overflowed == kOverflowFull)
        throw Error("hashjoin: build the table", "it needs more overflow buckets than " + std::to_string(overflow.size()),
                    "report this bug with the command line: the keys are not spread evenly", kExitFailed);

    if (arguments.flag("self-test-corrupt")) joined.checksum ^= 1;
    const Joined expected = expected_join(probes, elements, seed);
    std::string complaint;
    if (joined.matches != expected.matches || joined.checksum != expected.checksum)
        complaint = std::to_string(joined.matches) + " matches with checksum " + std::to_string(joined.checksum) + ", expected " +
                    std::to_string(expected.matches) + " with " + std::to_string(expected.checksum);
    Result result("hashjoin");
    result.add("elements", elements)
        .add("probes", probes)
        .add("seed", seed)
        .add("footprint_bytes", r.bytes() + s.bytes() + buckets.bytes() + overflow.bytes())
        .add("roi_ns", roi_ns)
        .add("buckets", buckets.size())
        .add("overflow_buckets", overflowed)
        .add("matches", joined.matches)
        .add("checksum", joined.checksum);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("hashjoin", "join two relations: build a hash table and probe it",
                       {{"elements", Kind::count, "4194304", 1, 8e9, "number of tuples in the table (relation R)"},
                        {"probes", Kind::count, "8388608", 1, 1e11, "number of tuples that probe the table (relation S)"},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
