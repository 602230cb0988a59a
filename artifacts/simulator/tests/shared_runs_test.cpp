// shared_runs_test.cpp - several designs in one run: each cell equals the same cell alone on the oracle, to the last digit.
//
// The designs share decoding, events of chunks, mispredicted branches, and without units the pages and the L1 DTLB. Random programs,
// platforms, layouts and mappings; variants differ in design, second level, first level, prefetchers and instruction side.
#include "support/shared_runs.h"

#include <set>
#include <tuple>

#include "engine/functional.h"
#include "mmu/base_design.h"
#include "support/isa.h"
#include "support/platforms.h"
#include "support/random_inputs.h"
#include "support/random_mappings.h"

namespace tessera::sim::testing {
namespace {

const Sampling tlbs{false, 0, 0, 0};

/// Its look-ups depend on the instruction and on whether it stores: a page hits if the same instruction used it before.
class ByInstruction final : public BaseDesign<> {
public:
    explicit ByInstruction(const DesignContext& context) : BaseDesign(context), second_(context.platform) {}

private:
    Translated look_up(const Access& access, PageNumber page, Port*) override {
        return seen_.insert({access.pc, access.is_store, page.number}).second ? Translation::miss : Translation::stlb_hit;
    }
    void fill(const Access&, PageNumber, Port*) override {}
    bool regular_hit(PageNumber page) override { return second_.lookup(page); }
    void fill_regular(PageNumber page) override { second_.fill(page); }
    void drop(VirtRange range) override {
        second_.drop(range);
        seen_.clear();
    }

    SecondLevel second_;
    std::set<std::tuple<uint64_t, bool, uint64_t>> seen_;
};
const Registered by_instruction(designs(), "example-by-instruction", "a page hits if the same instruction used it before, for tests",
                                [](const DesignContext& context) { return std::make_unique<ByInstruction>(context); });

/// Every registered design but those of other tests, anchors of several distances, and platforms that differ elsewhere.
std::vector<Platform> variants_of(Platform base) {
    std::vector<Platform> all;
    const auto add = [&](Chosen design, auto change) {
        Platform made = base;
        made.mmu_design = std::move(design);
        change(made);
        all.push_back(std::move(made));
    };
    const auto nothing = [](Platform&) {};
    for (const std::string& name : designs().names())
        if (name.find("benchmark") == std::string::npos && name != "example-scripted" && name != "example-random-times") add(name, nothing);
    for (const uint64_t distance : {2, 16, 512, 65536}) add({"anchor", {{"distance_pages", distance}}}, nothing);
    for (const char* design : {"thp", "noop", "rmm"}) {
        add(design, [](Platform& p) { p.l1_4kb = {5, 5}; });
        add(design, [](Platform& p) { p.stlb = {6, 3}; });
        add(design, [](Platform& p) { p.l1_replacement = "example-round-robin"; });
        add(design, [](Platform& p) { p.l1i = {2, 1}; });
        add(design, [](Platform& p) { p.prefetch_l2 = {"stream", 4, 2, 4}; });
        add(design, [](Platform& p) { p.branch_predictor = "gshare", p.branch_refill_cycles = 7; });
    }
    add("noop", [](Platform& p) { p.tlb_organisation = "example-one-array"; });
    return all;
}

/// Conventional platforms: what time alone depends on changes, then what the functional stage depends on.
std::vector<Platform> timed_variants_of(Platform base) {
    base.mmu_design = "conventional", base.tlb_organisation = "split", base.walk_cache = "paging-structure",
    base.page_table_format = "radix";
    base.allocator = "identity", base.l1_replacement = "lru", base.stlb_replacement = "tree-plru";
    std::vector<Platform> all;
    const auto add = [&](auto change) {
        Platform made = base;
        change(made);
        all.push_back(std::move(made));
    };
    add([](Platform&) {});
    add([](Platform& p) { p.rob_entries += 8; });
    add([](Platform& p) { p.memory_cycles_per_line = uint64_t{1} << 28; });  // its times do not fit 32 bits: refused alone
    add([](Platform& p) { p.walkers += 1, p.mshrs += 1; });
    add([](Platform& p) { p.stlb_hit_cycles += 3; });
    add([](Platform& p) { p.branch_predictor = "gshare", p.branch_refill_cycles = 7; });
    add([](Platform& p) { p.numa = {2, 0, 1, 0, p.memory_load_cycles + 90, 9, 0}; });
    add([](Platform& p) { p.numa = {2, 1, 0, 0, p.memory_load_cycles + 90, 9, 0}; });
    add([](Platform& p) { p.memory_load_cycles += 40; });
    add([](Platform& p) { p.l2.load_cycles += 2; });
    add([](Platform& p) { p.l1_4kb = {8, 4}; });
    add([](Platform& p) { p.l1i = {2, 1}; });
    add([](Platform& p) { p.prefetch_l2 = {"stream", 4, 2, 4}; });
    return all;
}
constexpr size_t differ_in_time = 7, too_slow = 2;  // the first seven; one of them

TEST(SharedStages, PlatformsThatDifferInTimeAloneShareOne) {
    const std::vector<Platform> platforms = timed_variants_of(RandomInputs(4400).platform());
    for (size_t i = 0; i < platforms.size(); ++i) EXPECT_EQ(same_on_lanes(platforms[0], platforms[i]), i < differ_in_time) << i;
}

TEST(SharedStages, EqualEachPlatformAlone) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        RandomInputs random(seed + 4500);
        const std::vector<Platform> platforms = timed_variants_of(random.platform());
        MemoryStream stream = random.stream(2500);
        const std::vector<Layout> layouts = {random.layout(0), random.layout(1), random.layout(2)};
        const Sampling sampling = seed % 2 ? Sampling{} : Sampling{false, 3, 200, 200};
        for (const bool timed : {true, false}) {
            const auto found = run_cells(timed ? "timing" : "partial", stream, platforms, layouts, sampling);
            for (size_t i = 0; i < found.size(); ++i) {
                const size_t platform = i % platforms.size();
                SCOPED_TRACE((timed ? "timing, seed " : "partial, seed ") + std::to_string(seed) + ", platform " +
                             std::to_string(platform));
                if (timed && platform == too_slow) EXPECT_TRUE(found[i].refusal);
                else expect_same_cell(found[i], alone(platforms[platform], stream, layouts[i / platforms.size()], sampling), timed);
            }
        }
    }
}

class SharedRuns : public ::testing::TestWithParam<uint64_t> {};

void expect_each_cell_as_alone(uint64_t seed, const char* engine, const Sampling& sampling) {
    RandomInputs random(seed + 4000);
    RandomMappings mappings(seed + 4000);
    const std::vector<Platform> platforms = variants_of(random.platform());
    MemoryStream stream = random.stream(2500);
    const uint64_t accesses = stream.header().accesses;
    const std::vector<Layout> layouts = {mappings.mapping("one", 1, accesses), mappings.mapping("two", 2, accesses),
                                         mappings.mapping("five", 5, accesses), random.layout(1)};
    const auto found = run_cells(engine, stream, platforms, layouts, sampling);
    uint64_t hits = 0, refused = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        const Platform& platform = platforms[i % platforms.size()];
        const Layout& layout = layouts[i / platforms.size()];
        SCOPED_TRACE(std::string(engine) + ", " + platform.mmu_design.name + " (" + std::to_string(i % platforms.size()) + ") under " +
                     layout.name);
        expect_same_cell(found[i], alone(platform, stream, layout, sampling), std::string(engine) == "timing");
        hits += found[i].counts.stlb_hits, refused += found[i].refusal.has_value();
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(hits, 0u);
    EXPECT_GT(refused, 0u);
}

TEST_P(SharedRuns, EqualEachDesignAloneWithoutUnits) { expect_each_cell_as_alone(GetParam(), "partial", tlbs); }

TEST_P(SharedRuns, EqualEachDesignAloneWithCaches) {
    expect_each_cell_as_alone(GetParam(), GetParam() % 2 ? "timing" : "partial",
                              GetParam() % 3 ? Sampling{} : Sampling{false, 3, 200, 200});
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedRuns, ::testing::Range<uint64_t>(0, 8));

/// Arrays of anchors that a loop of its own goes through, in each instruction set; those of six sets and of twelve ways have none.
TEST(AnchorLoop, IsTheDesignAloneInEachInstructionSet) {
    for (const char* isa : instruction_sets()) {
        const ForcedIsa forced(isa);
        for (uint64_t seed = 0; seed < 4; ++seed) {
            RandomInputs random(seed + 4200);
            RandomMappings mappings(seed + 4200);
            std::vector<Platform> platforms;
            for (const Geometry stlb :
                 {Geometry{1, 1}, Geometry{6, 3}, Geometry{16, 4}, Geometry{20, 5}, Geometry{64, 8}, Geometry{18, 3}, Geometry{12, 12}})
                for (const uint64_t distance : {2, 8, 512, 65536}) {
                    platforms.push_back(haswell());
                    platforms.back().l1_4kb = {2, 1}, platforms.back().stlb = stlb;
                    platforms.back().mmu_design = {"anchor", {{"distance_pages", distance}}};
                }
            MemoryStream stream = random.stream(4000);
            const std::vector<Layout> layouts = {mappings.mapping("one", 1, stream.header().accesses),
                                                 mappings.mapping("three", 3, stream.header().accesses)};
            const auto found = run_cells("partial", stream, platforms, layouts, tlbs);
            uint64_t of_anchors = 0;
            for (size_t i = 0; i < found.size(); ++i) {
                const Platform& platform = platforms[i % platforms.size()];
                SCOPED_TRACE(std::string(isa) + ", seed " + std::to_string(seed) + ", cell " + std::to_string(i));
                expect_same_cell(found[i], alone(platform, stream, layouts[i / platforms.size()], tlbs), false);
                ASSERT_FALSE(found[i].refusal);
                of_anchors += found[i].counts.design.structures.at(1).hits;
            }
            EXPECT_GT(of_anchors, 1000u);
        }
    }
}

/// H, M and those of the instruction side; structures are counted over the whole stream, too.
TEST(TlbsOnly, HitsAndMissesAreThoseOfAFullRun) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 4100);
        RandomMappings mappings(seed + 4100);
        const std::vector<Platform> platforms = variants_of(random.platform());
        MemoryStream stream = random.stream(2500);
        const std::vector<Layout> layouts = {mappings.mapping("two", 2, stream.header().accesses), random.layout(2)};
        const auto alone = run_cells("partial", stream, platforms, layouts, tlbs),
                   full = run_cells("partial", stream, platforms, layouts, {});
        size_t compared = 0;
        for (size_t i = 0; i < full.size(); ++i) {
            if (full[i].refusal || alone[i].refusal) continue;
            SCOPED_TRACE(platforms[i % platforms.size()].mmu_design.name);
            const LayoutCounts &a = alone[i].counts, &b = full[i].counts;
            EXPECT_EQ(a.stlb_hits, b.stlb_hits);
            EXPECT_EQ(a.stlb_misses, b.stlb_misses);
            EXPECT_EQ(a.instruction_stlb_hits, b.instruction_stlb_hits);
            EXPECT_EQ(a.instruction_stlb_misses, b.instruction_stlb_misses);
            EXPECT_EQ(a.units.size(), 0u);
            const bool of_walks = platforms[i % platforms.size()].mmu_design == "nested";  // its structure counts walks
            if (!of_walks) {
                EXPECT_EQ(a.design.structures, b.design.structures);
            }
            ++compared;
        }
        EXPECT_GT(compared, 20u);
    }
}

TEST(TlbsOnly, LayoutsOnTheLanesHaveTheSameHitsAndMisses) {
    RandomInputs random(4200);
    Platform platform = random.platform();
    MemoryStream stream = random.stream(4000);
    std::vector<Layout> layouts;
    for (size_t i = 0; i < 20; ++i) layouts.push_back(random.layout(i));
    const auto found = simulate("partial", platform, stream, layouts, tlbs), full = simulate("partial", platform, stream, layouts);
    EXPECT_EQ(simulate("reference", platform, stream, layouts, tlbs), found);
    for (size_t i = 0; i < layouts.size(); ++i) {
        EXPECT_EQ(found[i].stlb_hits, full[i].stlb_hits);
        EXPECT_EQ(found[i].stlb_misses, full[i].stlb_misses);
        EXPECT_EQ(found[i].program, (std::array<uint64_t, 4>{}));
    }
}

TEST(TlbsOnly, WarmPassesWarmTlbs) {
    RandomInputs random(4300);
    const std::vector<Platform> platforms = variants_of(random.platform());
    MemoryStream stream = random.stream(1500);
    const std::vector<Layout> layouts = {RandomMappings(4300).mapping("one", 1, stream.header().accesses)};
    const auto found = run_cells("partial", stream, platforms, layouts, tlbs, 2);
    uint64_t fewer = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        SCOPED_TRACE(platforms[i].mmu_design.name);
        expect_same_cell(found[i], alone(platforms[i], stream, layouts[0], tlbs, 2), false);
        if (!found[i].refusal) fewer += found[i].counts.stlb_misses < alone(platforms[i], stream, layouts[0], tlbs).counts.stlb_misses;
    }
    EXPECT_GT(fewer, 0u);
}

TEST(TlbsOnly, ADesignThatNeedsCachesIsRefusedByName) {
    Platform platform = haswell();
    platform.mmu_design = "hvc-delayed-tlb";
    MemoryStream stream = RandomInputs(1).stream(100);
    for (const char* engine : {"reference", "partial", "timing"}) {
        const auto found = run_cells(engine, stream, {platform}, {all_4kb()}, tlbs);
        ASSERT_TRUE(found[0].refusal) << engine;
        EXPECT_NE(std::string(found[0].refusal->what()).find("hvc-delayed-tlb"), std::string::npos);
    }
}

// The second level has three ways. Code page A, data pages 0 and 1 fill it. Code page B comes right before the access at which page 0
// changes: it takes the place of A, before the change makes room. So A misses when it comes back.
TEST(TlbsOnly, ACodePageComesBeforeTheChangeAtTheAccessBehindIt) {
    StreamBuilder builder(gib, gib);
    const uint32_t first = builder.independent_load();
    for (int i = 0; i < 15; ++i) builder.independent_load();  // 256 bytes of code each
    const uint32_t other = builder.independent_load();
    builder.load(first, heap_base);
    builder.load(first, heap_base + 4096);
    builder.load(other, heap_base + 4096);
    builder.load(first, heap_base + 4096);
    MemoryStream stream = builder.finish();
    Mapping mapping{"two", {{0, {heap_row(0, 70, 2)}}, {2, {heap_row(0, 90, 1)}}}};
    const Layout layout = layout_of(std::make_shared<const Mapping>(std::move(mapping)));
    Platform platform = haswell();
    platform.l1_4kb = {1, 1}, platform.l1i = {1, 1}, platform.stlb = {3, 3};
    for (const char* design : {"thp", "noop"}) {
        platform.mmu_design = design;
        const LayoutCounts truth = alone(platform, stream, layout, tlbs).counts;
        EXPECT_EQ(truth.instruction_stlb_misses, 3u);
        EXPECT_EQ(truth.stlb_misses, 2u);
        EXPECT_EQ(run_cells("partial", stream, {platform}, {layout}, tlbs)[0].counts, truth) << design;
    }
}

// A page without a frame, in the middle of the stream, ends the designs that need it; the others end as if alone.
TEST(SharedRuns, ADesignThatRefusesFailsAlone) {
    StreamBuilder builder(gib, gib, 100);
    const uint32_t block = builder.independent_load();
    for (uint64_t i = 0; i < 1000; ++i) builder.load(block, heap_base + i % 300 * 4096);
    for (uint64_t i = 0; i < 500; ++i) builder.load(block, heap_base + (i + 300) * 4096);
    MemoryStream stream = builder.finish();
    std::vector<MappingRow> rows;
    for (uint64_t page = 0; page < 2100; ++page) rows.push_back(heap_row(page, 3 * page, 1));  // more chunks than segments of HVC
    rows.erase(rows.begin() + 450);
    std::vector<Platform> platforms(5, haswell());
    const char* const names[] = {"thp", "baseline", "hvc-many-segment", "ideal", "rmm"};
    for (size_t i = 0; i < 5; ++i) platforms[i].mmu_design = names[i];
    for (const Sampling& sampling : {tlbs, Sampling{}})
        for (const char* engine : {"partial", "reference"}) {
            const auto found = run_cells(engine, stream, platforms, {mapping_of_rows(rows)}, sampling);
            for (size_t i = 0; i < 5; ++i) {
                SCOPED_TRACE(std::string(engine) + " " + names[i]);
                expect_same_cell(found[i], alone(platforms[i], stream, mapping_of_rows(rows), sampling),
                                 std::string(engine) == "reference");
            }
            EXPECT_NE(std::string(found[0].refusal.value().what()).find("access 1150"), std::string::npos) << found[0].refusal->what();
            const bool without_caches = sampling.units == 0 && !sampling.full;
            EXPECT_EQ(found[1].refusal.has_value(), !without_caches) << "4KB pages need no row for H and M";
            EXPECT_TRUE(found[2].refusal);
        }
}

// Behind an L1 of 4KB pages, a page without a row ends the designs that ask for its frame, be it an access's own page or its second one.
TEST(SharedRuns, APageWithoutARowUnderAnL1Of4kbPagesEndsThoseThatAskForIt) {
    constexpr uint64_t last = 300, missing = 301;
    std::vector<Platform> platforms(4, haswell());
    platforms[0].mmu_design = "baseline";
    platforms[1].mmu_design = "cluster";
    platforms[2].mmu_design = {"cluster", {{"cluster_entries", 0}}};  // asks for no frame
    platforms[3].mmu_design = "thp";
    const Layout mapping = mapping_of_rows({heap_row(0, 70, last + 1), heap_row(missing + 1, 2000, 100)});
    for (const uint64_t offset : {4092, 4096 + 64}) {
        StreamBuilder builder(gib, gib, 100);
        const uint32_t block = builder.independent_load();
        for (uint64_t page = 0; page <= last; ++page) builder.load(block, heap_base + page * 4096);
        for (const uint64_t at : {uint64_t{0}, uint64_t{8}, uint64_t{16}, uint64_t(offset)})
            builder.load(block, heap_base + last * 4096 + at);
        for (uint64_t i = 0; i < 500; ++i) builder.load(block, heap_base + (missing + i % 101) * 4096);
        MemoryStream stream = builder.finish();
        for (const Sampling& sampling : {tlbs, Sampling{}}) {
            SCOPED_TRACE("offset " + std::to_string(offset) + (sampling.full ? ", all" : ", tlbs"));
            const auto found = run_cells("partial", stream, platforms, {mapping}, sampling);
            for (size_t i = 0; i < platforms.size(); ++i) {
                SCOPED_TRACE(i);
                expect_same_cell(found[i], alone(platforms[i], stream, mapping, sampling), false);
                EXPECT_EQ(found[i].refusal.has_value(), sampling.full || i % 2 == 1);
                if (found[i].refusal)
                    EXPECT_NE(std::string(found[i].refusal->what()).find("data access 304"), std::string::npos) << found[i].refusal->what();
            }
        }
    }
}

// The static ideal of Park (3.5): the least M of all sixteen distances.
TEST(SharedRuns, TheBestOfSixteenAnchorDistancesIsNoWorseThanTheChosenOne) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        RandomInputs random(seed + 4400);
        MemoryStream stream = random.stream(6000);
        const Layout mapping = RandomMappings(seed + 4400).mapping("one", 1, stream.header().accesses);
        std::vector<Platform> platforms(17, haswell());
        platforms[0].mmu_design = "anchor";  // 0: chosen from the chunks
        for (size_t i = 1; i <= 16; ++i) platforms[i].mmu_design = {"anchor", {{"distance_pages", uint64_t{1} << i}}};
        const auto found = run_cells("partial", stream, platforms, {mapping}, tlbs);
        uint64_t least = ~uint64_t{0}, most = 0;
        for (size_t i = 1; i <= 16; ++i) {
            least = std::min(least, found[i].counts.stlb_misses);
            most = std::max(most, found[i].counts.stlb_misses);
        }
        EXPECT_LE(least, found[0].counts.stlb_misses);
        EXPECT_LT(least, most) << "distances make no difference here";
    }
}

}  // namespace
}  // namespace tessera::sim::testing
