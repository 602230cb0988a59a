// direct_segment_test.cpp - the design direct-segment: which chunk is the segment, and what lies outside it.
#include <gtest/gtest.h>

#include "base/error.h"
#include "mmu/design.h"
#include "support/engines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

using trace::PoolKind;

Layout mapped(std::vector<MappingEpoch> epochs) { return layout_of(std::make_shared<const Mapping>(Mapping{"m", std::move(epochs)})); }

/// Three chunks: 100 pages, 200 pages, 200 pages.
MappingEpoch three_chunks() {
    return {0, {{PoolKind::heap, 0, 1000, 100}, {PoolKind::heap, 100, 5000, 200}, {PoolKind::heap, 300, 9000, 200}}};
}

Platform with_design(const char* name) {
    Platform p = haswell();
    p.mmu_design = name;
    return p;
}

/// `rounds` passes over the pages from `first` to before `end`, one load each.
MemoryStream passes(uint64_t first, uint64_t end, int rounds) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (int round = 0; round < rounds; ++round)
        for (uint64_t page = first; page < end; ++page) builder.load(block, heap_base + page * 4096 + page % 64 * 64);
    return builder.finish();
}

TEST(DirectSegment, AllInsideIsIdeal) {
    MemoryStream stream = passes(0, 3000, 3);
    const Layout one_chunk = mapped({{0, {{PoolKind::heap, 0, 0, 4096}}}});
    const LayoutCounts counts = on_all_engines(with_design("direct-segment"), stream, {one_chunk})[0];
    EXPECT_EQ(counts.stlb_hits + counts.stlb_misses + counts.units[0].walk_cycles, 0u);
    EXPECT_EQ(counts.walker, (std::array<uint64_t, 4>{}));
    const LayoutCounts ideal = on_all_engines(with_design("ideal"), stream, {one_chunk})[0];
    EXPECT_EQ(counts.units, ideal.units);
    EXPECT_EQ(counts.program, ideal.program);
}

TEST(DirectSegment, AllOutsideIsThp) {
    MemoryStream stream = passes(300, 500, 4);
    const LayoutCounts counts = on_all_engines(with_design("direct-segment"), stream, {mapped({three_chunks()})})[0];
    const LayoutCounts thp = on_all_engines(with_design("thp"), stream, {mapped({three_chunks()})})[0];
    EXPECT_EQ(counts.stlb_misses, 200u);
    EXPECT_EQ(counts.stlb_hits, thp.stlb_hits);
    EXPECT_EQ(counts.units, thp.units);
    EXPECT_EQ(counts.program, thp.program);
    EXPECT_EQ(counts.walker, thp.walker);
}

class Driven {
public:
    explicit Driven(const Layout& layout)
        : space_({{PoolKind::heap, heap_base, uint64_t{4} << 30, uint64_t{4} << 30}}, layout),
          design_(designs().make(platform_.mmu_design, DesignContext{platform_, space_})) {}
    Translation operator()(uint64_t page) {
        const VirtAddr address(heap_base + page * 4096);
        design_->touch(address);
        return design_->access_tlb_only({address});
    }
    void next_epoch() {
        for (const VirtRange range : space_.mapping()->change()) design_->changed(range);
    }
    std::vector<StructureCounts> structures() const { return design_->structures(); }

private:
    Platform platform_ = with_design("direct-segment");
    AddressSpace space_;
    std::unique_ptr<Design> design_;
};

TEST(DirectSegment, TheFirstOfTheLargestChunksIsTheSegment) {
    Driven design(mapped({three_chunks()}));
    EXPECT_EQ(design(99), Translation::miss);
    EXPECT_EQ(design(100), Translation::l1_hit);
    EXPECT_EQ(design(299), Translation::l1_hit);
    EXPECT_EQ(design(300), Translation::miss);
    EXPECT_EQ(design(300), Translation::l1_hit);  // of the L1 DTLB
    EXPECT_EQ(design.structures(), (std::vector<StructureCounts>{{"segment", 5, 2, 0}}));
}

// Chunks count, not page sizes: 600 pages in 4KB and 2MB pages are more than 550 pages.
TEST(DirectSegment, AChunkMayHaveSeveralPageSizes) {
    Driven design(mapped(
        {{0,
          {{PoolKind::heap, 512, 1024, 512, PageSize::large_2mb}, {PoolKind::heap, 1024, 1536, 88}, {PoolKind::heap, 2000, 9000, 550}}}}));
    EXPECT_EQ(design(512), Translation::l1_hit);
    EXPECT_EQ(design(1111), Translation::l1_hit);
    EXPECT_EQ(design(2000), Translation::miss);
}

TEST(DirectSegment, AChangeOfTheMappingChoosesAgain) {
    Driven design(mapped({three_chunks(), {1, {{PoolKind::heap, 200, 0, 100, PageSize::small_4kb, false}}}}));
    EXPECT_EQ(design(150), Translation::l1_hit);
    EXPECT_EQ(design(350), Translation::miss);
    design.next_epoch();  // pages 100 to 199 are left of the segment, so pages 300 to 499 take its place
    EXPECT_EQ(design(351), Translation::l1_hit);
    EXPECT_EQ(design(150), Translation::miss);
}

TEST(DirectSegment, ItNeedsAMapping) { EXPECT_THROW(Driven{all_4kb()}, Refusal); }

}  // namespace
}  // namespace tessera::sim::testing
