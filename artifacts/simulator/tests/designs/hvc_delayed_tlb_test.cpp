// hvc_delayed_tlb_test.cpp - the delayed TLB, call by call and by closed forms of whole runs.
#include <map>

#include "base/error.h"
#include "designs/hvc_machine.h"
#include "support/engines.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t page = 4096, granule = 32768;

TEST(HvcDelayedTlb, TranslatesOnlyWhatMemoryServes) {
    Machine m("hvc-delayed-tlb", all_4kb());
    for (const MemoryLevel level : {MemoryLevel::l1d, MemoryLevel::l2, MemoryLevel::l3}) {
        m.port.serves = level;
        expect_translated(m.access(heap_base + 0x1234), Translation::l1_hit, 0, Place::behind_l3);
        EXPECT_EQ(m.port.calls, "p");
        EXPECT_EQ(m.port.program_address, heap_base + 0x1234);
    }
    m.port.serves = MemoryLevel::dram;
    expect_translated(m.access(heap_base + 0x1234), Translation::miss, 7, Place::behind_l3);
    EXPECT_EQ(m.port.calls, "p3333");
    expect_translated(m.access(heap_base + 0x1f00), Translation::stlb_hit, 7, Place::behind_l3);
    EXPECT_EQ(m.port.calls, "p");
    EXPECT_EQ(m.structure("delayed-tlb"), (StructureCounts{"delayed-tlb", 2, 1, 14}));
    EXPECT_EQ(m.structure("synonym-filter"), (StructureCounts{"synonym-filter", 5, 0, 0}));
    EXPECT_TRUE(m.design().needs_caches());
    EXPECT_THROW(m.design().access_tlb_only({VirtAddr(heap_base)}), std::logic_error);
}

TEST(HvcDelayedTlb, WalksHaveNoWalkCachesAndEndAtThePagesOwnLevel) {
    Machine m("hvc-delayed-tlb", all_of(PageSize::large_2mb, uint64_t{1} << 30));
    m.access(heap_base);
    EXPECT_EQ(m.port.calls, "p333");
    m.access(heap_base + (2 << 20));
    EXPECT_EQ(m.port.calls, "p333");
    expect_translated(m.access(heap_base + (2 << 20) + 5 * page), Translation::stlb_hit, 7, Place::behind_l3);
}

// 16 entries in 2 sets of 8: pages 0, 2, .. 16 are nine in one set.
TEST(HvcDelayedTlb, HasTheSizeOfItsKeys) {
    Machine m({"hvc-delayed-tlb", {{"entries", 16}, {"delayed_cycles", 9}}}, all_4kb());
    for (uint64_t i = 0; i <= 16; i += 2) expect_translated(m.access(heap_base + i * page), Translation::miss, 9, Place::behind_l3);
    expect_translated(m.access(heap_base + 16 * page), Translation::stlb_hit, 9, Place::behind_l3);
    expect_translated(m.access(heap_base), Translation::miss, 9, Place::behind_l3);
    EXPECT_THROW(Machine({"hvc-delayed-tlb", {{"entries", 1001}}}, all_4kb()), Refusal);
    EXPECT_THROW(Machine({"hvc-delayed-tlb", {{"synonym_ways", 3}}}, all_4kb()), Refusal);
}

TEST(HvcDelayedTlb, CodePagesAreConventional) {
    Machine m("hvc-delayed-tlb", all_4kb());
    EXPECT_EQ(m.fetch(0x400000), Translation::miss);
    EXPECT_EQ(m.port.calls, "wwww");
    EXPECT_EQ(m.fetch(0x400000), Translation::stlb_hit);
    EXPECT_EQ(m.fetch(0x401000), Translation::miss);
    EXPECT_EQ(m.port.calls, "w");  // the PDE is in its walk cache
}

// The synonym is the first granule of 32KB of the mmap pool, at 2^36. Granule 33 has the same bits in both filters
// (synonym_filter_test.cpp); granule 1 has not.
TEST(HvcDelayedTlb, CandidatesAreTranslatedBeforeL1) {
    Machine m({"hvc-delayed-tlb", {{"synonym_granules", 1}}}, all_4kb());
    m.port.serves = MemoryLevel::dram;
    expect_translated(m.access(anon_base + 100), Translation::miss, 0, Place::before);
    EXPECT_EQ(m.port.calls, "wwwwp");
    EXPECT_EQ(m.port.program_address, (anon_base + 100) | uint64_t{1} << 51);
    expect_translated(m.access(anon_base + 200), Translation::l1_hit, 0, Place::before);
    EXPECT_EQ(m.port.calls, "p");

    expect_translated(m.access(anon_base + 33 * granule), Translation::miss, 0, Place::before);
    EXPECT_EQ(m.port.calls, "wp");
    EXPECT_EQ(m.port.program_address, anon_base + 33 * granule);  // a false positive keeps its virtual address
    expect_translated(m.access(anon_base + 33 * granule), Translation::l1_hit, 0, Place::before);

    expect_translated(m.access(anon_base + granule), Translation::miss, 7, Place::behind_l3);
    EXPECT_EQ(m.structure("synonym-filter"), (StructureCounts{"synonym-filter", 5, 4, 0}));
    EXPECT_EQ(m.structure("synonym"), (StructureCounts{"synonym", 4, 2, 0}));
    EXPECT_EQ(m.structure("synonym-tlb"), (StructureCounts{"synonym-tlb", 4, 2, 0}));
}

TEST(HvcDelayedTlb, AChangeOfTheMappingDropsItsPages) {
    const auto heap = trace::PoolKind::heap;
    Machine m("hvc-delayed-tlb", mapped({{{heap, 0, 0, 10}}, {{heap, 3, 100, 2}}}));
    for (uint64_t i = 2; i <= 5; ++i) m.access(heap_base + i * page);
    m.next_epoch();
    for (const auto& [i, found] : std::map<uint64_t, Translation>{
             {2, Translation::stlb_hit}, {3, Translation::miss}, {4, Translation::miss}, {5, Translation::stlb_hit}})
        expect_translated(m.access(heap_base + i * page), found, 7, Place::behind_l3);
}

// Whole runs.

Platform with(OwnNumbers own) {
    Platform p = haswell();
    p.mmu_design = {"hvc-delayed-tlb", std::move(own)};
    return p;
}

/// One load of each address; the address of a load is the result of the load before.
LayoutCounts chain(const Platform& platform, const std::vector<uint64_t>& addresses) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (const uint64_t address : addresses) builder.load(block, address);
    MemoryStream stream = builder.finish();
    return on_all_engines(platform, stream, {all_4kb()})[0];
}

std::vector<uint64_t> steps(uint64_t count, uint64_t bytes) {
    std::vector<uint64_t> addresses;
    for (uint64_t i = 0; i < count; ++i) addresses.push_back(heap_base + i * bytes);
    return addresses;
}

// 100 pages, 64 lines each, three rounds: all fit in L3, so only the first round translates.
TEST(HvcDelayedTlb, AFootprintWithinL3IsTranslatedOnce) {
    std::vector<uint64_t> addresses;
    for (int round = 0; round < 3; ++round)
        for (const uint64_t address : steps(6400, 64)) addresses.push_back(address);
    const LayoutCounts counts = chain(with({}), addresses);
    EXPECT_EQ(counts.stlb_misses, 100u);
    EXPECT_EQ(counts.stlb_hits, 6300u);
}

// 2,048 pages, one line each, in 64 sets of an L3 of 1,024 lines (L1D and L2 are smaller, with the same conflict): no line ever stays.
// 1,024 entries lose all pages before they return, 2,048 keep them.
TEST(HvcDelayedTlb, KeepsPagesOfLinesThatL3Loses) {
    for (const auto& [entries, misses] : std::map<uint64_t, uint64_t>{{1024, 3 * 2048}, {2048, 2048}}) {
        Platform p = with({{"entries", entries}});
        p.l3 = {64 * 1024, 16, 36};
        std::vector<uint64_t> addresses;
        for (uint64_t i = 0; i < 3 * 2048; ++i) addresses.push_back(heap_base + i % 2048 * page + i % 64 * 64);
        const LayoutCounts counts = chain(p, addresses);
        EXPECT_EQ(counts.stlb_misses, misses);
        EXPECT_EQ(counts.stlb_hits, 3 * 2048 - misses);
    }
}

// One line of each eighth page of a 2MB region, so each walk reads a new line of PTEs from memory, and three entries from L3.
TEST(HvcDelayedTlb, EachLinkOfAChainCostsMemoryLookupAndWalk) {
    const Platform p = with({});
    const LayoutCounts all = chain(p, steps(64, 8 * page)), half = chain(p, steps(32, 8 * page));
    const uint64_t walk = 3 * 36 + 200;
    EXPECT_EQ(all.stlb_misses, 64u);
    EXPECT_EQ(all.units[0].walk_cycles, 4 * 200 + 63 * walk);
    EXPECT_EQ(all.units[0].runtime_cycles - half.units[0].runtime_cycles, 32 * (200 + 7 + walk));
}

TEST(HvcDelayedTlb, EachHitOfAChainCostsMemoryAndLookup) {
    const Platform p = with({{"delayed_cycles", 13}});
    const LayoutCounts all = chain(p, steps(64, 64)), half = chain(p, steps(32, 64));
    EXPECT_EQ(all.stlb_hits, 63u);
    EXPECT_EQ(all.units[0].runtime_cycles - half.units[0].runtime_cycles, 32u * (200 + 13));
}

TEST(HvcDelayedTlb, NothingWaitsBeforeL3) {
    const Platform p = with({});
    const LayoutCounts all = chain(p, steps(200, 0)), half = chain(p, steps(100, 0));
    EXPECT_EQ(all.units[0].runtime_cycles - half.units[0].runtime_cycles, 100 * p.l1d.load_cycles);
}

TEST(HvcDelayedTlb, RunsOnAllEngines) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 900);
        Platform platform = random.platform();
        platform.mmu_design = {"hvc-delayed-tlb", {{"entries", 24}, {"synonym_granules", seed % 3 * 300}, {"synonym_entries", 8}}};
        MemoryStream stream = random.stream(5000);
        const auto counts = on_all_engines(platform, stream, {all_4kb(), random.layout(1), random.layout(2)});
        EXPECT_GT(counts[0].stlb_misses, 0u);
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace tessera::sim::testing
