// hvc_many_segment_test.cpp - the index tree against a plain search, many-segment translation call by call and by closed forms.
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "designs/hvc_machine.h"
#include "mmu/designs/index_tree.h"
#include "os/physical_map.h"
#include "support/engines.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t page = 4096, region = 2 << 20;
constexpr uint64_t tree_base = physical::of_design.begin;
const auto heap = trace::PoolKind::heap;

std::vector<uint64_t> starts(size_t count) {
    std::vector<uint64_t> all;
    for (size_t i = 0; i < count; ++i) all.push_back(1000 * (i + 1));
    return all;
}

/// The design whose look-ups take the sum of their parts.
Chosen in_parts(OwnNumbers own = {}) {
    own["translation_cycles"] = 0;
    return {"hvc-many-segment", std::move(own)};
}

TEST(IndexTree, HasTheDepthOfItsFanOut) {
    for (const auto& [segments, depth] :
         std::map<size_t, size_t>{{1, 1}, {7, 1}, {8, 2}, {49, 2}, {50, 3}, {343, 3}, {344, 4}, {1024, 4}, {2048, 4}})
        EXPECT_EQ(IndexTree(starts(segments), false).depth(), depth) << segments;
    EXPECT_EQ(IndexTree(starts(4), true).depth(), 1u);
    EXPECT_EQ(IndexTree(starts(5), true).depth(), 2u);
    EXPECT_EQ(IndexTree(starts(2048), true).depth(), 6u);
    EXPECT_EQ(IndexTree(starts(1024), false).nodes(), 147u + 21 + 3 + 1);
    EXPECT_EQ(IndexTree(starts(2048), false).nodes(), 293u + 42 + 6 + 1);
    EXPECT_EQ(IndexTree(starts(2048), true).nodes(), 512u + 128 + 32 + 8 + 2 + 1);
}

TEST(IndexTree, FindsWhatAPlainSearchFinds) {
    std::mt19937_64 random(3);
    for (const size_t count : {1, 2, 6, 7, 8, 48, 50, 100, 343, 2048})
        for (const bool half_full : {false, true}) {
            std::set<uint64_t> sorted;
            while (sorted.size() < count) sorted.insert(random() >> 30);
            const std::vector<uint64_t> all(sorted.begin(), sorted.end());
            const IndexTree tree(all, half_full);
            std::set<size_t> seen;
            for (size_t i = 0; i < 4 * count; ++i) {
                const uint64_t address = all[i % count] + (i < count ? 0 : i < 2 * count ? 1 : random() % 100000);
                size_t nodes = 0, last = 0;
                const size_t found = tree.find(address, [&](size_t node) {
                    EXPECT_EQ(nodes == 0, node == 0);
                    EXPECT_GE(node, last);
                    seen.insert(last = node);
                    ++nodes;
                });
                EXPECT_EQ(found, size_t(std::upper_bound(all.begin(), all.end(), address) - all.begin() - 1));
                EXPECT_EQ(nodes, tree.depth());
            }
            EXPECT_EQ(seen.size(), tree.nodes());
            EXPECT_EQ(*seen.rbegin(), tree.nodes() - 1);
        }
}

TEST(HvcManySegment, LooksUpSegmentCacheTreeAndTable) {
    Machine m(in_parts(), segments(1, 4096));
    expect_translated(m.access(heap_base + 64), Translation::miss, 1 + 3 + 7, Place::behind_l3);
    EXPECT_EQ(m.port.calls, "p3");
    EXPECT_EQ(m.port.loads, std::vector<uint64_t>{tree_base});
    EXPECT_EQ(m.port.program_address, heap_base + 64);
    expect_translated(m.access(heap_base + region - 1), Translation::stlb_hit, 1, Place::behind_l3);
    expect_translated(m.access(heap_base + region), Translation::stlb_hit, 1 + 3 + 7, Place::behind_l3);  // the node is cached
    EXPECT_EQ(m.port.calls, "p");
    m.port.serves = MemoryLevel::l3;
    expect_translated(m.access(heap_base + 5 * region), Translation::l1_hit, 0, Place::behind_l3);
    EXPECT_EQ(m.structure("segment-cache"), (StructureCounts{"segment-cache", 3, 1, 3}));
    EXPECT_EQ(m.structure("index-cache"), (StructureCounts{"index-cache", 2, 1, 6}));
    EXPECT_EQ(m.structure("segment-table"), (StructureCounts{"segment-table", 2, 2, 14}));
    EXPECT_TRUE(m.design().needs_caches());
    EXPECT_THROW(m.design().access_tlb_only({VirtAddr(heap_base)}), std::logic_error);
}

// 2,048 segments of one page: a tree of depth 4. The first search loads the root (node 0) and the first nodes of the other levels, which
// have 6, 42 and 293 nodes.
TEST(HvcManySegment, ATreeOfDepthFourTakesTwentyCycles) {
    Machine m(in_parts({{"sc_entries", 1}}), segments(2048, 1));
    expect_translated(m.access(heap_base), Translation::miss, 20, Place::behind_l3);
    EXPECT_EQ(m.port.calls, "p3333");
    EXPECT_EQ(m.port.loads, (std::vector<uint64_t>{tree_base, tree_base + 64 * 1, tree_base + 64 * 7, tree_base + 64 * 49}));
    expect_translated(m.access(heap_base + page), Translation::stlb_hit, 20, Place::behind_l3);
    expect_translated(m.access(heap_base + 7 * page), Translation::miss, 20, Place::behind_l3);  // the next leaf
    EXPECT_EQ(m.port.loads, std::vector<uint64_t>{tree_base + 64 * 50});
    expect_translated(m.access(heap_base + 2047 * page), Translation::miss, 20, Place::behind_l3);
    EXPECT_EQ(m.port.loads.back(), tree_base + 64 * 341);  // the last of 342 nodes
}

// Park, 2.4.4: 20 cycles, whatever the depth of the tree, the segment cache or how many nodes memory serves.
TEST(HvcManySegment, ATranslationTakesTwentyCycles) {
    for (const uint64_t count : {1, 8, 2048})
        for (const uint64_t sc_entries : {0, 1}) {
            Machine m({"hvc-many-segment", {{"sc_entries", sc_entries}}}, segments(count, 1));
            expect_translated(m.access(heap_base), Translation::miss, 20, Place::behind_l3);
            expect_translated(m.access(heap_base), Translation::stlb_hit, sc_entries == 0 ? 20 : 1, Place::behind_l3);
            uint64_t cycles = 0;
            for (const StructureCounts& row : m.design().structures()) cycles += row.lookup_cycles;
            EXPECT_EQ(cycles, sc_entries == 0 ? 40u : 21u);
        }
    Machine faster({"hvc-many-segment", {{"translation_cycles", 12}, {"index_cycles", 40}, {"table_cycles", 50}}}, segments(2048, 1));
    expect_translated(faster.access(heap_base), Translation::miss, 12, Place::behind_l3);
    size_t without_effect = 0;  // their texts say so
    for (const OwnKey& key : designs().info("hvc-many-segment").keys)
        without_effect += key.sentence.find("only with translation_cycles = 0") != std::string::npos;
    EXPECT_EQ(without_effect, 2u);
}

TEST(HvcManySegment, ATranslationIncludesTheSegmentCache) {
    try {
        Machine({"hvc-many-segment", {{"translation_cycles", 3}, {"sc_cycles", 4}}}, segments(1, 1));
        FAIL();
    } catch (const Refusal& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("3 and 4"), std::string::npos) << refusal.what();
    }
    Machine none({"hvc-many-segment", {{"translation_cycles", 3}, {"sc_cycles", 4}, {"sc_entries", 0}}}, segments(1, 1));
    expect_translated(none.access(heap_base), Translation::miss, 3, Place::behind_l3);
}

// Park, 2.5.2: guest and host, one after the other. The host's tree has the same nodes elsewhere, in the same index cache.
TEST(HvcManySegment, InAVirtualMachineAMissOfTheSegmentCacheIsTranslatedTwice) {
    constexpr uint64_t host_base = tree_base + 2 * 2048 * 64;
    Machine m({"hvc-many-segment", {{"dimensions", 2}, {"sc_entries", 1}}}, segments(2048, 1));
    expect_translated(m.access(heap_base), Translation::miss, 40, Place::behind_l3);
    EXPECT_EQ(m.port.loads, (std::vector<uint64_t>{tree_base, tree_base + 64 * 1, tree_base + 64 * 7, tree_base + 64 * 49, host_base,
                                                   host_base + 64 * 1, host_base + 64 * 7, host_base + 64 * 49}));
    expect_translated(m.access(heap_base), Translation::stlb_hit, 1, Place::behind_l3);  // leads to machine addresses
    expect_translated(m.access(heap_base + page), Translation::stlb_hit, 40, Place::behind_l3);
    EXPECT_EQ(m.structure("index-cache"), (StructureCounts{"index-cache", 16, 8, 0}));
    EXPECT_EQ(m.structure("segment-table"), (StructureCounts{"segment-table", 4, 4, 2 * (19 + 20)}));
    Machine parts(in_parts({{"dimensions", 2}}), segments(8, 1));
    expect_translated(parts.access(heap_base), Translation::miss, 1 + 2 * (2 * 3 + 7), Place::behind_l3);
}

// The guest's synonym is the first granule of the mmap pool, the host's the second; granule 33 has the bits of granule 0.
TEST(HvcManySegment, InAVirtualMachineEitherFilterReportsACandidate) {
    constexpr uint64_t granule = 32768;
    const auto before = [&](Machine& m, uint64_t number) {
        const Translated is = m.access(anon_base + number * granule);
        return std::pair{is.place == Place::before, m.port.program_address >> 51 == 1};
    };
    const Layout mapping = mapped({{{trace::PoolKind::anon, 0, 0, 4096}}});
    Machine both({"hvc-many-segment", {{"dimensions", 2}, {"synonym_granules", 1}, {"host_synonym_granules", 1}}}, mapping);
    const std::pair synonym{true, true}, false_positive{true, false}, neither{false, false};
    EXPECT_EQ(before(both, 0), synonym);
    EXPECT_EQ(before(both, 1), synonym);
    EXPECT_EQ(before(both, 2), neither);
    EXPECT_EQ(before(both, 33), false_positive);  // the guest's granule 0
    Machine host({"hvc-many-segment", {{"dimensions", 2}, {"host_synonym_granules", 1}}}, mapping);
    EXPECT_EQ(before(host, 0), synonym);
    EXPECT_EQ(before(host, 1), neither);
    Machine guest({"hvc-many-segment", {{"dimensions", 2}, {"synonym_granules", 1}}}, mapping);
    EXPECT_EQ(before(guest, 1), neither);
    EXPECT_THROW(Machine({"hvc-many-segment", {{"host_synonym_granules", 1}}}, mapping), Refusal);
}

TEST(HvcManySegment, EntriesOfTheSegmentCacheEndWithTheirSegment) {
    Machine m(in_parts(), segments(3, 100));
    m.access(heap_base);
    expect_translated(m.access(heap_base + 99 * page), Translation::stlb_hit, 1, Place::behind_l3);
    expect_translated(m.access(heap_base + 100 * page), Translation::stlb_hit, 11, Place::behind_l3);  // same 2MB, other segment
    expect_translated(m.access(heap_base + 50 * page), Translation::stlb_hit, 1, Place::behind_l3);
    Machine two(in_parts({{"sc_entries", 2}}), segments(3, 100));
    for (const uint64_t i : {0, 100, 0, 200}) two.access(heap_base + i * page);
    expect_translated(two.access(heap_base), Translation::stlb_hit, 1, Place::behind_l3);
    expect_translated(two.access(heap_base + 100 * page), Translation::stlb_hit, 11, Place::behind_l3);  // the least recently used
    Machine none(in_parts({{"sc_entries", 0}}), segments(3, 100));
    none.access(heap_base);
    expect_translated(none.access(heap_base), Translation::stlb_hit, 10, Place::behind_l3);
}

TEST(HvcManySegment, NeedsAMappingOfAtMost2048Segments) {
    EXPECT_THROW(Machine("hvc-many-segment", all_4kb()), Refusal);
    try {
        Machine("hvc-many-segment", segments(2049, 1));
        FAIL();
    } catch (const Refusal& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("2049"), std::string::npos) << refusal.what();
        EXPECT_NE(std::string(refusal.what()).find("2048"), std::string::npos) << refusal.what();
    }
}

TEST(HvcManySegment, PagesOutsideThePoolsAreTranslatedBeforeL1) {
    Machine m(in_parts(), segments(1, 100));
    expect_translated(m.access(0x7ffff0000010), Translation::miss, 0, Place::before);
    EXPECT_EQ(m.port.calls, "wwwwp");
    EXPECT_EQ(m.port.program_address, 0x7ffff0000010u);
    expect_translated(m.access(0x7ffff0000020), Translation::l1_hit, 0, Place::before);
    EXPECT_EQ(m.structure("synonym").accesses, 0u);
    EXPECT_EQ(m.structure("synonym-tlb"), (StructureCounts{"synonym-tlb", 2, 1, 0}));
}

// Pages 600 to 601 of one segment of 2,000 pages get other frames, so there are three. Entries of 2MB: pages 0, 512, 1024, 1536.
TEST(HvcManySegment, AChangeOfTheMappingMakesANewTree) {
    Machine m(in_parts(), mapped({{{heap, 0, 0, 2000}}, {{heap, 600, 5000, 2}}}));
    for (const uint64_t i : {0, 512, 1024, 1536}) m.access(heap_base + i * page);
    m.next_epoch();
    expect_translated(m.access(heap_base + 1999 * page), Translation::stlb_hit, 1, Place::behind_l3);  // this entry stays
    expect_translated(m.access(heap_base + 512 * page), Translation::miss, 11, Place::behind_l3);      // the node is new
    expect_translated(m.access(heap_base + 599 * page), Translation::stlb_hit, 1, Place::behind_l3);
    expect_translated(m.access(heap_base + 600 * page), Translation::stlb_hit, 11, Place::behind_l3);
    expect_translated(m.access(heap_base + 602 * page), Translation::stlb_hit, 11, Place::behind_l3);
}

// Pages 0 to 9 and 10 to 19 are two segments; then the second gets the frames behind the first, and both are one.
TEST(HvcManySegment, AnEntryWhoseSegmentGrowsIsForgotten) {
    Machine m(in_parts(), mapped({{{heap, 0, 0, 10}, {heap, 10, 50, 10}}, {{heap, 10, 10, 10}}}));
    m.access(heap_base);
    m.next_epoch();
    expect_translated(m.access(heap_base + 9 * page), Translation::miss, 11, Place::behind_l3);
    expect_translated(m.access(heap_base + 19 * page), Translation::stlb_hit, 1, Place::behind_l3);
}

// Park, Figure 2.7b: random accesses to 2^40 bytes in equal segments, index cache of 32KB (512 nodes). With full nodes all 172 or 342
// nodes stay, six at most in a set of eight. With half-full nodes there are 683. The bounds come from a model in another language.
TEST(HvcManySegment, RandomAccessesOverManySegments) {
    for (const auto& [count, half_full, loads] : std::vector<std::array<uint64_t, 3>>{{1024, 0, 172}, {2048, 0, 342}, {2048, 1, 0}}) {
        const uint64_t bytes = uint64_t{1} << 40;
        Machine m({"hvc-many-segment", {{"sc_entries", 0}, {"half_full", half_full}}}, segments(count, bytes / page / count), bytes);
        std::mt19937_64 random(11);
        uint64_t hits = 0, accesses = 40000;
        for (uint64_t i = 0; i < accesses; ++i) hits += m.access(heap_base + random() % bytes).found == Translation::stlb_hit;
        const StructureCounts nodes = m.structure("index-cache");
        if (half_full == 0) {
            EXPECT_EQ(nodes.accesses - nodes.hits, loads);
            EXPECT_EQ(nodes.accesses, 4 * accesses);
        } else {
            EXPECT_NEAR(double(nodes.hits) / double(nodes.accesses), 0.94, 0.01);
            EXPECT_NEAR(double(hits) / double(accesses), 0.655, 0.02);
        }
    }
}

// Whole runs: 64 lines of one page, in a chain. The first loads the tree's nodes, the others find everything cached.
TEST(HvcManySegment, EachLinkOfAChainCostsMemoryAndLookup) {
    const auto run = [](uint64_t lines, uint64_t sc_entries, const Layout& layout) {
        Platform p = haswell();
        p.mmu_design = in_parts({{"sc_entries", sc_entries}});
        StreamBuilder builder;
        const uint32_t block = builder.chasing_load();
        for (uint64_t i = 0; i < lines; ++i) builder.load(block, heap_base + i * 64);
        MemoryStream stream = builder.finish();
        return on_all_engines(p, stream, {layout})[0];
    };
    const struct {
        uint64_t segments, sc_entries, lookup, nodes;
    } cases[] = {{1, 128, 1, 1}, {1, 0, 10, 1}, {8, 0, 13, 2}, {2048, 0, 19, 4}, {2048, 128, 1, 4}};
    for (const auto& [count, sc_entries, lookup, nodes] : cases) {
        const Layout layout = segments(count, 1);
        const LayoutCounts all = run(64, sc_entries, layout), half = run(32, sc_entries, layout);
        EXPECT_EQ(all.stlb_misses, 1u);
        EXPECT_EQ(all.stlb_hits, 63u);
        EXPECT_EQ(all.units[0].walk_cycles, nodes * 200);
        EXPECT_EQ(all.units[0].runtime_cycles - half.units[0].runtime_cycles, 32 * (200 + lookup)) << count << " " << sc_entries;
    }
}

}  // namespace
}  // namespace tessera::sim::testing
