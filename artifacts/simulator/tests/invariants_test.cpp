// invariants_test.cpp - invariants of any program, on random streams: sums, and the stack property of LRU.
#include <algorithm>

#include "support/engines.h"
#include "support/random_inputs.h"
#include "support/translations.h"

namespace tessera::sim::testing {
namespace {

uint64_t sum(const std::array<uint64_t, 4>& served) { return served[0] + served[1] + served[2] + served[3]; }

TEST(Invariants, CountsAddUp) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 9000);
        const Platform p = random.platform();
        MemoryStream stream = random.stream(5000);
        const uint64_t latency[4] = {p.l1d.load_cycles, p.l2.load_cycles, p.l3.load_cycles, p.memory_load_cycles};
        for (const LayoutCounts& c : on_all_engines(p, stream, {all_4kb(), random.layout(1), random.layout(2)})) {
            EXPECT_LE(c.stlb_hits + c.stlb_misses, stream.header().accesses + crossings_of(stream));
            EXPECT_EQ(c.units[0].stlb_misses, c.stlb_misses);  // one unit covers everything
            EXPECT_EQ(sum(c.program), stream.header().accesses);
            uint64_t cycles = c.stlb_misses * p.walker_begin_cycles;
            for (int level = 0; level < 4; ++level) cycles += c.walker[size_t(level)] * (latency[level] + p.walker_load_adds_cycles);
            EXPECT_EQ(c.units[0].walk_cycles, cycles);
            EXPECT_GE(sum(c.walker), c.stlb_misses);  // at least the leaf
            EXPECT_LE(sum(c.walker), c.stlb_misses * p.page_table_levels);
        }
    }
}

/// A first level that passes on everything but immediate repetitions, which no LRU array below it would notice.
Platform with_fully_associative_lru(uint64_t entries) {
    Platform p = haswell();
    p.l1_4kb = p.l1_2mb = p.l1_1gb = {1, 1};
    p.stlb = p.stlb_2mb = {entries, entries};
    p.stlb_holds_2mb = 0;
    return p;
}

/// Mattson et al. 1970: an access misses a fully associative LRU array of E entries iff E or more other pages were used
/// since its page was. Counted here from the addresses alone.
std::vector<uint64_t> misses_by_entries(const MemoryStream& stream, unsigned page_shift, const std::vector<uint64_t>& entries) {
    std::vector<uint64_t> misses(entries.size(), 0), stack;
    each_translation(stream, [&](uint64_t address, bool) {
        const auto found = std::find(stack.begin(), stack.end(), address >> page_shift);
        const uint64_t distance = found == stack.end() ? ~uint64_t{0} : uint64_t(found - stack.begin());
        if (found != stack.end()) stack.erase(found);
        stack.insert(stack.begin(), address >> page_shift);
        for (size_t i = 0; i < entries.size(); ++i) misses[i] += distance >= entries[i];
    });
    return misses;
}

TEST(StackProperty, FullyAssociativeMissesAreCountsOfStackDistances) {
    RandomInputs random(4242);
    MemoryStream stream = random.stream(12000);
    const std::vector<uint64_t> entries = {1, 2, 5, 12, 31, 64};
    const auto small = misses_by_entries(stream, 12, entries);
    for (size_t i = 0; i < entries.size(); ++i)
        EXPECT_EQ(on_all_engines(with_fully_associative_lru(entries[i]), stream, {all_4kb()})[0].stlb_misses, small[i]);
    EXPECT_LT(small.back(), small.front());
}

// Pages only merge when they grow: the 2MB page was used no earlier than the 4KB page, and the others since then lie in no
// more 2MB pages than 4KB pages. Provable for fully associative LRU of equal size only; the stream stays in the pool.
TEST(StackProperty, LargePagesNeverMissMoreInAFullyAssociativeArray) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        StreamBuilder builder;
        const uint32_t block = builder.independent_load();
        std::mt19937_64 random(seed);
        uint64_t at = 0;
        for (int i = 0; i < 20000; ++i) {
            at = random() % 3 ? (at + random() % 20000) % (64 << 20) : random() % (uint64_t{1} << 30);
            builder.load(block, heap_base + at);
        }
        MemoryStream stream = builder.finish();
        for (const uint64_t entries : {4, 16, 64}) {
            const std::vector<Layout> layouts = {all_4kb(), all_of(PageSize::large_2mb, uint64_t{4} << 30)};
            const auto counts = on_all_engines(with_fully_associative_lru(entries), stream, layouts);
            EXPECT_LE(counts[1].stlb_misses, counts[0].stlb_misses);
            EXPECT_EQ(counts[0].stlb_misses, misses_by_entries(stream, 12, {entries})[0]);
            EXPECT_EQ(counts[1].stlb_misses, misses_by_entries(stream, 21, {entries})[0]);
        }
    }
}

// With the sets fixed, each set of more ways contains what it held with fewer. What the second level is asked does
// not depend on it, so H + M does not change.
TEST(Inclusion, MoreLruWaysNeverMissMore) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        RandomInputs random(seed + 60);
        MemoryStream stream = random.stream(6000);
        const std::vector<Layout> layouts = {all_4kb(), random.layout(1)};
        Platform p = tiny(1);
        p.stlb_holds_2mb = p.stlb_holds_1gb = 1, p.stlb_1gb = {};
        std::vector<LayoutCounts> fewer;
        for (uint64_t ways = 1; ways <= 8; ++ways) {
            p.stlb = {5 * ways, ways};
            const auto counts = on_all_engines(p, stream, layouts);
            for (size_t i = 0; i < fewer.size(); ++i) {
                EXPECT_LE(counts[i].stlb_misses, fewer[i].stlb_misses);
                EXPECT_EQ(counts[i].stlb_misses + counts[i].stlb_hits, fewer[i].stlb_misses + fewer[i].stlb_hits);
            }
            fewer = counts;
        }
    }
}

}  // namespace
}  // namespace tessera::sim::testing
