// Compaction: when it runs, what moves, deferral, capture. Numbers by hand from mm/compaction.c.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "pressure_support.h"

extern "C" {
#include "compact/run.h"
#include "phys/freelist.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 3000;

/// 48MB of 64MB are touched; then every second page is given back: no block of 2MB is free, and half of the pages can move.
struct Comb : testing::Test {
    Comb() {
        p.map(at, pages);
        p.map(at + huge, 512, rw);
        for (uint64_t i = 0; i < pages; ++i) p.access(at + i, true);
        for (uint32_t frame; (frame = p.memory.alloc(9)) != PHYS_NO_FRAME;) taken.push_back(frame);
        for (uint64_t i = 0; i < pages; i += 2) process_advise(&p.process, at + i, 1, ADVICE_DONTNEED, 0), p.forget(at + i, 1);
        percpu_drain_all(&p.memory.p, 0);
        vm_lru_drain(&p.system);
    }
    void right() {
        for (uint64_t i = 1; i < pages; i += 2) p.access(at + i, false);
        EXPECT_EQ(p.wrong, 0u);
        EXPECT_STREQ(p.broken(), nullptr);
    }
    static constexpr uint64_t pages = 8000, huge = 512 * 100;
    Pressure p{settings_of(THP_NEVER), 64 * mib, 8192};
    std::vector<uint32_t> taken;
};

TEST_F(Comb, ARequestFor2MBGetsABlockThatGrew) {
    struct zone &zone = p.memory.p.zones[PHYS_DMA32];
    ASSERT_EQ(zone.blocks[9] + zone.blocks[10], 0u);
    ASSERT_TRUE(compact_suitable(&p.system.compact, &zone, 9, PHYS_NORMAL));
    p.system.thp.enabled = THP_ALWAYS;
    p.system.thp.defrag = THP_DEFRAG_ALWAYS;
    const fault result = p.access(at + huge, true);
    EXPECT_EQ(result.kind, FAULT_PAGE);
    EXPECT_EQ(result.order, 9u);
    EXPECT_EQ(p.system.compact.counts.success, 1u);
    EXPECT_GT(p.system.compact.counts.pgmigrate_success, 100u);
    EXPECT_EQ(p.system.compact.zone[PHYS_DMA32].defer_shift, 0u);
    right();
}

TEST_F(Comb, PagesMoveUp) {
    const std::string text = decisions_of(p.memory.p, [&] { compact_all(&p.system.compact, 0); });
    unsigned from, to, moves = 0;
    for (const char *line = text.c_str(); (line = std::strstr(line, "migrate from=")); ++line, ++moves) {
        ASSERT_EQ(std::sscanf(line, "migrate from=%u to=%u", &from, &to), 2);
        EXPECT_LT(from >> 9, to >> 9);            // the scanners meet in one pageblock at last
    }
    EXPECT_GT(moves, 1000u);
    EXPECT_EQ(moves, p.moved);
    const struct zone &zone = p.memory.p.zones[PHYS_DMA32];
    EXPECT_GT(zone.blocks[9] + 2 * zone.blocks[10], 2u);
    right();
}

// Found by a run of 6.12: the last pages of a block are freed by the drain at the end of a step. Linux looks for a captured block before
// the drain only, so the run moves pages of one more pageblock.
TEST_F(Comb, ABlockThatTheDrainFreesIsNoticedAfterTheNextStep) {
    uint32_t captured = PHYS_NO_FRAME;
    const std::string text = decisions_of(
        p.memory.p, [&] { compact_direct(&p.system.compact, 9, PHYS_MOVABLE, COMPACT_LIGHT, PHYS_NORMAL, PHYS_MARK_MIN, 0, &captured); });
    ASSERT_NE(captured, PHYS_NO_FRAME);
    unsigned from = 0, to, scanned, taken, last = 0;
    for (const char *line = text.c_str(); (line = std::strstr(line, "isolate from=")); ++line)
        if (std::sscanf(line, "isolate from=%u to=%u scanned=%u taken=%u", &from, &to, &scanned, &taken) == 4 && taken > 0) last = from;
    EXPECT_NE(last >> 9, captured >> 9) << text;
    struct error error;
    EXPECT_TRUE(phys_free(&p.memory.p, captured, 9, 0, &error));
    right();
}

TEST_F(Comb, AnAsynchronousRunGivesUpOnBlocksWithAFixedPage) {
    // Every page is locked but those of the first frames: nothing can be emptied, so nothing moves.
    for (uint64_t i = 1; i < pages; i += 64) lru_set(&p.system.lru, p.frame_of(at + i), LRU_LOCKED);
    uint32_t captured;
    const auto result = compact_direct(&p.system.compact, 9, PHYS_MOVABLE, COMPACT_ASYNC, PHYS_NORMAL, PHYS_MARK_MIN, 0, &captured);
    EXPECT_NE(result, COMPACT_SUCCESS);
    EXPECT_EQ(captured, PHYS_NO_FRAME);
    EXPECT_EQ(p.system.compact.zone[PHYS_DMA32].defer_shift, 0u);   // asynchronous failures defer nothing
    for (uint64_t i = 1; i < pages; i += 64) lru_clear(&p.system.lru, p.frame_of(at + i), LRU_LOCKED);
    right();
}

// Found by a run of 6.12: __isolate_free_page moves the other free blocks of the pageblock to the tails of their lists when it takes half
// of the pageblock, even if the pageblock is movable already.
TEST(Target, HalfAPageblockSendsItsOtherFreeBlocksToTheTails) {
    Pressure p{settings_of(THP_NEVER), 64 * mib, 8192};
    struct phys &phys = p.memory.p;
    struct zone &zone = phys.zones[PHYS_DMA32];
    std::vector<uint32_t> blocks;
    for (uint32_t frame; (frame = p.memory.alloc(9)) != PHYS_NO_FRAME;)
        if (frame >= zone.start_frame) blocks.push_back(frame);
    std::sort(blocks.begin(), blocks.end());
    ASSERT_GT(blocks.size(), 12u);
    const uint32_t half = blocks[blocks.size() - 2], other = blocks[blocks.size() - 4];
    struct error error;
    for (const uint32_t frame : {half, other}) ASSERT_TRUE(phys_split_used(&phys, frame, 0, &error));
    for (size_t i = 0; i < 8; ++i) ASSERT_TRUE(p.memory.release(blocks[i], 9));      // above the min mark
    for (uint32_t frame = half + 256; frame < half + 512; ++frame) ASSERT_TRUE(p.memory.release(frame));
    for (const uint32_t frame : {other, half}) {
        percpu_drain_all(&phys, 0);
        ASSERT_TRUE(p.memory.release(frame));
    }
    percpu_drain_all(&phys, 0);
    const uint32_t list = free_list(&zone, 0, PHYS_MOVABLE);
    ASSERT_EQ(list_last(phys.frames.links, list), other);
    ASSERT_EQ(list_first(phys.frames.links, list), half);
    struct run run = {};
    run.compact = &p.system.compact;
    run.zone = &zone;
    run.state = &p.system.compact.zone[PHYS_DMA32];
    run.order = 9;
    run.search_order = 9;
    run.type = PHYS_MOVABLE;
    run.mode = COMPACT_MODE_LIGHT;
    run.direct = true;
    run.migrate_at = zone.start_frame;
    run.free_at = block_start(zone_end(&zone) - 1, 9);
    run.migrating = 1;
    run_find_free(&run);
    ASSERT_EQ(run.free_frames, 256u);
    EXPECT_EQ(run.free_block[8][0], half + 256);
    EXPECT_EQ(list_last(phys.frames.links, list), half);
    EXPECT_EQ(list_first(phys.frames.links, list), other);
    EXPECT_TRUE(phys_free(&phys, half + 256, 8, 0, &error));
    std::free(run.free_block[8]);
}

TEST(Deferral, SkipsOneThreeSevenRequests) {
    Pressure p(settings_of(THP_NEVER), 64 * mib);
    p.use_up_blocks();                            // each block of 2MB keeps one frame that cannot move
    uint32_t captured;
    std::vector<int> skipped{0};
    for (int i = 0; i < 15; ++i) {
        const auto result = compact_direct(&p.system.compact, 9, PHYS_MOVABLE, COMPACT_LIGHT, PHYS_DMA32, PHYS_MARK_MIN, 0, &captured);
        ASSERT_NE(result, COMPACT_SUCCESS);
        if (p.system.compact.zone[PHYS_DMA32].considered == 0) skipped.push_back(0);
        else ++skipped.back();
    }
    ASSERT_GE(skipped.size(), 4u);
    EXPECT_EQ(skipped[0], 0);
    EXPECT_EQ(skipped[1], 1);
    EXPECT_EQ(skipped[2], 3);
    EXPECT_EQ(skipped[3], 7);
}

TEST(Suitable, NeedsMemoryThatIsFragmentedNotShort) {
    Memory memory = Memory::pc(64 * mib);
    struct lru lru;
    struct compact compact;
    lru_create(&lru, &memory.p);
    compact_create(&compact, &lru);
    struct zone &zone = memory.p.zones[PHYS_DMA32];
    const auto free_of = [&](uint32_t blocks0, uint32_t blocks8) {
        for (uint32_t &blocks : zone.blocks) blocks = 0;
        zone.blocks[0] = blocks0, zone.blocks[8] = blocks8;
        zone.free_frames = blocks0 + 256 * blocks8;
    };
    const int64_t low = zone_mark(&zone, PHYS_MARK_LOW) + 2 * 512;
    free_of(static_cast<uint32_t>(low), 0);      // not above low + 1024 frames
    EXPECT_FALSE(compact_suitable(&compact, &zone, 9, PHYS_DMA32));
    free_of(static_cast<uint32_t>(low) + 1, 0);
    EXPECT_TRUE(compact_suitable(&compact, &zone, 9, PHYS_DMA32));
    // 1000 - (1000 + 1000 x 2 x 256 x n / 512) / blocks: with n blocks of order 8 only, 1000 - (1000 + 500 n) / n = 500 - 1000 / n: short.
    free_of(0, static_cast<uint32_t>(low) / 256 + 1);
    EXPECT_FALSE(compact_suitable(&compact, &zone, 9, PHYS_DMA32));
    compact_destroy(&compact);
    lru_destroy(&lru);
}

}  // namespace
