// Which block of which type a request takes when its own lists are empty, and when the pageblock changes its type.
#include <gtest/gtest.h>

#include "support.h"

using tests::Memory;
using Frames = std::vector<uint32_t>;

namespace {

constexpr uint32_t base = 8192;

/// Pageblocks at 32MB in zone DMA32, every frame taken, so that each test frees exactly what it needs.
struct Fallback : testing::Test {
    Memory memory = Memory::of({{base, base + 8 * 512}});
    zone &dma32 = memory.p.zones[PHYS_DMA32];

    void SetUp() override {
        for (int i = 0; i < 8; ++i) ASSERT_EQ(buddy_take(&memory.p, &dma32, 9, PHYS_MOVABLE), base + 512u * i);
        memory.record();
    }
    void type(uint32_t pageblock, int type) { memory.p.frames.block_type[base / 512 + pageblock] = static_cast<uint8_t>(type); }
    int type(uint32_t pageblock) const { return memory.p.frames.block_type[base / 512 + pageblock]; }
    /// Frees `frame` of a pageblock; its order fits the alignment.
    void give(uint32_t pageblock, uint32_t frame, unsigned order) {
        buddy_free_block(&memory.p, base + pageblock * 512 + frame, order, false);
    }
    uint32_t at(uint32_t pageblock, uint32_t frame) const { return base + pageblock * 512 + frame; }
    uint32_t claim(unsigned order, phys_type type, unsigned rights = 0) { return fallback_claim(&memory.p, &dma32, order, type, rights); }
    uint32_t steal(unsigned order, phys_type type) { return fallback_steal(&memory.p, &dma32, order, type); }
};

TEST_F(Fallback, OrderOfTypes) {
    const struct {
        phys_type asks;
        int first, second;
    } rows[] = {{PHYS_UNMOVABLE, PHYS_RECLAIMABLE, PHYS_MOVABLE},
                {PHYS_MOVABLE, PHYS_RECLAIMABLE, PHYS_UNMOVABLE},
                {PHYS_RECLAIMABLE, PHYS_UNMOVABLE, PHYS_MOVABLE}};
    for (const auto &row : rows) EXPECT_EQ(fallback_type(&memory.p, &dma32, 0, row.asks), -1);
    type(0, PHYS_UNMOVABLE), type(1, PHYS_MOVABLE), type(2, PHYS_RECLAIMABLE), type(3, PHYS_HIGHATOMIC);
    for (int i = 0; i < 4; ++i) give(i, 0, 0);
    for (const auto &row : rows) {
        EXPECT_EQ(fallback_type(&memory.p, &dma32, 0, row.asks), row.first);
        const uint32_t frame = memory.list(dma32, 0, row.first)[0];
        free_list_remove(&memory.p, &dma32, frame, 0);
        EXPECT_EQ(fallback_type(&memory.p, &dma32, 0, row.asks), row.second);
        free_list_put(&memory.p, &dma32, frame, 0, row.first, false);
    }
}

TEST_F(Fallback, TheReserveIsNoFallback) {
    type(0, PHYS_HIGHATOMIC);
    give(0, 0, 9);
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), PHYS_NO_FRAME);
    EXPECT_EQ(steal(0, PHYS_MOVABLE), PHYS_NO_FRAME);
}

TEST_F(Fallback, AWholePageblockChangesItsTypeWithoutBoost) {
    give(2, 0, 9);
    const size_t puts = memory.of_kind(PHYS_PUT).size();
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), at(2, 0));
    EXPECT_EQ(type(2), PHYS_UNMOVABLE);
    EXPECT_EQ(memory.list(dma32, 8, PHYS_UNMOVABLE), (Frames{at(2, 256)}));
    EXPECT_EQ(dma32.boost, 0u);
    EXPECT_EQ(memory.of_kind(PHYS_CLAIM).size(), 1u);
    EXPECT_TRUE(memory.of_kind(PHYS_TAKE).empty());  // the claim is the only report: no take, and no put for the halves
    EXPECT_EQ(memory.of_kind(PHYS_PUT).size(), puts);
}

TEST_F(Fallback, OrderTenChangesTwoPageblocks) {
    give(4, 0, 9), give(5, 0, 9);
    EXPECT_EQ(claim(0, PHYS_RECLAIMABLE), at(4, 0));
    EXPECT_EQ(type(4), PHYS_RECLAIMABLE);
    EXPECT_EQ(type(5), PHYS_RECLAIMABLE);
}

TEST_F(Fallback, TheLargestBlockIsClaimed) {
    give(0, 0, 4), give(1, 0, 8), give(1, 256, 7), give(2, 0, 5);
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), at(1, 256));  // pageblock 1 moves; then the smallest block that fits: order 7
    EXPECT_EQ(type(1), PHYS_UNMOVABLE);
    EXPECT_EQ(type(0), PHYS_MOVABLE);
}

TEST_F(Fallback, HalfOfThePageblockMustBeFreeOrAlike) {
    for (uint32_t frame = 0; frame < 512; ++frame) bitmap_set(memory.p.frames.lru, at(0, frame), 1);  // in use and movable
    bitmap_clear(memory.p.frames.lru, at(0, 0), 128);
    give(0, 0, 7);                                        // 128 free, 384 movable: nothing is alike for unmovable
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), PHYS_NO_FRAME);
    bitmap_clear(memory.p.frames.lru, at(0, 128), 127);   // 127 unmovable: 255
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), PHYS_NO_FRAME);
    EXPECT_EQ(type(0), PHYS_MOVABLE);
    bitmap_clear(memory.p.frames.lru, at(0, 255), 1);     // 256
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), at(0, 0));
    EXPECT_EQ(type(0), PHYS_UNMOVABLE);
}

TEST_F(Fallback, MovableFramesSuitAMovableRequest) {
    type(0, PHYS_UNMOVABLE);
    give(0, 0, 4);
    bitmap_set(memory.p.frames.lru, at(0, 16), 239);      // 16 + 239 = 255
    EXPECT_EQ(claim(0, PHYS_MOVABLE), PHYS_NO_FRAME);
    bitmap_set(memory.p.frames.lru, at(0, 255), 1);
    EXPECT_EQ(claim(0, PHYS_MOVABLE), at(0, 0));
    EXPECT_EQ(type(0), PHYS_MOVABLE);
}

TEST_F(Fallback, UnmovableAndReclaimableHaveNothingAlike) {
    type(0, PHYS_RECLAIMABLE);
    give(0, 0, 7), give(0, 128, 6), give(0, 192, 5), give(0, 224, 4), give(0, 240, 3), give(0, 248, 2), give(0, 252, 1), give(0, 254, 0);
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), PHYS_NO_FRAME);   // 255 free
    give(0, 255, 0);                                      // merges to order 8
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), at(0, 0));
}

TEST_F(Fallback, MovableClaimsFromOrderFourOn) {
    type(0, PHYS_UNMOVABLE);
    bitmap_set(memory.p.frames.lru, at(0, 64), 448);
    give(0, 0, 3);
    EXPECT_EQ(claim(0, PHYS_MOVABLE), PHYS_NO_FRAME);
    EXPECT_EQ(dma32.boost, 0u);                           // the search ended before it
    give(0, 16, 4);
    EXPECT_EQ(claim(0, PHYS_MOVABLE), at(0, 0));          // claimed by order 4; taken: the smallest, order 3
}

TEST_F(Fallback, UnmovableClaimsEvenByOrderZero) {
    give(0, 0, 0);
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE), at(0, 0));        // the 511 others are in use and not movable
}

TEST_F(Fallback, AFailedClaimBoostsAndTheSearchGoesOn) {
    bitmap_set(memory.p.frames.lru, at(0, 256), 256);
    bitmap_set(memory.p.frames.lru, at(1, 32), 480);
    type(1, PHYS_MOVABLE);
    give(1, 0, 5);                                        // 32 free, 480 movable: not claimed
    give(0, 0, 4);                                        // 16 free, 240 unmovable: claimed
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE, PHYS_WAKE_KSWAPD), at(0, 0));
    EXPECT_EQ(memory.of_kind(PHYS_BOOST).size(), 2u);
    EXPECT_EQ(dma32.boost, 512u);                         // high is 250: one pageblock is the limit
    EXPECT_TRUE(dma32.boosted);
}

TEST_F(Fallback, NoFragmentClaimsWholePageblocksOnly) {
    give(0, 0, 8);
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE, PHYS_NO_FRAGMENT), PHYS_NO_FRAME);
    take_mode mode = TAKE_OWN;
    EXPECT_EQ(take_block(&memory.p, &dma32, 0, PHYS_UNMOVABLE, PHYS_NO_FRAGMENT, &mode), PHYS_NO_FRAME);
    EXPECT_EQ(dma32.boost, 0u);
    give(1, 0, 9);
    EXPECT_EQ(claim(0, PHYS_UNMOVABLE, PHYS_NO_FRAGMENT), at(1, 0));
}

TEST_F(Fallback, AStealTakesTheSmallestBlockAndLeavesTheType) {
    give(0, 0, 6), give(1, 0, 2);
    EXPECT_EQ(steal(1, PHYS_UNMOVABLE), at(1, 0));
    EXPECT_EQ(type(1), PHYS_MOVABLE);
    EXPECT_EQ(memory.list(dma32, 1, PHYS_MOVABLE), (Frames{at(1, 2)}));
    EXPECT_EQ(memory.of_kind(PHYS_STEAL).size(), 1u);
}

TEST_F(Fallback, MovedBlocksGoToTheTailsOfTheNewType) {
    type(7, PHYS_UNMOVABLE);
    give(7, 0, 5);
    give(0, 0, 8), give(0, 256, 5);
    fallback_move_pageblock(&memory.p, &dma32, at(0, 77), PHYS_MOVABLE, PHYS_UNMOVABLE);
    EXPECT_EQ(memory.list(dma32, 5, PHYS_UNMOVABLE), (Frames{at(7, 0), at(0, 256)}));
    EXPECT_EQ(memory.list(dma32, 8, PHYS_UNMOVABLE), (Frames{at(0, 0)}));
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST_F(Fallback, ModesOfARefill) {
    type(0, PHYS_UNMOVABLE);
    give(0, 0, 0), give(0, 2, 0);
    bitmap_set(memory.p.frames.lru, at(1, 4), 508);
    give(1, 0, 1);
    take_mode mode = TAKE_OWN;
    const auto next = [&] { return take_block(&memory.p, &dma32, 0, PHYS_UNMOVABLE, 0, &mode); };
    EXPECT_EQ(next(), at(0, 2));
    EXPECT_EQ(next(), at(0, 0));
    EXPECT_EQ(mode, TAKE_OWN);
    EXPECT_EQ(next(), at(1, 0));   // 2 free and 2 unmovable: a steal
    EXPECT_EQ(mode, TAKE_STEAL);
    give(0, 4, 0);                 // own memory again, but the refill goes on stealing
    EXPECT_EQ(next(), at(1, 1));
    EXPECT_EQ(next(), PHYS_NO_FRAME);
}

TEST(FallbackDma, ThePageblockOfFrameZeroIsNeverClaimed) {
    Memory memory = Memory::of({{1, 159}, {256, 4096}});
    zone &dma = memory.p.zones[PHYS_DMA];
    EXPECT_EQ(dma.start_frame, 1u);
    EXPECT_FALSE(fallback_spans_pageblock(&dma, 300));
    EXPECT_TRUE(fallback_spans_pageblock(&dma, 512));
    while (buddy_take(&memory.p, &dma, 9, PHYS_MOVABLE) != PHYS_NO_FRAME) continue;
    // 256 to 511 is free, Unmovable, and not in a whole pageblock.
    EXPECT_EQ(fallback_claim(&memory.p, &dma, 8, PHYS_MOVABLE, 0), PHYS_NO_FRAME);
    EXPECT_EQ(fallback_steal(&memory.p, &dma, 8, PHYS_MOVABLE), 256u);
    EXPECT_EQ(frame_block_type(&memory.p.frames, 256), PHYS_UNMOVABLE);
}

TEST(FallbackDma, AnUnmovableRequestGetsThePageblockOfFrameZeroWithoutFallback) {
    Memory memory = Memory::of({{1, 159}, {256, 4096}});
    zone &dma = memory.p.zones[PHYS_DMA];
    memory.record();
    take_mode mode = TAKE_OWN;
    EXPECT_EQ(take_block(&memory.p, &dma, 8, PHYS_UNMOVABLE, 0, &mode), 256u);
    EXPECT_TRUE(memory.of_kind(PHYS_CLAIM).empty() && memory.of_kind(PHYS_STEAL).empty());
    EXPECT_EQ(take_block(&memory.p, &dma, 8, PHYS_UNMOVABLE, 0, &mode), 1024u);  // the first block of order 10: a claim
    EXPECT_EQ(memory.of_kind(PHYS_CLAIM).size(), 1u);
}

}  // namespace
