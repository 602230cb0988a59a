// lanes_test.cpp - parts of the lane machine that random traces reach too rarely: set indices, the numbering of regions, names of
// two bytes, the choice of an instruction set.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/isa.h"
#include "engine/lanes/configure.h"
#include "engine/lanes/isa.h"
#include "engine/lanes/region_table.h"
#include "support/isa.h"
#include "support/platforms.h"
#include "support/synthetic.h"

#define TESSERA_ISA lanes_test_isa
#include "engine/lanes/rows.h"
#include "engine/lanes/storage.h"

namespace tessera::sim::testing {
namespace {

TEST(SetIndex, IsTheRemainderForAnyNumberOfSets) {
    std::mt19937_64 random(5);
    for (uint64_t sets : {1ull, 2ull, 3ull, 9ull, 64ull, 256ull, 12288ull, 49152ull, 53248ull, 1000003ull, 67108863ull}) {
        const lanes::lanes_test_isa::SetIndex index(sets);
        for (int i = 0; i < 20000; ++i) {
            const uint64_t line = random() >> (random() % 60);
            ASSERT_EQ(index(line), line % sets) << line << " of " << sets;
        }
        for (const uint64_t edge : {uint64_t{0}, sets - 1, sets, ~uint64_t{0}, ~uint64_t{0} / sets * sets - 1})
            ASSERT_EQ(index(edge), edge % sets);
    }
}

/// The plain build of rows.h, whose bytes are computed by carries; the vector builds use the processor's instructions.
TEST(Rows, OperationsOnBytesAreExact) {
    using namespace lanes::lanes_test_isa;
    std::mt19937_64 random(6);
    for (int i = 0; i < 20000; ++i) {
        Row a, b, out;
        for (unsigned lane = 0; lane < 64; ++lane) {
            a.byte[lane] = uint8_t(random());
            b.byte[lane] = random() % 2 ? a.byte[lane] : uint8_t(random() % 2 * 128);
        }
        const uint64_t chosen = random();
        uint64_t same = 0;
        for (unsigned part = 0; part < parts; ++part) {
            const PartLanes lanes = lanes_of(chosen, part);
            ASSERT_EQ(bits_of(lanes), bits_of_part(chosen, part));
            same |= bits_of(equal(load(&a, part), load(&b, part))) << (part * part_lanes % 64);
            store(&out, part, select(lanes, load(&a, part), load(&b, part)));
        }
        for (unsigned lane = 0; lane < 64; ++lane) {
            ASSERT_EQ(same >> lane & 1, uint64_t{a.byte[lane] == b.byte[lane]});
            ASSERT_EQ(out.byte[lane], chosen >> lane & 1 ? a.byte[lane] : b.byte[lane]);
        }
    }
}

TEST(RegionTable, NumbersRegionsInTheOrderOfTouchAndRefusesMoreThanFit) {
    const Layout layout = all_4kb();
    const std::vector<const Layout*> layouts = {&layout};
    lanes::RegionTable regions({{trace::PoolKind::heap, heap_base, uint64_t{1} << 30, 0}}, layouts, 4, 3);
    const uint64_t touched[] = {heap_base + 5, 0x7fff00000000, heap_base + 9, heap_base + (uint64_t{1} << 29)}, fourth = 0,
                   wide = uint64_t{1} << 48;
    uint32_t ids[4];
    regions.map(touched, 4, ids);
    EXPECT_EQ(std::vector<uint32_t>(ids, ids + 4), (std::vector<uint32_t>{1, 2, 1, 3}));
    EXPECT_THROW(regions.map(&fourth, 1, ids), Refusal);
    EXPECT_THROW(regions.map(&wide, 1, ids), Refusal);
}

TEST(Isa, UnknownNameIsRefused) {
    const ForcedIsa forced("sse");
    EXPECT_THROW(chosen_isa(), Refusal);
}

/// 64 layouts, each with 4KB pages in a region of its own and 2MB pages elsewhere: a set then holds up to 64 x ways different pages.
struct ManyNames {
    Platform platform = tiny(0);
    std::vector<Layout> layouts;
    MemoryStream stream;

    explicit ManyNames(const char* replacement) : stream(make_stream()) {
        platform.l1_replacement = platform.stlb_replacement = replacement;
        platform.l1_4kb = {8, 4}, platform.l1_2mb = {4, 4}, platform.stlb = {24, 12}, platform.stlb_holds_2mb = 1;
        for (uint64_t l = 0; l < 64; ++l) {
            const uint64_t region = uint64_t{2} << 20, end = uint64_t{64} << 21;
            Layout layout{"own-" + std::to_string(l), {}};
            if (l > 0) layout.windows.push_back(window(trace::PoolKind::heap, PageSize::large_2mb, 0, l * region));
            if (l < 63) layout.windows.push_back(window(trace::PoolKind::heap, PageSize::large_2mb, (l + 1) * region, end));
            layouts.push_back(layout);
        }
    }
    static MemoryStream make_stream() {
        StreamBuilder builder;
        const uint32_t load = builder.independent_load();
        std::mt19937_64 random(11);
        for (int i = 0; i < 30000; ++i) builder.load(load, heap_base + (random() % 64 << 21) + (random() % 40 << 12));
        return builder.finish();
    }
};

TEST(Names, ArraysGoOverToTwoBytesWhenOneIsTooFew) {
    const ManyNames many("lru");
    std::vector<const Layout*> layouts;
    for (const Layout& layout : many.layouts) layouts.push_back(&layout);
    lanes::RegionTable regions(many.stream.header().pools, layouts, 4);
    const auto machine = lanes::make_machine(lanes::configure(many.platform, layouts.size()));
    for (const trace::Frame& frame : many.stream.frames()) {
        std::vector<uint32_t> ids(frame.addresses.size());
        regions.map(frame.addresses.data(), ids.size(), ids.data());
        lanes::Work work{};
        work.addresses = frame.addresses.data();
        work.regions = ids.data();
        work.count = ids.size();
        work.region_table = regions.regions();
        work.region_count = regions.count();
        work.page_tables = regions.page_tables();
        machine->tlb_only(work);
    }
    EXPECT_GE(machine->wide_arrays(), 1u);
}

/// Under a plan that counts everything, and one that has hardly anything but TLBs to move.
TEST(Names, CountsAreExactAcrossTheChange) {
    for (const Sampling& sampling : {Sampling{}, Sampling{false, 1, 0, 1}})
        for (const char* replacement : {"lru", "tree-plru", "srrip"}) {
            ManyNames many(replacement);
            const auto truth = simulate("reference", many.platform, many.stream, many.layouts, sampling);
            for (const char* isa : instruction_sets()) {
                SCOPED_TRACE(std::string(replacement) + " " + isa);
                const ForcedIsa forced(isa);
                auto found = simulate("partial", many.platform, many.stream, many.layouts, sampling);
                for (size_t i = 0; i < found.size(); ++i) {
                    found[i].units[0].runtime_cycles = truth[i].units[0].runtime_cycles;
                    ASSERT_EQ(truth[i], found[i]) << "layout " << i;
                }
            }
        }
}

/// 2MB pages of 700 regions in sets of a byte's names: they lose their names and get others, so a remembered one is often another's.
TEST(Names, RememberedNamesOfRegionsAreCheckedBeforeUse) {
    Platform platform = tiny(0);
    platform.l1_4kb = {4, 4}, platform.l1_2mb = {4, 4}, platform.stlb = {8, 8}, platform.stlb_holds_2mb = 1;
    const uint64_t pool = uint64_t{2} << 30;
    Layout half{"half", {window(trace::PoolKind::heap, PageSize::large_2mb, 0, pool / 2)}};
    Layout all{"all", {window(trace::PoolKind::heap, PageSize::large_2mb, 0, pool)}};
    const std::vector<Layout> layouts = {all_4kb(), half, all};
    StreamBuilder builder(pool, pool);
    const uint32_t load = builder.independent_load();
    std::mt19937_64 random(12);
    for (uint64_t i = 0; i < 40000; ++i) {
        const uint64_t region = random() % 3 == 0 ? i / 8 % 700 : random() % 8;  // some come back soon, the others after all names
        builder.load(load, heap_base + (region << 21) + (random() % 3 << 12));
    }
    MemoryStream stream = builder.finish();
    const Sampling sampling{false, 1, 0, 1};
    const auto truth = simulate("reference", platform, stream, layouts, sampling);
    ASSERT_GT(truth[2].stlb_hits, 0u);
    ASSERT_GT(truth[2].stlb_misses, 5000u);
    for (const char* isa : instruction_sets()) {
        SCOPED_TRACE(isa);
        const ForcedIsa forced(isa);
        const auto found = simulate("partial", platform, stream, layouts, sampling);
        for (size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(truth[i].stlb_hits, found[i].stlb_hits) << "layout " << i;
            EXPECT_EQ(truth[i].stlb_misses, found[i].stlb_misses) << "layout " << i;
        }
    }
}

}  // namespace
}  // namespace tessera::sim::testing
