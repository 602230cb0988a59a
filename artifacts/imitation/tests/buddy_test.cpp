// Splits and merges of blocks: which half is kept, where blocks go on their lists, which types merge.
#include <gtest/gtest.h>

#include "support.h"

using tests::Memory;
using Frames = std::vector<uint32_t>;

namespace {

/// 4MB at 32MB (zone DMA32): one block of order 10 at frame 8192.
constexpr uint32_t base = 8192;
Memory one_block() { return Memory::of({{base, base + 1024}}); }

uint32_t take(Memory &memory, unsigned order, int type = PHYS_MOVABLE) {
    return buddy_take(&memory.p, &memory.p.zones[PHYS_DMA32], order, type);
}

void give(Memory &memory, uint32_t frame, unsigned order) { buddy_free_block(&memory.p, frame, order, false); }

TEST(Buddy, FreshMemoryIsInLargestAlignedBlocksAtAscendingFrames) {
    Memory memory = Memory::of({{8191, 8191 + 1 + 2 * 1024 + 3}});
    zone &zone = memory.p.zones[PHYS_DMA32];
    EXPECT_EQ(memory.list(zone, 0, PHYS_UNMOVABLE), (Frames{8191}));  // its pageblock starts at 7680, which is no RAM
    EXPECT_EQ(memory.list(zone, 0, PHYS_MOVABLE), (Frames{10242}));
    EXPECT_EQ(memory.list(zone, 1, PHYS_MOVABLE), (Frames{10240}));
    EXPECT_EQ(memory.list(zone, 10, PHYS_MOVABLE), (Frames{8192, 9216}));
    EXPECT_EQ(phys_zone_free(&memory.p, PHYS_DMA32), 1 + 2048 + 3);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST(Buddy, OnlyAPageblockThatStartsWithRamIsMovable) {
    // memmap_init_range sets the type at an aligned frame of a memory region; init_unavailable_range sets none, and 0 is Unmovable.
    Memory memory =
        Memory::of({{base + 1, base + 600}, {base + 1024, base + 1025}, {base + 1535, base + 1536}, {base + 2047, base + 2561}});
    const int types[] = {PHYS_UNMOVABLE, PHYS_MOVABLE, PHYS_MOVABLE, PHYS_UNMOVABLE, PHYS_MOVABLE, PHYS_MOVABLE};
    for (uint32_t block = 0; block < 6; ++block) EXPECT_EQ(frame_block_type(&memory.p.frames, base + block * 512), types[block]) << block;
    zone &zone = memory.p.zones[PHYS_DMA32];
    EXPECT_EQ(memory.list(zone, 0, PHYS_UNMOVABLE), (Frames{base + 1, base + 2047}));
    EXPECT_EQ(memory.list(zone, 8, PHYS_UNMOVABLE), (Frames{base + 256}));
    EXPECT_EQ(memory.list(zone, 9, PHYS_MOVABLE), (Frames{base + 2048}));
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST(Buddy, ThePageblockOfFrameZeroOfAPcIsUnmovable) {
    Memory memory = Memory::pc(64 * tests::mib);
    zone &dma = memory.p.zones[PHYS_DMA];
    uint32_t unmovable = 0;
    for (unsigned order = 0; order < PHYS_ORDERS; ++order)
        unmovable += static_cast<uint32_t>(memory.list(dma, order, PHYS_UNMOVABLE).size()) << order;
    EXPECT_EQ(unmovable, 158u + 256u);  // 4KB to 636KB, 1MB to 2MB
    EXPECT_EQ(memory.list(dma, 8, PHYS_UNMOVABLE), (Frames{256}));
    EXPECT_EQ(memory.list(dma, 9, PHYS_MOVABLE), (Frames{512}));
}

TEST(Buddy, ReservedRamCountsAsRamForTheType) {
    memory_map map{};
    error failure{};
    phys p;
    const phys_config config = phys_config_default();
    ASSERT_TRUE(memory_map_add(&map, false, {base, base + 512}) && memory_map_add(&map, true, {base, base + 1}));
    ASSERT_TRUE(phys_create(&p, &map, &config, &failure));
    EXPECT_EQ(frame_block_type(&p.frames, base + 1), PHYS_MOVABLE);
    phys_destroy(&p);
    memory_map_destroy(&map);
}

TEST(Buddy, SplitKeepsTheLowHalfAndListsEachHighHalf) {
    Memory memory = one_block();
    EXPECT_EQ(take(memory, 0), base);
    for (unsigned order = 0; order < 10; ++order)
        EXPECT_EQ(memory.list(memory.p.zones[PHYS_DMA32], order, PHYS_MOVABLE), (Frames{base + (1u << order)})) << order;
    EXPECT_EQ(take(memory, 0), base + 1);
    EXPECT_EQ(take(memory, 0), base + 2);
    EXPECT_EQ(take(memory, 3), base + 8);
}

TEST(Buddy, HighHalvesGoToTheHead) {
    // A split finds the lists below empty, so only a direct call can see which end they go to.
    Memory memory = one_block();
    zone &zone = memory.p.zones[PHYS_DMA32];
    for (int i = 0; i < 4; ++i) take(memory, 8);
    give(memory, base + 768, 7);
    EXPECT_EQ(buddy_expand(&memory.p, &zone, base, 6, 8, PHYS_MOVABLE), 256u - 64u);
    EXPECT_EQ(memory.list(zone, 7, PHYS_MOVABLE), (Frames{base + 128, base + 768}));
    EXPECT_EQ(memory.list(zone, 6, PHYS_MOVABLE), (Frames{base + 64}));
}

TEST(Buddy, MergesUpToOrder10AndNotBeyond) {
    Memory memory = Memory::of({{base, base + 2048}});
    Frames taken;
    for (int i = 0; i < 2048; ++i) taken.push_back(take(memory, 0));
    EXPECT_EQ(take(memory, 0), PHYS_NO_FRAME);
    for (const uint32_t frame : taken) give(memory, frame, 0);
    EXPECT_EQ(tests::blocks_of(memory.p.zones[PHYS_DMA32]), (Frames{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}));
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST(Buddy, TailIfTheNextLargerNeighbourIsFree) {
    Memory memory = one_block();
    Frames taken;
    for (int i = 0; i < 1024; ++i) taken.push_back(take(memory, 0));
    zone &zone = memory.p.zones[PHYS_DMA32];
    give(memory, base + 100, 0);
    give(memory, base + 6, 0);
    give(memory, base + 7, 0);  // order 1 at base + 6
    give(memory, base + 4, 0);  // its parent (4, 5) has the free neighbour (6, 7): tail
    EXPECT_EQ(memory.list(zone, 0, PHYS_MOVABLE), (Frames{base + 100, base + 4}));
    give(memory, base + 8, 0);  // (10, 11) is in use: head
    EXPECT_EQ(memory.list(zone, 0, PHYS_MOVABLE), (Frames{base + 8, base + 100, base + 4}));
}

TEST(Buddy, TailRuleEndsAtOrder9) {
    // Order 8 looks at order 9; order 9 goes to the head although its neighbour of order 10 would be free.
    Memory memory = Memory::of({{base, base + 3 * 1024}});
    zone &zone = memory.p.zones[PHYS_DMA32];
    for (int i = 0; i < 12; ++i) EXPECT_EQ(take(memory, 8), base + 256u * i);
    give(memory, base + 2048, 8);                                       // head: neighbour (512 further) in use
    give(memory, base + 512, 8), give(memory, base + 768, 8);           // order 9 at base + 512
    give(memory, base + 0, 8);                                          // its parent's neighbour is free: tail
    EXPECT_EQ(memory.list(zone, 8, PHYS_MOVABLE), (Frames{base + 2048, base + 0}));
    give(memory, base + 256, 8);                                        // order 10 at base
    EXPECT_EQ(memory.list(zone, 10, PHYS_MOVABLE), (Frames{base}));
    give(memory, base + 2560, 8), give(memory, base + 2816, 8);
    give(memory, base + 1024, 8), give(memory, base + 1280, 8);         // the order 10 above it has the free neighbour at base
    EXPECT_EQ(memory.list(zone, 9, PHYS_MOVABLE), (Frames{base + 1024, base + 2560}));
}

TEST(Buddy, PageblocksOfOrdinaryTypesMergeAndTakeTheTypeOfTheFreedBlock) {
    Memory memory = one_block();
    EXPECT_EQ(take(memory, 9), base);
    EXPECT_EQ(take(memory, 9), base + 512);
    memory.p.frames.block_type[base >> 9] = PHYS_UNMOVABLE;
    give(memory, base, 9);
    give(memory, base + 512, 9);
    EXPECT_EQ(memory.list(memory.p.zones[PHYS_DMA32], 10, PHYS_MOVABLE), (Frames{base}));
    EXPECT_EQ(frame_block_type(&memory.p.frames, base), PHYS_MOVABLE);
}

TEST(Buddy, ReserveDoesNotMergeWithOrdinaryPageblocks) {
    Memory memory = one_block();
    take(memory, 9), take(memory, 9);
    memory.p.frames.block_type[base >> 9] = PHYS_HIGHATOMIC;
    give(memory, base, 9);
    give(memory, base + 512, 9);
    zone &zone = memory.p.zones[PHYS_DMA32];
    EXPECT_EQ(memory.list(zone, 9, PHYS_HIGHATOMIC), (Frames{base}));
    EXPECT_EQ(memory.list(zone, 9, PHYS_MOVABLE), (Frames{base + 512}));
    EXPECT_EQ(zone.free_highatomic, 512);
}

TEST(Buddy, OrderTenComesBackPageblockByPageblock) {
    Memory memory = one_block();
    EXPECT_EQ(take(memory, 10), base);
    memory.record();
    give(memory, base, 10);
    const auto puts = memory.of_kind(PHYS_PUT);
    ASSERT_EQ(puts.size(), 2u);
    EXPECT_EQ(puts[0].order, 9);
    EXPECT_EQ(puts[0].frame, base);
    EXPECT_EQ(puts[1].order, 10);
    EXPECT_EQ(puts[1].other, 9u);
    EXPECT_EQ(puts[1].frame, base);
}

TEST(Buddy, NeighboursInAnotherRangeOrAHoleDoNotMerge) {
    Memory memory = Memory::of({{base, base + 1}, {base + 2, base + 4}});
    EXPECT_EQ(tests::blocks_of(memory.p.zones[PHYS_DMA32]), (Frames{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
