// crossings_test.cpp - accesses that cross a 4KB page: which ones do, and what they count and cost, by hand.
#include "engine/crossings.h"

#include "support/clock_script.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_inputs.h"
#include "support/shared_runs.h"
#include "support/translations.h"

namespace tessera::sim::testing {
namespace {

constexpr uint64_t pool = uint64_t{4} << 30, page = 4096, large = uint64_t{2} << 20;

uint32_t load_of(StreamBuilder& builder, uint8_t bytes) {
    return builder.block({insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1)}, {{0, 0, bytes}});
}

/// Loads of `bytes` at `offset` of every `stride` bytes of the heap.
MemoryStream loads(uint64_t count, uint8_t bytes, uint64_t offset, uint64_t stride) {
    StreamBuilder builder;
    const uint32_t block = load_of(builder, bytes);
    for (uint64_t i = 0; i < count; ++i) builder.load(block, heap_base + i * stride + offset);
    return builder.finish();
}

Platform no_caches_of_pages() {
    Platform p = haswell();
    p.l1i = {};
    return p;
}

struct Edge {
    uint8_t bytes;
    uint64_t offset;
    bool crosses;
};

TEST(Crossings, AnAccessCrossesFromItsLastByteOn) {
    for (const Edge& edge : {Edge{1, 4095, false}, Edge{2, 4094, false}, Edge{2, 4095, true}, Edge{8, 4088, false}, Edge{8, 4089, true},
                             Edge{64, 4032, false}, Edge{64, 4033, true}, Edge{64, 4095, true}, Edge{64, 0, false}}) {
        SCOPED_TRACE(std::to_string(edge.bytes) + " bytes at " + std::to_string(edge.offset));
        MemoryStream stream = loads(1000, edge.bytes, edge.offset, 2 * page);
        EXPECT_EQ(crossings_of(stream), edge.crosses ? 1000u : 0u);
        const LayoutCounts counts = on_all_engines(no_caches_of_pages(), stream, {all_4kb()})[0];
        EXPECT_EQ(counts.stlb_misses, edge.crosses ? 2000u : 1000u);
        EXPECT_EQ(counts.units[0].accesses, 1000u);
        EXPECT_EQ(counts.program[0] + counts.program[1] + counts.program[2] + counts.program[3], 1000u);
    }
}

// 8,192 loads of 8 bytes inside a page each, and across two pages each.
TEST(Crossings, TwoPagesAreTwoMisses) {
    MemoryStream inside = loads(8192, 8, 64, 2 * page), across = loads(8192, 8, 4092, 2 * page);
    const LayoutCounts one = on_all_engines(no_caches_of_pages(), inside, {all_4kb()})[0];
    const LayoutCounts two = on_all_engines(no_caches_of_pages(), across, {all_4kb()})[0];
    EXPECT_EQ(one.stlb_misses, 8192u);
    EXPECT_EQ(two.stlb_misses, 16384u);
    EXPECT_GE(two.walker[0] + two.walker[1] + two.walker[2] + two.walker[3], 16384u);
    EXPECT_GT(two.units[0].walk_cycles, one.units[0].walk_cycles);
    EXPECT_GT(two.units[0].runtime_cycles, one.units[0].runtime_cycles);
}

// One access in 512 that crosses a 4KB page crosses a 2MB page; none of these crosses a 1GB page.
TEST(Crossings, LargePagesAreCrossedAtTheirBordersOnly) {
    MemoryStream stream = loads(8192, 8, 4092, page);  // 32MB: 16 pages of 2MB, the last of which ends at the last load
    const auto counts =
        on_all_engines(no_caches_of_pages(), stream, {all_4kb(), all_of(PageSize::large_2mb, pool), all_of(PageSize::huge_1gb, pool)});
    EXPECT_EQ(counts[0].stlb_misses, 8193u);  // the second page of each is the first page of the next
    EXPECT_EQ(counts[0].stlb_hits, 0u);
    EXPECT_EQ(counts[1].stlb_misses, 17u);
    EXPECT_EQ(counts[2].stlb_misses, 1u);
    Platform srrip = no_caches_of_pages();  // which a second look-up of the same page would change
    srrip.l1_replacement = "srrip";
    EXPECT_EQ(on_all_engines(srrip, stream, {all_of(PageSize::large_2mb, pool)})[0].stlb_misses, 17u);
}

TEST(Crossings, APageOfTwoSizesIsCrossedLikeAnyOther) {
    StreamBuilder builder;
    builder.load(load_of(builder, 16), heap_base + large - 8);  // from a 2MB page into a 4KB page
    builder.load(0, heap_base + 3 * large - 8);                 // and the other way round
    MemoryStream stream = builder.finish();
    const Layout layout{"two",
                        {window(trace::PoolKind::heap, PageSize::large_2mb, 0, large),
                         window(trace::PoolKind::heap, PageSize::large_2mb, 3 * large, 4 * large)}};
    EXPECT_EQ(on_all_engines(no_caches_of_pages(), stream, {layout})[0].stlb_misses, 4u);
}

TEST(Crossings, DataCachesSeeTheFirstLineOnly) {
    StreamBuilder builder;
    const uint32_t wide = load_of(builder, 64), byte = load_of(builder, 1);
    builder.load(wide, heap_base + 4095);
    builder.load(byte, heap_base + 4096);  // its page is known, its line is not
    MemoryStream stream = builder.finish();
    Platform p = no_caches_of_pages();
    p.prefetch_l1d = p.prefetch_l2 = {};
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.stlb_misses, 2u);
    EXPECT_EQ(counts.program[size_t(MemoryLevel::dram)], 2u);
}

TEST(Crossings, AStringInstructionHasAnAccessForEachLine) {
    StreamBuilder builder;
    auto copies = insn(trace::InsnKind::load, reg(1), 0, reg(1), 1);
    copies.string = trace::StringPart::begin;
    const uint32_t block = builder.block({copies}, {{0, 0, 64}});
    builder.load(block, heap_base + 4000);
    MemoryStream stream = builder.finish();
    EXPECT_EQ(on_all_engines(no_caches_of_pages(), stream, {all_4kb()})[0].stlb_misses, 1u);
}

TEST(Crossings, OneExecutionMayHaveManyOfThem) {
    StreamBuilder builder;
    const uint32_t block = load_of(builder, 8), nothing = builder.block({insn(trace::InsnKind::alu, reg(1), reg(1))}, {});
    for (const size_t accesses : {65535u, 3u, 0u, 2047u}) {
        std::vector<uint64_t> addresses;
        for (size_t i = 0; i < accesses; ++i) addresses.push_back(heap_base + i * 5 * page + (i % 3 == 0 ? 4090 : 8));
        builder.run(block, addresses, std::vector<uint8_t>(accesses));
        for (int i = 0; i < 40; ++i) builder.run(nothing, {}, {});
    }
    MemoryStream stream = builder.finish();
    const auto counts = on_all_engines(haswell(), stream, {all_4kb(), all_of(PageSize::large_2mb, pool)});
    EXPECT_GT(counts[0].stlb_misses, stream.header().accesses);
}

/// The chunks that an engine cuts find what the definition finds.
TEST(Crossings, AreFoundInRandomPrograms) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        MemoryStream stream = RandomInputs(seed + 3100).stream(20000);
        Crossings crossings(stream.blocks());
        uint64_t found = 0;
        for (const trace::Frame& frame : stream.frames()) {
            Chunk chunk{frame.addresses.size(), frame.addresses.data(), frame.is_store.data(),
                        frame.block_ids.size(), frame.block_ids.data(), frame.access_counts.data()};
            crossings.find(chunk);
            found += chunk.crossings;
        }
        EXPECT_EQ(found, crossings_of(stream));
        EXPECT_GT(found, 200u);
    }
}

TEST(Crossings, ASizeThatNoAccessHasIsRefused) {
    for (const uint8_t bytes : {0, 65, 255})
        for (const char* engine : {"reference", "partial", "timing"}) {
            MemoryStream stream = loads(10, bytes, 0, page);
            try {
                simulate(engine, haswell(), stream, {all_4kb()});
                ADD_FAILURE() << engine << " accepted " << int(bytes);
            } catch (const Refusal& refusal) {
                EXPECT_NE(std::string(refusal.what()).find("slot 0 of the block at 0x400000 has " + std::to_string(bytes)),
                          std::string::npos)
                    << refusal.what();
            }
        }
}

/// Walks of the two pages of one load, of a script with one walker.
uint64_t cycles_of(uint64_t first_walk, uint64_t second_walk, unsigned walkers) {
    Platform p = round_numbers();
    p.walkers = walkers;
    ClockScript script(p, {{0x400000, {insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1)}, {{0, 0, 8}}}});
    AccessOutcome load;
    load.address = VirtAddr(4092);
    load.translation = first_walk == 0 ? Translation::l1_hit : Translation::miss;
    load.walk = Cycles(first_walk);
    load.second.emplace().address = VirtAddr(4096);
    load.second->translation = second_walk == 0 ? Translation::l1_hit : Translation::miss;
    load.second->walk = Cycles(second_walk);
    script.run(0, {load});
    return script.cycles();
}

TEST(CrossingTime, TheAccessWaitsForBothTranslations) {
    EXPECT_EQ(cycles_of(0, 0, 1), 4u);         // L1D
    EXPECT_EQ(cycles_of(30, 0, 1), 7 + 34u);   // the STLB's 7 cycles, the walk, L1D
    EXPECT_EQ(cycles_of(0, 30, 1), 7 + 34u);
    EXPECT_EQ(cycles_of(30, 50, 1), 7 + 84u);  // one walker: one after the other
    EXPECT_EQ(cycles_of(30, 50, 2), 7 + 54u);
    EXPECT_EQ(cycles_of(50, 30, 2), 7 + 54u);
}

TEST(CrossingTime, ALaterAccessWaitsForTheSecondPage) {
    ClockScript script(round_numbers(), {{0x400000, {insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1)}, {{0, 0, 8}}}});
    AccessOutcome crossing, later;
    crossing.address = VirtAddr(4092);
    crossing.second.emplace().address = VirtAddr(4096);
    crossing.second->translation = Translation::miss;
    crossing.second->walk = Cycles(100);
    later.address = VirtAddr(4200);
    script.run(0, {crossing});
    script.run(0, {later});
    EXPECT_EQ(script.cycles(), 7 + 100 + 4u);
}

}  // namespace
}  // namespace tessera::sim::testing
