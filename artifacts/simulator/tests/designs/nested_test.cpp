// nested_test.cpp - the design nested: how many loads a two-dimensional walk takes, and where they are.
//
// A walk of g guest and h host levels is (g + 1)(h + 1) - 1 loads. The last host walk, of the data, ends at the leaf of its page size.
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "mmu/design.h"
#include "support/engines.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t pool = uint64_t{4} << 30;
using Levels = std::array<uint64_t, 4>;

/// Haswell without walk caches, and with as many entries of the nested TLB.
Platform nested(uint64_t nested_tlb_entries) {
    Platform p = haswell();
    p.pwc_pde = p.pwc_pdpte = p.pwc_pml4e = {};
    p.mmu_design = {"nested", {{"nested_tlb_entries", nested_tlb_entries}}};
    return p;
}

LayoutCounts counts_of(const Platform& p, const std::vector<uint64_t>& addresses, const Layout& layout) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (const uint64_t address : addresses) builder.load(block, address);
    MemoryStream stream = builder.finish();
    return on_all_engines(p, stream, {layout})[0];
}

uint64_t loads(const LayoutCounts& counts) { return std::accumulate(counts.walker.begin(), counts.walker.end(), uint64_t{0}); }

TEST(Nested, AWalkWithoutCachesLoadsBothDimensions) {
    Platform p = nested(0);
    EXPECT_EQ(loads(counts_of(p, {heap_base}, all_4kb())), 4 * (4 + 1) + 4u);
    EXPECT_EQ(loads(counts_of(p, {heap_base}, all_of(PageSize::large_2mb, pool))), 3 * (4 + 1) + 3u);
    EXPECT_EQ(loads(counts_of(p, {heap_base}, all_of(PageSize::huge_1gb, pool))), 2 * (4 + 1) + 2u);
    p.page_table_levels = 5;
    EXPECT_EQ(loads(counts_of(p, {heap_base}, all_4kb())), 5 * (5 + 1) + 5u);
}

// Two neighbouring pages: the second walk needs the same four guest tables and another data page.
TEST(Nested, CachesShortenTheSecondWalk) {
    const std::vector<uint64_t> two = {heap_base, heap_base + 4096};
    EXPECT_EQ(loads(counts_of(nested(0), two, all_4kb())), 24 + 24u);
    EXPECT_EQ(loads(counts_of(nested(16), two, all_4kb())), 24 + 4 + 4u);  // four guest entries, and the host walk of the data page
    Platform p = nested(0);
    p.pwc_pde = {4, 4};
    EXPECT_EQ(loads(counts_of(p, two, all_4kb())), 24 + (4 + 1) + 4u);  // the guest's walk begins at its pte
    p.mmu_design = {"nested", {{"nested_tlb_entries", 16}}};
    EXPECT_EQ(loads(counts_of(p, two, all_4kb())), 24 + 1 + 4u);
    // In one 2MB page: no second walk. In two: the host holds the guest's tables, the data page is another one.
    EXPECT_EQ(loads(counts_of(nested(16), two, all_of(PageSize::large_2mb, pool))), 18u);
    EXPECT_EQ(loads(counts_of(nested(16), {heap_base, heap_base + (2 << 20)}, all_of(PageSize::large_2mb, pool))), 18 + 3 + 3u);
}

// A nested TLB of one entry forgets each table for the next.
TEST(Nested, TheNestedTlbHasItsSize) {
    const std::vector<uint64_t> two = {heap_base, heap_base + 4096};
    EXPECT_EQ(loads(counts_of(nested(1), two, all_4kb())), 48u);
    EXPECT_EQ(loads(counts_of(nested(4), two, all_4kb())), 48u);  // five pages in turn through four entries
    EXPECT_EQ(loads(counts_of(nested(5), two, all_4kb())), 24 + 4 + 4u);
}

// One cold walk. The guest's four tables are neighbours in guest-physical memory: their host walks read the same four lines, from
// memory the first time, from L1D three times. The guest's four entries and the four of the data's host walk are cold: the
// data's host walk begins at another line of the host's root, and its other tables are its own.
TEST(Nested, TheLoadsGoThroughTheCaches) {
    const Platform p = nested(0);
    const LayoutCounts counts = counts_of(p, {heap_base}, all_4kb());
    EXPECT_EQ(counts.walker, (Levels{12, 0, 0, 12}));
    EXPECT_EQ(counts.units[0].walk_cycles, 12 * p.l1d.load_cycles + 12 * p.memory_load_cycles);
}

TEST(Nested, HitsAndMissesAreThoseOfTheConventionalDesign) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 8000);
        Platform p = random.platform();
        MemoryStream stream = random.stream(4000);
        const std::vector<Layout> layouts = {all_4kb(), random.layout(1), random.layout(2)};
        const Sampling sampling = seed % 3 == 2 ? Sampling{false, 3, 300, 200} : Sampling{};
        const auto conventional = simulate("partial", p, stream, layouts, sampling);
        p.mmu_design = {"nested", {{"nested_tlb_entries", random.below(20)}}};
        const auto all = on_all_engines(p, stream, layouts, sampling);
        for (size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i].stlb_hits, conventional[i].stlb_hits);
            EXPECT_EQ(all[i].stlb_misses, conventional[i].stlb_misses);
            EXPECT_EQ(all[i].instruction_stlb_misses, conventional[i].instruction_stlb_misses);
            EXPECT_GT(loads(all[i]), loads(conventional[i]));
        }
        if (::testing::Test::HasFailure()) return;
    }
}

/// Remembers where the walker loads are; everything is in memory.
class Recorder final : public Port {
public:
    std::vector<uint64_t> loads;
    MemoryLevel walker_load(PhysAddr address, LoadFrom) override { return loads.push_back(address.value), MemoryLevel::dram; }
    std::span<const MemoryLevel> walker_loads(std::span<const PhysAddr>, LoadFrom) override { return {}; }
    MemoryLevel background_load(PhysAddr, LoadFrom) override { return MemoryLevel::dram; }
    MemoryLevel program(PhysAddr) override { return MemoryLevel::dram; }
    bool holds(MemoryLevel, PhysAddr) const override { return false; }
    void fill(MemoryLevel, PhysAddr) override {}
};

/// A design without an engine.
class Driven {
public:
    Driven(const Platform& platform, const Layout& layout)
        : platform_(platform),
          space_({{trace::PoolKind::heap, heap_base, pool, pool}}, layout),
          design_(designs().make(platform_.mmu_design, DesignContext{platform_, space_})) {}
    /// The addresses of the walker loads.
    std::vector<uint64_t> operator()(uint64_t address) {
        Recorder port;
        design_->touch(VirtAddr(address));
        design_->access({VirtAddr(address)}, port);
        return port.loads;
    }
    Design& design() { return *design_; }

private:
    Platform platform_;
    AddressSpace space_;
    std::unique_ptr<Design> design_;
};

// Regions are touched in the same order, so a walk of a 2MB page reads the first entries of the walk of a 4KB page.
TEST(Nested, EntriesHaveTheSameAddressesInAllLayouts) {
    const auto part = [](const std::vector<uint64_t>& all, size_t begin, size_t end) {
        return std::vector<uint64_t>(all.begin() + ptrdiff_t(begin), all.begin() + ptrdiff_t(end));
    };
    Driven small(nested(0), all_4kb()), large(nested(0), all_of(PageSize::large_2mb, pool));
    for (const uint64_t offset : {uint64_t{0}, uint64_t{6} << 20, uint64_t{3} << 30, uint64_t{2} << 20}) {
        const std::vector<uint64_t> of_4kb = small(heap_base + offset), of_2mb = large(heap_base + offset);
        ASSERT_EQ(of_4kb.size(), 24u);
        ASSERT_EQ(of_2mb.size(), 18u);
        EXPECT_EQ(part(of_2mb, 0, 15), part(of_4kb, 0, 15));    // three guest levels, each with its host walk
        EXPECT_EQ(part(of_2mb, 15, 18), part(of_4kb, 20, 23));  // the host walk of the data, down to its pde
    }
}

TEST(Nested, AChangeForgetsTheDataPageAndKeepsTheGuestsTables) {
    Driven nested_16(nested(16), all_4kb());
    EXPECT_EQ(nested_16(heap_base).size(), 24u);
    EXPECT_EQ(nested_16(heap_base).size(), 0u);
    nested_16.design().changed({VirtAddr(heap_base), VirtAddr(heap_base + 4096)});
    EXPECT_EQ(nested_16(heap_base).size(), 4 + 4u);  // the guest's four entries, and the host walk of the data
    const std::vector<StructureCounts> expected = {{"nested-tlb", 10, 4, 0}};
    EXPECT_EQ(nested_16.design().structures(), expected);
}

// With 4KB pages alone, each walk is as long as under the layout of 4KB pages, and all counts are the same.
TEST(Nested, On4kbPagesAloneTheLayoutMakesNoDifference) {
    Platform p = nested(0);
    p.mmu_design.own["only_4kb"] = 1;
    for (const Layout& layout : {all_4kb(), all_of(PageSize::large_2mb, pool), all_of(PageSize::huge_1gb, pool)})
        EXPECT_EQ(loads(counts_of(p, {heap_base}, layout)), 24u);
    RandomInputs random(8100);
    Platform platform = random.platform();
    MemoryStream stream = random.stream(4000);
    platform.mmu_design = {"nested", {{"nested_tlb_entries", 16}}};
    const LayoutCounts plain = on_all_engines(platform, stream, {all_4kb()})[0];
    platform.mmu_design.own["only_4kb"] = 1;
    for (const LayoutCounts& counts : on_all_engines(platform, stream, {all_4kb(), random.layout(1), random.layout(2)}))
        EXPECT_EQ(counts, plain);
}

// The second page of an access at the end of a program's memory is where the guest's tables are.
TEST(Nested, NamesAnAddressThatIsTooHigh) {
    constexpr uint64_t limit = uint64_t{1} << 47;
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    for (const uint64_t offset : {8, 4}) builder.load(block, limit - offset);
    MemoryStream stream = builder.finish();
    for (const char* engine : {"reference", "timing", "partial"}) try {
            simulate(engine, nested(16), stream, {all_4kb()});
            FAIL() << engine;
        } catch (const Refusal& refusal) {
            EXPECT_NE(std::string(refusal.what()).find("address 0x800000000000"), std::string::npos) << refusal.what();
        }
}

TEST(Nested, RefusesOtherTables) {
    Platform p = nested(16);
    p.page_table_format = "example-hashed";
    EXPECT_THROW(Driven(p, all_4kb()), Refusal);
}

}  // namespace
}  // namespace tessera::sim::testing
