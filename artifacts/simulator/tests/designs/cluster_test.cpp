// cluster_test.cpp - the designs cluster and cluster-2mb: which pages share an entry, and closed forms.
#include <gtest/gtest.h>

#include "base/error.h"
#include "mmu/design.h"
#include "support/engines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

using trace::PoolKind;

Layout mapped(std::vector<MappingEpoch> epochs) { return layout_of(std::make_shared<const Mapping>(Mapping{"m", std::move(epochs)})); }
Layout mapped_rows(std::vector<MappingRow> rows) { return mapped({{0, std::move(rows)}}); }

Platform with_design(const Chosen& design) {
    Platform p = haswell();
    p.mmu_design = design;
    return p;
}

/// A design without an engine.
class Driven {
public:
    Driven(const Chosen& design, const Layout& layout)
        : platform_(with_design(design)),
          space_({{PoolKind::heap, heap_base, uint64_t{4} << 30, uint64_t{4} << 30}}, layout),
          design_(designs().make(platform_.mmu_design, DesignContext{platform_, space_})) {}
    Translation operator()(uint64_t page) { return at(heap_base + page * 4096); }
    Translation at(uint64_t address) {
        design_->touch(VirtAddr(address));
        return design_->access_tlb_only({VirtAddr(address)});
    }
    void next_epoch() {
        for (const VirtRange range : space_.mapping()->change()) design_->changed(range);
    }
    StructureCounts regular() const { return design_->structures().at(0); }
    StructureCounts cluster() const { return design_->structures().at(1); }

private:
    Platform platform_;
    AddressSpace space_;
    std::unique_ptr<Design> design_;
};

constexpr Translation hit = Translation::stlb_hit, l1 = Translation::l1_hit, miss = Translation::miss;

// 50 groups of eight pages, each page read once: the first of a group walks, the other seven hit its entry.
TEST(Cluster, AnAlignedChunkMissesOnceAGroup) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t page = 0; page < 400; ++page) builder.load(block, heap_base + page * 4096);
    MemoryStream stream = builder.finish();
    const Layout aligned = mapped_rows({{PoolKind::heap, 0, 800, 400}});
    const LayoutCounts counts = on_all_engines(with_design("cluster"), stream, {aligned})[0];
    EXPECT_EQ(counts.stlb_misses, 50u);
    EXPECT_EQ(counts.stlb_hits, 350u);

    Driven design("cluster", aligned);
    for (uint64_t page = 0; page < 400; ++page) EXPECT_EQ(design(page), page % 8 == 0 ? miss : hit) << page;
    EXPECT_EQ(design.regular(), (StructureCounts{"regular", 400, 0, 0}));
    EXPECT_EQ(design.cluster(), (StructureCounts{"cluster", 400, 350, 400 * 8}));  // a miss waits for the slower array, too
}

// Frames are three behind the pages: five pages of a group end an aligned group of frames, three begin the next.
TEST(Cluster, AnUnalignedChunkHasTwoEntriesAGroup) {
    Driven design("cluster", mapped_rows({{PoolKind::heap, 0, 803, 400}}));
    for (uint64_t page = 0; page < 400; ++page) EXPECT_EQ(design(page), page % 8 == 0 || page % 8 == 5 ? miss : hit) << page;
    EXPECT_EQ(design.cluster().hits, 300u);
}

// Pages 1 and 6 have frames 80 and 87, of one aligned group. Page 2 has a frame of its own group; the others are not mapped.
TEST(Cluster, TwoPagesMakeAnEntryAndOneIsRegular) {
    Platform p = with_design("cluster");
    Driven design(
        "cluster",
        mapped_rows(
            {{PoolKind::heap, 1, 80, 1}, {PoolKind::heap, 2, 160, 1}, {PoolKind::heap, 6, 87, 1}, {PoolKind::heap, 1024, 4096, 1024}}));
    EXPECT_EQ(design(6), miss);
    EXPECT_EQ(design(1), hit);
    EXPECT_EQ(design(2), miss);
    EXPECT_EQ(design(2), l1);
    for (uint64_t page = 1024; page < 1536; ++page) design(page);  // replaces all of L1: 16 sets of 4 ways
    const StructureCounts regular = design.regular(), cluster = design.cluster();
    EXPECT_EQ(design(1), hit);
    EXPECT_EQ(design(6), hit);
    EXPECT_EQ(design(2), hit);
    EXPECT_EQ(design.cluster().hits - cluster.hits, 2u);
    EXPECT_EQ(design.regular().hits - regular.hits, 1u);
    EXPECT_EQ(design.regular().lookup_cycles - regular.lookup_cycles, p.stlb_hit_cycles);
}

// No two pages of a group share an aligned group of frames: all entries are regular, so the design is a conventional STLB of 768
// entries in 6 ways; with equal look-up cycles, R is equal, too.
TEST(Cluster, ChunksOfOnePageAreAConventionalStlb) {
    std::vector<MappingRow> rows;
    for (uint64_t page = 0; page < 2000; ++page) rows.push_back({PoolKind::heap, page, page * 8 + page % 8, 1});
    const Layout scattered = mapped_rows(rows);
    std::mt19937_64 random(11);
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int i = 0; i < 20000; ++i) {
        const uint64_t page = random() % (i % 4 ? 700 : 2000);
        builder.load(block, heap_base + page * 4096 + random() % 64 * 64);
    }
    MemoryStream stream = builder.finish();
    const Platform clustered = with_design({"cluster", {{"cluster_cycles", haswell().stlb_hit_cycles}}});
    Platform conventional = haswell();
    conventional.stlb = {768, 6};
    const LayoutCounts counts = on_all_engines(clustered, stream, {scattered})[0];
    const LayoutCounts expected = on_all_engines(conventional, stream, {scattered})[0];
    EXPECT_GT(counts.stlb_hits, 1000u);
    EXPECT_EQ(counts.stlb_hits, expected.stlb_hits);
    EXPECT_EQ(counts.stlb_misses, expected.stlb_misses);
    EXPECT_EQ(counts.units, expected.units);
    EXPECT_EQ(counts.walker, expected.walker);
}

// One 2MB page is 64 groups of eight 4KB pages.
TEST(Cluster, LargePagesAreSmallOnesOrRegularEntries) {
    const Layout large = mapped_rows({{PoolKind::heap, 0, 1024, 512 * 40, PageSize::large_2mb}});
    Driven small("cluster", large), regular("cluster-2mb", large);
    for (uint64_t page = 0; page < 512; ++page) {
        EXPECT_EQ(small(page), page % 8 == 0 ? miss : hit) << page;
        EXPECT_EQ(regular(page), page == 0 ? miss : l1) << page;
    }
    // 40 pages of 2MB through an L1 array of 8 sets x 4 ways, five a set: LRU never hits there, but the regular array holds all.
    for (uint64_t page = 1; page < 40; ++page) EXPECT_EQ(regular(page * 512), miss);
    for (uint64_t page = 0; page < 40; ++page) EXPECT_EQ(regular(page * 512), hit);
    EXPECT_EQ(regular.regular().hits, 40u);
    EXPECT_EQ(regular.cluster().hits, 0u);
}

TEST(Cluster, PagesOutsideThePoolsAreRegular) {
    Driven design("cluster", mapped_rows({{PoolKind::heap, 0, 800, 8}}));
    for (uint64_t page = 0; page < 8; ++page) EXPECT_EQ(design.at(0x7ffff0000000 + page * 4096), miss);
}

// Page 3 moves away. The entry of its group is forgotten with all its pages. L1 forgets page 3 only.
TEST(Cluster, AChangeForgetsTheGroup) {
    Driven design("cluster", mapped({{0, {{PoolKind::heap, 0, 800, 8}}}, {1, {{PoolKind::heap, 3, 99, 1}}}}));
    EXPECT_EQ(design(0), miss);
    EXPECT_EQ(design(3), hit);
    design.next_epoch();
    EXPECT_EQ(design(0), l1);
    EXPECT_EQ(design(4), miss);
    EXPECT_EQ(design(5), hit);
    EXPECT_EQ(design(3), miss);
    EXPECT_EQ(design(6), hit);
}

TEST(Cluster, RefusesArraysWithoutWholeSetsAndLayouts) {
    const Layout one = mapped_rows({{PoolKind::heap, 0, 0, 8}});
    EXPECT_THROW(Driven(Chosen("cluster", {{"regular_entries", 10}, {"regular_ways", 4}}), one), Refusal);
    EXPECT_THROW(Driven(Chosen("cluster-2mb", {{"cluster_entries", 11}}), one), Refusal);
    EXPECT_THROW(Driven("cluster", all_4kb()), Refusal);
}

}  // namespace
}  // namespace tessera::sim::testing
