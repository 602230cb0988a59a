// extension_test.cpp - a new component is one file with one registration line. A platform names the example designs and
// parts of tests/examples; they run on all engines without changes there, and the engines agree exactly.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "engine/functional.h"
#include "mmu/components.h"
#include "support/engines.h"
#include "support/isa.h"
#include "support/platform_text.h"
#include "support/random_inputs.h"
#include "support/random_log.h"
#include "support/stepped_design.h"

namespace tessera::sim::testing {
namespace {

/// Serves all from memory.
class FromMemory final : public RecordingPort {
public:
    MemoryLevel program(PhysAddr) override { return MemoryLevel::dram; }
};

void expect_agreement_on_random_inputs(const std::function<void(Platform&)>& choose, bool samples = true) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 500);
        Platform platform = random.platform();
        if (platform.stlb.entries == 0) platform.stlb = {8, 4};
        choose(platform);
        ASSERT_FALSE(lanes_lack(platform).empty());
        if (seed % 2) platform.dram = {2, 4, 512, 20, 30, 4};
        MemoryStream stream = random.stream(5000);
        const std::vector<Layout> layouts = {all_4kb(), random.layout(1), random.layout(2), random.layout(3)};
        const auto counts = on_all_engines(platform, stream, layouts, samples && seed % 3 == 2 ? Sampling{false, 3, 300, 200} : Sampling{});
        EXPECT_GT(counts[0].stlb_misses, 0u);
        EXPECT_GT(counts[0].units[0].runtime_cycles, 0u);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(Extension, ADesignRunsOnAllEngines) {
    expect_agreement_on_random_inputs([](Platform& p) { p.mmu_design = "example-victim-buffer"; });
}

TEST(Extension, ADesignBehindL1RunsOnAllEngines) {
    expect_agreement_on_random_inputs([](Platform& p) { p.mmu_design = "example-next-page"; });
    expect_agreement_on_random_inputs([](Platform& p) { p.mmu_design = "example-cached-entries"; }, false);
}

TEST(Extension, ADesignThatTranslatesBehindTheL1dRunsOnAllEngines) {
    expect_agreement_on_random_inputs([](Platform& p) { p.mmu_design = "example-virtual-cache"; }, false);
}

TEST(Extension, PartsOfAConventionalDesignRunOnAllEngines) {
    expect_agreement_on_random_inputs(
        [](Platform& p) { p.l1_replacement = p.stlb_replacement = p.l1i_replacement = "example-round-robin"; });
    expect_agreement_on_random_inputs([](Platform& p) { p.tlb_organisation = "example-one-array"; });
    expect_agreement_on_random_inputs([](Platform& p) { p.walk_cache = "example-last-root"; });
    expect_agreement_on_random_inputs([](Platform& p) { p.page_table_format = "example-hashed"; });
    expect_agreement_on_random_inputs([](Platform& p) { p.allocator = {"example-backwards", {{"bits", 7}}}; });
    expect_agreement_on_random_inputs([](Platform& p) {
        p.tlb_organisation = "example-one-array", p.stlb_replacement = "example-round-robin", p.walk_cache = "example-last-root";
        p.page_table_format = "example-hashed", p.allocator = {"example-backwards", {{"bits", 7}}};
        p.prefetch_l1d = {"example-next-line", 1, 1, 1};
        p.branch_predictor = "example-as-before", p.branch_refill_cycles = 9;
    });
}

// Prefetchers do not depend on layouts: the lanes run any of them.
TEST(Extension, APrefetcherRunsOnTheLanes) {
    for (const char* isa : instruction_sets()) {
        const ForcedIsa forced(isa);
        RandomInputs random(77);
        Platform platform = random.platform();
        platform.prefetch_l1d = platform.prefetch_l2 = {"example-next-line", 1, 1, 1};
        ASSERT_TRUE(lanes_lack(platform).empty());
        MemoryStream stream = random.stream(5000);
        on_all_engines(platform, stream, {all_4kb(), random.layout(1), random.layout(2)});
    }
}

// That the parts are in use, by closed forms.

/// `rounds` passes over `pages` pages, one load each.
MemoryStream cycle(uint64_t pages, uint64_t rounds) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t r = 0; r < rounds; ++r)
        for (uint64_t p = 0; p < pages; ++p) builder.load(block, heap_base + p * 4096);
    return builder.finish();
}

TEST(Extension, TheVictimBufferRescuesTheFifthPage) {
    Platform p = haswell();
    p.mmu_design = {"example-victim-buffer", {{"victims", 1}}};
    p.l1_4kb = {4, 4};
    MemoryStream stream = cycle(5, 10);  // LRU: the page asked for next is always the one just evicted
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.stlb_misses, 5u);
    EXPECT_EQ(counts.stlb_hits, 45u);
}

/// A platform file that uses the buffer, with `lines` in its section.
Platform with_section(const std::string& lines) {
    return parse_platform(
        platform_text({{"mmu.design", "example-victim-buffer"}, {"tlb.l1d.4kb.entries", "4"}, {"tlb.l1d.4kb.ways", "4"}}) + lines, "p");
}

std::string refusal_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

TEST(Extension, KeysOfAComponentsOwnReachItFromThePlatformFile) {
    MemoryStream stream = cycle(6, 10);  // six pages through four entries and the buffer: it rescues all of them or none
    for (const auto& [lines, misses] : std::map<std::string, uint64_t>{
             {"", 6}, {"design.example-victim-buffer.victims = 2\n", 6}, {"design.example-victim-buffer.victims = 1\n", 60}}) {
        const Platform p = with_section(lines);
        EXPECT_EQ(on_all_engines(p, stream, {all_4kb()})[0].stlb_misses, misses) << lines;
        const OwnDefaults filled = check_components(p);
        EXPECT_EQ(filled.contains("design.example-victim-buffer.victims"), lines.empty());
    }
}

TEST(Extension, KeysOfAComponentsOwnAreCheckedWhereItIsInUse) {
    const std::string own = "design.example-victim-buffer.";
    const struct {
        std::string lines;
        std::vector<const char*> words;
    } refused[] = {
        {own + "victims = 65\n", {"design.example-victim-buffer.victims in entries", "from 0 to 64", "'65'"}},
        {own + "victim = 4\n", {"design.example-victim-buffer.victim:", "no such key", "did you mean victims?"}},
        {own + "victims = four\n", {"design.example-victim-buffer.victims", "'four'"}},
        {own + "victims = 1\n" + own + "victims = 1\n", {"already set"}},
        {"design.example-victim-bufer.victims = 4\n", {"design.example-victim-bufer.*", "did you mean design.example-victim-buffer?"}},
        {"desing.example-victim-buffer.victims = 4\n", {"no such key"}},
        {"design.conventional.victims = 4\n", {"design.conventional.*"}},
        {"memory.allocator = example-backwards\n", {"already set"}},
    };
    for (const auto& [lines, words] : refused)
        for (const char* word : words)
            EXPECT_NE(refusal_of([&] { check_components(with_section(lines)); }).find(word), std::string::npos)
                << word << "\n"
                << refusal_of([&] { check_components(with_section(lines)); });
    Platform other = parse_platform(platform_text() + own + "victims = 65\n", "p");  // not in use: nothing to check
    other.prefetch_l1d = other.prefetch_l2 = {};
    other.mmu_design = "conventional", other.tlb_organisation = "split", other.walk_cache = "paging-structure";
    other.page_table_format = "radix", other.allocator = "identity";
    EXPECT_EQ(refusal_of([&] { check_components(other); }), "");
    const std::vector<OwnKey> no_default = {{"pages", "pages", 0, 9, {}, "", "What it means"}};
    EXPECT_NE(refusal_of([&] { OwnValues("design.x", no_default, {}); }).find("design.x.pages: missing"), std::string::npos);
    EXPECT_EQ(OwnValues("design.x", no_default, {{"pages", 9}})["pages"], 9u);
    EXPECT_THROW(OwnValues("design.x", {}, {})["pages"], std::out_of_range);
}

TEST(Extension, TheTableNamesTheSectionOfEachKind) {
    std::set<std::string> of_table, of_registries;
    for (const PlatformKey& row : platform_keys())
        if (row.word != nullptr) of_table.insert(row.section);
    for (const ComponentKind& kind : component_kinds())
        of_registries.insert(kind.components.at(0).section.substr(0, kind.components.at(0).section.find('.')));
    EXPECT_EQ(of_table, of_registries);
}

TEST(Extension, TheVirtualCacheTranslatesOnlyWhatMissesL1d) {
    Platform p = haswell();
    p.mmu_design = "example-virtual-cache";
    p.pwc_pde = p.pwc_pdpte = p.pwc_pml4e = {};
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 10; ++round)
        for (uint64_t page = 0; page < 2000; ++page) builder.load(block, heap_base + page % 100 * 4096 + page % 100 * 64);
    MemoryStream stream = builder.finish();
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.stlb_misses, 100u);  // 100 lines stay in L1D; a physical design would look 100 pages up all the time
    EXPECT_EQ(counts.stlb_hits, 0u);
    EXPECT_EQ(counts.program[0], 20000u - 100u);
}

TEST(Extension, TheNextPageIsInTheBuffer) {
    Platform p = haswell();
    p.mmu_design = "example-next-page";
    MemoryStream stream = cycle(512, 1);
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.stlb_misses, 256u);  // every other page finds its entry, which the page before brought
    EXPECT_EQ(counts.stlb_hits, 256u);
}

TEST(Extension, TheNextPageWithoutABufferIsThp) {
    MemoryStream stream = cycle(3000, 4);  // more than the STLB holds
    Platform p = haswell();
    p.mmu_design = "thp";
    const LayoutCounts thp = on_all_engines(p, stream, {all_4kb()})[0];
    p.mmu_design = {"example-next-page", {{"entries", 0}, {"cycles", 0}}};
    LayoutCounts off = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(thp.stlb_misses, 12000u);
    EXPECT_NE(off.design.structures, thp.design.structures);
    off.design = thp.design;
    EXPECT_EQ(off, thp);
}

// 128 lines of eight pages: each is walked for once. The second round finds all lines in L2, which has room for them and for the data.
TEST(Extension, AWalkServesEightPagesFromL2) {
    Platform p = haswell();
    p.mmu_design = "example-cached-entries";
    p.stlb = {64, 4};
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 2; ++round)
        for (uint64_t page = 0; page < 1024; ++page) builder.load(block, heap_base + page * 4096 + page / 8 % 64 * 64);
    MemoryStream stream = builder.finish();
    const auto counts = on_all_engines(p, stream, {all_4kb(), all_of(PageSize::large_2mb, uint64_t{4} << 30)});
    EXPECT_EQ(counts[0].stlb_misses, 128u);
    EXPECT_EQ(counts[0].stlb_hits, 1920u);
    EXPECT_EQ(counts[0].design.structures, (std::vector<StructureCounts>{{"line", 2048, 1920, 2048 * (p.stlb_hit_cycles + 12)}}));
    EXPECT_EQ(counts[1].stlb_misses, 2u);
}

// L2 has eight lines, so the line of a page is gone when the page comes again behind 1,023 others: each access misses.
TEST(Extension, ALineThatL2EvictedServesNothing) {
    Platform p = haswell();
    p.mmu_design = "example-cached-entries";
    p.stlb = {64, 4}, p.l2 = {64 * 8, 8, 12};
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 2; ++round)
        for (uint64_t page = 0; page < 1024; ++page) builder.load(block, heap_base + page * 8 * 4096);
    MemoryStream stream = builder.finish();
    EXPECT_EQ(on_all_engines(p, stream, {all_4kb()})[0].stlb_misses, 2048u);
}

// The examples follow the log of an operating system: its walks of a page of 4KB read the tables of the log.
TEST(Extension, DesignsOnTheBaseReadTheTablesOfALog) {
    RandomLog random(4);
    random.make(3000);
    const MemoryStream stream = random.stream();
    const Layout layout = random.layout(stream.header());
    for (const char* design :
         {"example-victim-buffer", "example-virtual-cache", "example-next-page", "conventional", "thp", "hvc-delayed-tlb"}) {
        Platform p = haswell();
        p.mmu_design = design;
        AddressSpace space(stream.header().pools, layout);
        const auto made = designs().make(design, DesignContext{p, space});
        size_t walks = 0, loads = 0;
        for (uint64_t page = 0; page < RandomLog::pages; ++page) {
            if (page == 0)
                while (space.mapping()->next_change() != ~uint64_t{0})
                    for (const VirtRange range : space.mapping()->change()) made->changed(range);
            const VirtAddr address(heap_base + page * 4096);
            if (!space.mapping()->has(address)) continue;
            made->touch(address);
            FromMemory port;
            made->access({address}, port);
            walks += !port.walker.empty(), loads += port.walker.size();
            for (const uint64_t load : port.walker) {
                ASSERT_TRUE(physical::tables.has(PhysAddr(load))) << design;
                const uint64_t frame = (load - physical::tables.begin) >> 12;  // those of RandomLog::tables()
                ASSERT_TRUE(frame == 9 || frame == 20 || frame == 30 || (frame >= 1000 && frame < 1016)) << design << " frame " << frame;
            }
        }
        EXPECT_GT(walks, 50u) << design;
        EXPECT_GE(loads, walks) << design;
    }
}

TEST(Extension, TheHashedTableReadsOneEntryAWalkAndIsNeverSkipped) {
    Platform p = haswell();
    p.page_table_format = "example-hashed";
    MemoryStream stream = cycle(3000, 4);  // more than the STLB holds
    const auto counts = on_all_engines(p, stream, {all_4kb(), all_of(PageSize::large_2mb, uint64_t{4} << 30)});
    EXPECT_EQ(counts[0].stlb_misses, 12000u);
    EXPECT_EQ(counts[0].walker[0] + counts[0].walker[1] + counts[0].walker[2] + counts[0].walker[3], 12000u);
    EXPECT_EQ(counts[1].stlb_misses, 6u);  // 3000 x 4KB lie in six 2MB pages
    EXPECT_EQ(counts[1].walker[0] + counts[1].walker[1] + counts[1].walker[2] + counts[1].walker[3], 12u);
}

TEST(Extension, TheNextLinePrefetcherServesEveryOtherLine) {
    Platform p = haswell();
    p.prefetch_l1d = {"example-next-line", 1, 1, 1};
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    for (uint64_t line = 0; line < 6400; ++line) builder.load(block, heap_base + line * 64);
    MemoryStream stream = builder.finish();
    const LayoutCounts counts = on_all_engines(p, stream, {all_of(PageSize::huge_1gb, uint64_t{4} << 30)})[0];
    EXPECT_EQ(counts.program[3], 100u);  // the first line of each of 100 pages of 4KB
    EXPECT_EQ(counts.program[0], 6300u);
}

}  // namespace
}  // namespace tessera::sim::testing
