// design_contract_test.cpp - what engines do with the times, places and loads of a design, and with designs that break the contract.
//
// The designs of this file do what their keys say. The random one makes look-up times, places, background and parallel loads out
// of the address; the engines must agree on it to the cycle.
#include <gtest/gtest.h>

#include <array>

#include "mmu/walker.h"
#include "os/mapping.h"
#include "os/physical_map.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_inputs.h"
#include "support/translations.h"
#include "tlb/array.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t table = page_table_base + (uint64_t{1} << 36);  // where no page table is

/// Base: no TLBs; code pages hit.
class Plain : public Design {
public:
    Translation fetch(VirtAddr, Port&) override { return Translation::stlb_hit; }
    Translation access_tlb_only(const Access&) override { return Translation::l1_hit; }
    Translation fetch_tlb_only(VirtAddr) override { return Translation::stlb_hit; }
    void touch(VirtAddr) override {}
};

uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    return x ^ (x >> 31);
}

/// Whatever the contract allows, chosen by a hash of line and store bit.
class RandomTimes final : public Plain {
public:
    Translated access(const Access& access, Port& port) override {
        const uint64_t hash = mix(access.address.value / 256 * 2 + access.is_store);
        const auto entry = [&](uint64_t i) { return PhysAddr(table + (mix(hash + i) & 0xffff8)); };
        const LoadFrom from = hash >> 8 & 1 ? LoadFrom::l3 : LoadFrom::l1d;
        ++seen_;
        const bool behind = hash & 1;
        if (behind && port.program(PhysAddr(access.address.value)) != MemoryLevel::dram) return {Translation::l1_hit, 0, Place::behind_l3};
        const uint32_t cycles = hash >> 16 & 15;
        Translation found = Translation::l1_hit;
        if (hash >> 1 & 1) {
            found = hash >> 2 & 1 ? Translation::miss : Translation::stlb_hit;
            if (found == Translation::miss && hash >> 3 & 1) port.walker_load(entry(1), from);
            if (found == Translation::miss && hash >> 4 & 1) {
                const std::array<PhysAddr, 3> at = {entry(2), entry(3), entry(4)};
                const auto served = port.walker_loads(at, from);
                const MemoryLevel worst = *std::max_element(served.begin(), served.end());
                if (worst == MemoryLevel::dram) port.walker_load(entry(5), from);
            }
            if (hash >> 5 & 1) port.background_load(entry(6), from);
            if (hash >> 6 & 1 && !port.holds(MemoryLevel::l2, entry(7))) port.fill(MemoryLevel::l2, entry(7)), ++filled_;
        }
        if (!behind) port.program(PhysAddr(access.address.value));
        const bool usual = found != Translation::l1_hit && cycles == 3;  // the platform's time, too
        return {found,
                found == Translation::l1_hit ? 0
                : usual                      ? Translated::platform_lookup
                                             : cycles,
                behind ? Place::behind_l3 : Place::before};
    }
    bool needs_caches() const override { return true; }
    std::vector<StructureCounts> structures() const override { return {{"all", seen_, filled_, 0}}; }

private:
    uint64_t seen_ = 0, filled_ = 0;
};
const Registered random_times(designs(), "example-random-times", "whatever the contract allows, for tests",
                              [](const DesignContext&) { return std::make_unique<RandomTimes>(); });

/// Each access misses and does what the key says.
class Scripted final : public Plain {
public:
    explicit Scripted(uint64_t what) : what_(what) {}
    Translated access(const Access& access, Port& port) override {
        const PhysAddr own(access.address.value), entry(table + access.address.value / 4096 * 64), far(entry.value + (uint64_t{1} << 32));
        const std::array<PhysAddr, 2> both = {entry, far};
        switch (what_) {
            case 0: port.walker_load(entry), port.walker_load(far); break;
            case 1: port.walker_loads(both); break;
            case 2: port.walker_load(entry), port.background_load(far); break;
            case 3: port.walker_load(entry, LoadFrom::l3), port.walker_load(entry, LoadFrom::l3); break;
            case 4: port.fill(MemoryLevel::l1d, entry), port.walker_load(entry); break;
            case 5: port.program(own); break;                                             // twice with the one below
            case 6: port.walker_load(entry), port.program(own); return Translation::stlb_hit;
            case 7:
                port.program(own);
                port.program(own);
                return {Translation::stlb_hit, 1, Place::behind_l3};
            case 8: port.program(own); return {Translation::miss, 65536};
            case 9: port.program(own), port.background_load(far); return Translation::l1_hit;
            case 10: port.holds(MemoryLevel::dram, own); break;
            case 11:
                return port.program(own) == MemoryLevel::l1d ? Translated(Translation::stlb_hit, 1, Place::behind_l3) : Translation::l1_hit;
        }
        port.program(own);
        return {Translation::miss, 5};
    }

private:
    uint64_t what_;
};
const Registered scripted(designs(), "example-scripted", "does what its key says, for tests",
                          {{"what", "case", 0, 11, 0, "assumed: for tests", "The case"}},
                          [](const OwnValues& own, const DesignContext&) { return std::make_unique<Scripted>(own["what"]); });

Platform with(uint64_t what) {
    Platform p = haswell();
    p.mmu_design = {"example-scripted", {{"what", what}}};
    return p;
}

/// A chain of loads: one of each of `pages` pages, each from memory.
MemoryStream chain(uint64_t pages) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t p = 0; p < pages; ++p) builder.load(block, heap_base + p * 4096);
    return builder.finish();
}

TEST(DesignContract, EnginesAgreeOnWhateverItAllows) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 900);
        Platform platform = random.platform();
        platform.mmu_design = "example-random-times";
        if (seed % 2) platform.dram = {2, 4, 512, 20, 30, 4};
        if (seed % 3 == 0) platform.dram_queues_walks = platform.dram.channels != 0;
        if (seed % 4 == 0) platform.walker_pollutes = 0;
        platform.walker_serves_background = seed % 3 != 1;
        MemoryStream stream = random.stream(5000);
        const auto counts = on_all_engines(platform, stream, {all_4kb()});
        EXPECT_GT(counts[0].design.background_cycles, 0u);
        EXPECT_GT(counts[0].design.structures.at(0).hits, 0u);
        EXPECT_EQ(counts[0].design.structures.at(0).accesses, stream.header().accesses + crossings_of(stream));
        if (::testing::Test::HasFailure()) return;
    }
}

// Numbers by hand: haswell() has memory 200, L3 36, L2 12, L1D 4 cycles, one walker, no walker.begin_cycles.

TEST(DesignContract, LoadsOfAWalkAddUpUnlessTheyBeginTogether) {
    MemoryStream stream = chain(10);
    EXPECT_EQ(on_all_engines(with(0), stream, {all_4kb()})[0].units[0].walk_cycles, 10 * 400u);
    EXPECT_EQ(on_all_engines(with(1), stream, {all_4kb()})[0].units[0].walk_cycles, 10 * 200u);
    EXPECT_EQ(on_all_engines(with(1), stream, {all_4kb()})[0].walker[3], 20u);
}

TEST(DesignContract, BackgroundLoadsAreBAndHoldTheWalker) {
    MemoryStream stream = chain(10);
    const LayoutCounts with_background = on_all_engines(with(2), stream, {all_4kb()})[0];
    EXPECT_EQ(with_background.units[0].walk_cycles, 10 * 200u);
    EXPECT_EQ(with_background.design.background_cycles, 10 * 200u);
    EXPECT_EQ(with_background.design.background[3], 10u);
    // A chain: look-up 5, walk 200, load 200. The background load has the walker for 200 cycles behind the walk, and the next walk
    // begins 205 cycles behind it: nothing waits. The last load is retired at 10 x 405, and dispatch adds nothing to the chain.
    EXPECT_EQ(with_background.units[0].runtime_cycles, 10 * 405u);
    // Independent loads: one walker serves 200 + 200 cycles for each.
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    for (uint64_t p = 0; p < 10; ++p) builder.load(block, heap_base + p * 4096);
    MemoryStream together = builder.finish();
    const uint64_t without = on_all_engines(with(1), together, {all_4kb()})[0].units[0].runtime_cycles;
    const uint64_t held = on_all_engines(with(2), together, {all_4kb()})[0].units[0].runtime_cycles;
    EXPECT_GE(held, without + 9 * 200 - 10);
    EXPECT_LE(held, without + 9 * 200 + 10);
}

TEST(DesignContract, BackgroundLoadsMayHaveWalkersOfTheirOwn) {
    // Ten independent loads, all translated by the one walker: look-up 5, ten walks of 200, the last load's 200. With the background
    // loads on the same walker, nine more times 200 come between the walks.
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    for (uint64_t p = 0; p < 10; ++p) builder.load(block, heap_base + p * 4096);
    MemoryStream stream = builder.finish();
    Platform platform = with(2);
    const LayoutCounts shared = on_all_engines(platform, stream, {all_4kb()})[0];
    EXPECT_EQ(shared.units[0].runtime_cycles, 5 + 10 * 200 + 9 * 200 + 200u);
    platform.walker_serves_background = 0;
    const LayoutCounts own = on_all_engines(platform, stream, {all_4kb()})[0];
    EXPECT_EQ(own.units[0].runtime_cycles, 5 + 10 * 200 + 200u);
    EXPECT_EQ(own.design, shared.design) << "they still move the caches and count in B";
    EXPECT_EQ(own.units[0].walk_cycles, shared.units[0].walk_cycles);
    EXPECT_EQ(own.design.background_cycles, 10 * 200u);
}

TEST(DesignContract, AWalkerBesideL3AsksL3OnlyAndFillsIt) {
    MemoryStream stream = chain(10);
    const LayoutCounts counts = on_all_engines(with(3), stream, {all_4kb()})[0];
    EXPECT_EQ(counts.units[0].walk_cycles, 10 * (200 + 36u));
    EXPECT_EQ(counts.walker, (std::array<uint64_t, 4>{0, 0, 10, 10}));
}

TEST(DesignContract, AFilledLineIsInThatLevelAlone) {
    MemoryStream stream = chain(10);
    EXPECT_EQ(on_all_engines(with(4), stream, {all_4kb()})[0].units[0].walk_cycles, 10 * 4u);
}

std::string broken(uint64_t what, const char* engine) {
    MemoryStream stream = chain(what == 11 ? 1 : 3);
    if (what == 11) {  // the second access to the line is served by L1D
        StreamBuilder builder;
        const uint32_t block = builder.chasing_load();
        for (int i = 0; i < 2; ++i) builder.load(block, heap_base);
        stream = builder.finish();
    }
    try {
        simulate(engine, with(what), stream, {all_4kb()});
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "";
}

TEST(DesignContract, ABreachNamesDesignAndAddress) {
    for (const char* engine : {"reference", "partial"})
        for (uint64_t what = 5; what <= 11; ++what) {
            const std::string said = broken(what, engine);
            EXPECT_NE(said.find("example-scripted"), std::string::npos) << what << " " << said;
            EXPECT_NE(said.find("0x400000000"), std::string::npos) << what << " " << said;  // 16GB: heap_base
        }
}

TEST(DesignContract, ADesignThatNeedsCachesRefusesSamples) {
    Platform platform = haswell();
    platform.mmu_design = "example-random-times";
    RandomInputs random(1);
    MemoryStream stream = random.stream(5000);
    const Layout layout = all_4kb();
    for (const char* engine : {"reference", "timing", "partial"})
        EXPECT_THROW(simulate(engine, platform, stream, {layout}, Sampling{false, 3, 300, 200}), Refusal) << engine;
    // Units that adjoin each other skip nothing.
    for (const char* engine : {"reference", "timing", "partial"}) {
        const SamplePlan adjoining({{0, 100, ~uint64_t{0} >> 1, 1}});
        EXPECT_EQ(simulate(engine, platform, stream, {layout}, adjoining)[0].units.size(), 1u);
        const SamplePlan late({{10, 100, 200, 1}});
        EXPECT_THROW(simulate(engine, platform, stream, {layout}, late), Refusal) << engine;
    }
}

TEST(DesignContract, NoopIsTheConventionalDesign) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        RandomInputs random(seed + 300);
        Platform platform = random.platform();
        MemoryStream stream = random.stream(5000);
        const std::vector<Layout> layouts = {all_4kb(), random.layout(1), random.layout(2)};
        const auto truth = simulate("timing", platform, stream, layouts);
        platform.mmu_design = "noop";
        EXPECT_EQ(on_all_engines(platform, stream, layouts), truth);
    }
}

// Mappings.

Layout mapped(const std::string& rows) {
    const std::vector<trace::Pool> pools = {{trace::PoolKind::heap, heap_base, gib, gib}, {trace::PoolKind::anon, anon_base, gib, gib}};
    return layout_of(std::make_shared<Mapping>(parse_mapping("epoch,pool,page,frame,pages,page_size\n" + rows, "m.csv", pools)));
}

TEST(DesignContract, AnEpochThatUnmapsATranslationMakesItMissAgain) {
    Platform p = haswell();
    StreamBuilder builder(gib, gib);
    const uint32_t block = builder.chasing_load();
    for (int i = 0; i < 20; ++i) builder.load(block, heap_base + uint64_t(i % 2) * 4096);
    MemoryStream stream = builder.finish();
    // Two pages; at access 10 the first gets another frame: one more miss. At 15 both become parts of the same old frames: no change of rows, but dropped.
    const auto counts = on_all_engines(p, stream, {mapped("0,brk,0,7,2,4KB\n"), mapped("0,brk,0,7,2,4KB\n10,brk,0,100,1,4KB\n")});
    EXPECT_EQ(counts[0].stlb_misses, 2u);
    EXPECT_EQ(counts[1].stlb_misses, 3u);
}

TEST(DesignContract, AnEpochOfALargePageChangesSizeAndWalk) {
    Platform p = haswell();
    StreamBuilder builder(gib, gib);
    const uint32_t block = builder.chasing_load();
    for (int i = 0; i < 40; ++i) builder.load(block, heap_base + uint64_t(i % 4) * 4096);
    MemoryStream stream = builder.finish();
    const LayoutCounts counts = on_all_engines(p, stream, {mapped("0,brk,0,1024,512,4KB\n20,brk,0,512,512,2MB\n")})[0];
    EXPECT_EQ(counts.stlb_misses, 4u + 1u);
    // Walks of 4KB: 4 entries, then 1 below the PDE cache. The change drops walk caches, so the walk of 2MB loads all 3.
    EXPECT_EQ(counts.walker[0] + counts.walker[1] + counts.walker[2] + counts.walker[3], 4u + 3u + 3u);
}

TEST(DesignContract, FramesOfAMappingReachTheCaches) {
    Platform p = haswell();
    p.allocator = "mapped";
    StreamBuilder builder(gib, gib);
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < 3; ++round)
        for (uint64_t page = 0; page < 9; ++page) builder.load(block, heap_base + page * 4096);
    MemoryStream stream = builder.finish();
    // L1D has 64 sets of 8 ways: nine pages a multiple of 4KB apart fall into one set and evict each other. All frames do.
    const LayoutCounts counts = on_all_engines(p, stream, {mapped("0,brk,0,50,9,4KB\n")})[0];
    EXPECT_EQ(counts.program[0], 0u);
}

TEST(DesignContract, APageWithoutARowIsNamedWithItsAccess) {
    MemoryStream stream = chain(10);
    for (const char* engine : {"reference", "timing"}) try {
            simulate(engine, haswell(), stream, {mapped("0,brk,0,50,7,4KB\n")});
            ADD_FAILURE() << "accepted";
        } catch (const Refusal& refusal) {
            const std::string said = refusal.what();
            EXPECT_NE(said.find("access 7"), std::string::npos) << said;
            EXPECT_NE(said.find("page 7"), std::string::npos) << said;
        }
}

TEST(DesignContract, WarmPassesOverAMappingThatChangesAreRefused) {
    MemoryStream stream = chain(3);
    const Platform p = haswell();
    const SamplePlan plan(Sampling{}, stream.header());
    const Layout layout = mapped("0,brk,0,50,3,4KB\n2,brk,0,60,1,4KB\n");
    for (const char* engine : {"reference", "partial"}) EXPECT_THROW(simulate(engine, p, stream, {layout}, plan, 1), Refusal);
}

TEST(DesignContract, ADesignThatNeedsFramesRefusesALayout) {
    Platform p = haswell();
    p.allocator = "mapped";
    MemoryStream stream = chain(3);
    EXPECT_THROW(simulate("partial", p, stream, {all_4kb()}), Refusal);
}

}  // namespace
}  // namespace tessera::sim::testing
