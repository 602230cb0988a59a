// Requests: which zone, which stage, what the caller is asked to do; and misuse.
#include <gtest/gtest.h>

#include "support.h"

using tests::gib;
using tests::Memory;
using tests::mib;

namespace {

phys_result ask(Memory &memory, phys_request request) { return phys_alloc(&memory.p, &request); }

/// Takes frames with the right to the reserve of reclaim, until nothing is left in zones up to `zone`.
void exhaust(Memory &memory, phys_zone highest) {
    for (int i = 0; i <= highest; ++i)
        for (unsigned order = PHYS_ORDERS; order-- > 0;)
            for (int type = 0; type < PHYS_TYPES; ++type)
                while (buddy_take(&memory.p, &memory.p.zones[i], order, type) != PHYS_NO_FRAME) continue;
}

TEST(Alloc, ZonesFromTheHighestDown) {
    Memory memory = Memory::pc(4 * gib);
    phys_request request = phys_request_default(0, PHYS_MOVABLE);
    EXPECT_EQ(frame_zone(ask(memory, request).frame), PHYS_NORMAL);
    request.highest_zone = PHYS_DMA32;
    EXPECT_EQ(frame_zone(ask(memory, request).frame), PHYS_DMA32);
    request.highest_zone = PHYS_DMA;
    EXPECT_EQ(frame_zone(ask(memory, request).frame), PHYS_DMA);
}

TEST(Alloc, NormalStopsAtItsLowMarkAndDma32GoesOn) {
    Memory memory = Memory::pc(4 * gib);
    const zone &normal = memory.p.zones[PHYS_NORMAL];
    uint32_t frame = 0, in_normal = 0;
    memory.record();
    while (frame_zone(frame = memory.alloc(4)) == PHYS_NORMAL) ++in_normal;
    // 262144 free, low 5280, 15 frames of a block are not usable. A request passes with free - 15 > 5280, that is free >= 5296.
    // 16 x n frames are gone before request n + 1: 262144 - 16 n >= 5296 holds up to n = 16053.
    EXPECT_EQ(in_normal, 16054u);
    EXPECT_EQ(frame_zone(frame), PHYS_DMA32);
    EXPECT_EQ(normal.free_frames, 262144 - 16 * 16054);
    EXPECT_TRUE(normal.below_high);
    EXPECT_EQ(memory.of_kind(PHYS_BELOW_HIGH).size(), 1u);  // told once, not by every request
}

TEST(Alloc, StagesUntilTheCallerHasToReclaim) {
    Memory memory = Memory::pc(gib);
    const zone &dma32 = memory.p.zones[PHYS_DMA32];
    memory.record();
    phys_request request = phys_request_default(10, PHYS_MOVABLE);
    phys_result result;
    while ((result = ask(memory, request)).outcome == PHYS_GOT_FRAMES) continue;
    EXPECT_EQ(result.outcome, PHYS_NEEDS_COMPACTION);
    // Order 10 passes min with free - 1023 > 11092, that is 12116 at least: 258048 - 1024 n, the last one at 12288 - so 11264 remain.
    EXPECT_EQ(dma32.free_frames, 11264);
    EXPECT_GE(memory.of_kind(PHYS_WAKE).size(), 1u);
    EXPECT_EQ(memory.of_kind(PHYS_REFUSED)[0].other, static_cast<uint32_t>(PHYS_NEEDS_COMPACTION));
    EXPECT_EQ(phys_alloc_again(&memory.p, &request).outcome, PHYS_NEEDS_RECLAIM);
    request = phys_request_default(0, PHYS_MOVABLE);
    while ((result = ask(memory, request)).outcome == PHYS_GOT_FRAMES) continue;
    EXPECT_EQ(result.outcome, PHYS_NEEDS_RECLAIM);
}

TEST(Alloc, OutcomesOfEachKindOfRequest) {
    const struct {
        unsigned order;
        phys_type type;
        bool may_reclaim;
        phys_outcome outcome;
    } rows[] = {{0, PHYS_MOVABLE, true, PHYS_NEEDS_RECLAIM}, {0, PHYS_UNMOVABLE, true, PHYS_NEEDS_RECLAIM},
                {1, PHYS_MOVABLE, true, PHYS_NEEDS_RECLAIM}, {1, PHYS_UNMOVABLE, true, PHYS_NEEDS_COMPACTION},
                {3, PHYS_MOVABLE, true, PHYS_NEEDS_RECLAIM}, {4, PHYS_MOVABLE, true, PHYS_NEEDS_COMPACTION},
                {9, PHYS_MOVABLE, false, PHYS_NO_MEMORY},    {0, PHYS_RECLAIMABLE, false, PHYS_NO_MEMORY}};
    for (const auto &row : rows) {
        Memory memory = Memory::pc(64 * mib);
        exhaust(memory, PHYS_NORMAL);
        phys_request request = phys_request_default(row.order, row.type);
        request.may_reclaim = row.may_reclaim;
        const phys_result result = ask(memory, request);
        EXPECT_EQ(result.outcome, row.outcome) << row.order << " " << row.type;
        EXPECT_EQ(result.frame, PHYS_NO_FRAME);
    }
}

TEST(Alloc, KswapdIsWokenOnlyByThoseWhoMay) {
    for (const bool may : {false, true}) {
        Memory memory = Memory::pc(64 * mib);
        exhaust(memory, PHYS_NORMAL);
        memory.record();
        phys_request request = phys_request_default(9, PHYS_MOVABLE);
        request.may_wake_kswapd = may;
        ask(memory, request);
        EXPECT_EQ(memory.of_kind(PHYS_WAKE).size(), may ? 1u : 0u);
    }
}

TEST(Alloc, TheReserveOfMinIsForHighRequests) {
    // 1GB, DMA32: min 11092; may_use_reserve: 5546; without waiting: 4160 (5546 - 1386).
    const struct {
        bool reclaim, reserve, none;
        int64_t least;
    } rows[] = {{true, false, false, 11093},
                {true, true, false, 5547},
                {false, true, false, 4161},
                {false, true, true, 5547},
                {false, false, false, 11093}};
    for (const auto &row : rows) {
        Memory memory = Memory::pc(gib);
        zone &dma32 = memory.p.zones[PHYS_DMA32];
        memory.p.zones[PHYS_DMA].free_frames = 0;
        phys_request request = phys_request_default(0, PHYS_MOVABLE);
        request.may_reclaim = row.reclaim, request.may_use_reserve = row.reserve, request.no_reserves = row.none;
        dma32.free_frames = row.least - 1;
        EXPECT_EQ(phys_alloc_attempt(&memory.p, &request), PHYS_NO_FRAME) << row.least;
        dma32.free_frames = row.least;
        EXPECT_NE(phys_alloc_attempt(&memory.p, &request), PHYS_NO_FRAME) << row.least;
    }
}

TEST(Alloc, NormalAvoidsFallbackWhileDma32HasItsOwn) {
    // Normal has movable memory below order 9 only, DMA32 a whole pageblock: the unmovable request goes to DMA32.
    Memory memory = Memory::pc(4 * gib);
    zone &normal = memory.p.zones[PHYS_NORMAL];
    std::vector<uint32_t> blocks;
    for (uint32_t frame; (frame = buddy_take(&memory.p, &normal, 8, PHYS_MOVABLE)) != PHYS_NO_FRAME;) blocks.push_back(frame);
    for (size_t i = 0; i < blocks.size(); i += 2) buddy_free_block(&memory.p, blocks[i], 8, false);
    EXPECT_EQ(frame_zone(memory.alloc(4, PHYS_UNMOVABLE)), PHYS_DMA32);
    EXPECT_EQ(frame_zone(memory.alloc(4, PHYS_MOVABLE)), PHYS_NORMAL);
}

TEST(Alloc, WithoutAHigherZoneTheFirstPassFallsBack) {
    Memory memory = Memory::pc(gib);  // Normal is empty: the rule above does not apply
    zone &dma32 = memory.p.zones[PHYS_DMA32];
    std::vector<uint32_t> blocks;
    for (uint32_t frame; (frame = buddy_take(&memory.p, &dma32, 8, PHYS_MOVABLE)) != PHYS_NO_FRAME;) blocks.push_back(frame);
    for (size_t i = 0; i < blocks.size(); i += 2) buddy_free_block(&memory.p, blocks[i], 8, false);
    EXPECT_EQ(frame_zone(memory.alloc(4, PHYS_UNMOVABLE)), PHYS_DMA32);
}

TEST(Alloc, ABoostWakesKswapdOnce) {
    Memory memory = Memory::pc(gib);
    memory.p.zones[PHYS_DMA32].boosted = true;
    memory.record();
    memory.alloc();
    memory.alloc();
    ASSERT_EQ(memory.of_kind(PHYS_WAKE).size(), 1u);
    EXPECT_EQ(memory.of_kind(PHYS_WAKE)[0].count, static_cast<uint32_t>(PHYS_DMA32));
}

struct Misuse : testing::Test {
    Memory memory = Memory::pc(64 * mib);
    void refused(uint32_t frame, unsigned order, const char *found) {
        const std::string before = memory.snapshot();
        EXPECT_FALSE(memory.release(frame, order)) << frame;
        EXPECT_NE(std::string(memory.failure.found).find(found), std::string::npos) << memory.failure.found;
        EXPECT_NE(memory.failure.remedy[0], '\0');
        EXPECT_EQ(memory.snapshot(), before);
    }
};

TEST_F(Misuse, OfFree) {
    const uint32_t frame = memory.alloc(4), small = memory.alloc(0);
    refused(frame, 11, "10");
    refused(1u << 20, 0, std::to_string(memory.p.frames.count).c_str());
    refused(frame + 1, 1, "aligned");
    refused(frame, 3, "order 4");
    refused(frame, 5, "");
    refused(frame + 1, 0, "in use");
    refused(8192 + 1024, 9, "free");
    refused(0, 0, "not managed");
    refused(160, 0, "not managed");  // the hole below 1MB
    EXPECT_TRUE(memory.release(small));
    refused(small, 0, "per-CPU");
    EXPECT_TRUE(memory.release(frame, 4));
    refused(frame, 4, "free");
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST_F(Misuse, OfSplitAndLru) {
    const uint32_t frame = memory.alloc(9);
    EXPECT_FALSE(phys_split_used(&memory.p, frame, 10, &memory.failure));
    EXPECT_FALSE(phys_split_used(&memory.p, frame + 1, 0, &memory.failure));
    EXPECT_FALSE(phys_set_lru(&memory.p, frame + 1, true, &memory.failure));
    EXPECT_FALSE(phys_set_lru(&memory.p, UINT32_MAX, true, &memory.failure));
    EXPECT_TRUE(phys_set_lru(&memory.p, frame, true, &memory.failure));
    EXPECT_EQ(bitmap_count(memory.p.frames.lru, 0, memory.p.frames.count), 512u);
    EXPECT_TRUE(memory.release(frame, 9));
    EXPECT_EQ(bitmap_count(memory.p.frames.lru, 0, memory.p.frames.count), 0u);
}

TEST(Alloc, ImpossibleMemories) {
    error failure;
    memory_map map;
    for (const uint64_t bytes : {uint64_t{0}, 15 * mib, 16 * mib + 1, uint64_t{1001} << 30})
        EXPECT_FALSE(memory_map_pc(&map, bytes, &failure)) << bytes;
    ASSERT_TRUE(memory_map_pc(&map, 16 * mib, &failure));
    phys p;
    phys_config config = phys_config_default();
    for (const uint32_t cpus : {0u, 65u}) {
        config.cpus = cpus;
        EXPECT_FALSE(phys_create(&p, &map, &config, &failure));
        EXPECT_NE(std::string(failure.asked).find(std::to_string(cpus)), std::string::npos);
    }
    memory_map_destroy(&map);
    EXPECT_FALSE(phys_create_empty(&p, &map, 1, &failure));  // no RAM
}

TEST(HighAtomic, ReservesAPageblockAndGivesItBack) {
    Memory memory = Memory::pc(gib);
    zone &dma32 = memory.p.zones[PHYS_DMA32];  // 1% of 258048 is 2580: up to 3072 frames
    phys_request request = phys_request_default(2, PHYS_UNMOVABLE);
    request.may_reclaim = false, request.may_use_reserve = true;
    EXPECT_NE(phys_alloc(&memory.p, &request).frame, PHYS_NO_FRAME);
    EXPECT_EQ(dma32.reserved_highatomic, 0u);  // the first stage knows nothing of this right
    const uint32_t frame = phys_alloc_attempt(&memory.p, &request);
    EXPECT_EQ(dma32.reserved_highatomic, 512u);
    EXPECT_EQ(frame_block_type(&memory.p.frames, frame), PHYS_HIGHATOMIC);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
    EXPECT_FALSE(highatomic_unreserve(&memory.p, PHYS_NORMAL, PHYS_MOVABLE, false));  // each zone keeps one
    EXPECT_TRUE(highatomic_unreserve(&memory.p, PHYS_NORMAL, PHYS_MOVABLE, true));
    EXPECT_EQ(dma32.reserved_highatomic, 0u);
    EXPECT_EQ(dma32.free_highatomic, 0);
    EXPECT_EQ(frame_block_type(&memory.p.frames, frame), PHYS_MOVABLE);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST(HighAtomic, ServesTheLastFramesToThoseWhoCannotWait) {
    for (const bool may_reclaim : {true, false}) {
        Memory memory = Memory::of({{8192, 8192 + 8192}});
        zone &dma32 = memory.p.zones[PHYS_DMA32];
        exhaust(memory, PHYS_DMA32);
        memory.p.frames.block_type[16] = PHYS_HIGHATOMIC;
        buddy_free_block(&memory.p, 8192, 9, false);
        dma32.marks[PHYS_MARK_MIN] = 100;
        phys_request request = phys_request_default(0, PHYS_MOVABLE);
        request.may_reclaim = may_reclaim;
        EXPECT_EQ(phys_alloc_attempt(&memory.p, &request), may_reclaim ? PHYS_NO_FRAME : 8192u);
    }
}

TEST(HighAtomic, AtMostOnePercentRoundedUp) {
    Memory memory = Memory::pc(gib);
    zone &dma32 = memory.p.zones[PHYS_DMA32];
    for (uint32_t block = 0; block < 20; ++block) highatomic_reserve(&memory.p, &dma32, 4096 + block * 1024, 10);
    EXPECT_EQ(dma32.reserved_highatomic, 3072u);
    EXPECT_TRUE(memory.p.zones[PHYS_DMA].managed_frames / 100 < 512);
    highatomic_reserve(&memory.p, &memory.p.zones[PHYS_DMA], 1024, 10);
    EXPECT_EQ(memory.p.zones[PHYS_DMA].reserved_highatomic, 0u);
}

}  // namespace
