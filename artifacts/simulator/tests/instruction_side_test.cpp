// instruction_side_test.cpp - which code pages are looked up, and H, M and walk cycles of the instruction side by hand.
#include <gtest/gtest.h>

#include "mmu/instruction_side.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

Platform with_itlb(uint64_t entries) {
    Platform p = haswell();
    p.l1i = {entries, entries};
    return p;
}

std::vector<uint64_t> missed(InstructionSide& side, uint64_t pc, uint64_t bytes) {
    std::vector<uint64_t> pages;
    side.execute(pc, bytes, [&](VirtAddr page) { pages.push_back(page.value >> 12); });
    return pages;
}

TEST(InstructionSide, LooksUpEachPageThatTheBytesOverlap) {
    InstructionSide side(with_itlb(8));
    EXPECT_EQ(missed(side, 0x400ff0, 16), (std::vector<uint64_t>{0x400}));
    EXPECT_EQ(missed(side, 0x400ff0, 17), (std::vector<uint64_t>{0x401}));
    EXPECT_EQ(missed(side, 0x402fff, 4098), (std::vector<uint64_t>{0x402, 0x403, 0x404}));
    EXPECT_EQ(missed(side, 0x400000, 4), (std::vector<uint64_t>{}));
}

TEST(InstructionSide, ThePageLookedUpLastIsNotLookedUpAgain) {
    InstructionSide side(with_itlb(2));
    missed(side, 0x1000, 4), missed(side, 0x2000, 4);
    missed(side, 0x2004, 4);                    // no look-up; with LRU it would change nothing
    missed(side, 0x1000, 4);
    EXPECT_EQ(missed(side, 0x3000, 4), (std::vector<uint64_t>{3}));  // takes the place of page 2
    EXPECT_EQ(missed(side, 0x1000, 4), (std::vector<uint64_t>{}));
    EXPECT_EQ(missed(side, 0x2000, 4), (std::vector<uint64_t>{2}));
}

TEST(InstructionSide, ABlockWithoutLengthsIsOneByte) {
    trace::StaticBlock block;
    block.insns = {insn(trace::InsnKind::alu, 0, 0), insn(trace::InsnKind::alu, 0, 0)};
    EXPECT_EQ(InstructionSide::bytes_of_block(block), 8u);
    for (auto& i : block.insns) i.length_bytes = 0;
    EXPECT_EQ(InstructionSide::bytes_of_block(block), 1u);
}

TEST(InstructionSide, WithoutEntriesNothingIsLookedUp) {
    InstructionSide side(haswell());
    EXPECT_FALSE(side.exists());
    EXPECT_EQ(missed(side, 0x1000, 9000), (std::vector<uint64_t>{}));
}

class OnEngines : public ::testing::TestWithParam<const char*> {};

// Three code pages in turn through a two-entry ITLB: each look-up misses it, the STLB serves all but the first round.
TEST_P(OnEngines, CountsInstructionsApartFromData) {
    StreamBuilder builder;
    std::vector<uint32_t> blocks;
    for (int i = 0; i < 33; ++i)  // 256 bytes apart: pages 0x400, 0x401, 0x402
        blocks.push_back(builder.block({insn(trace::InsnKind::alu, reg(1), reg(1))}, {}));
    for (int round = 0; round < 10; ++round)
        for (int page = 0; page < 3; ++page) builder.run(blocks[size_t(page) * 16], {}, {});
    MemoryStream stream = builder.finish();
    const Platform p = with_itlb(2);
    const LayoutCounts counts = simulate(GetParam(), p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.instruction_stlb_misses, 3u);
    EXPECT_EQ(counts.instruction_stlb_hits, 27u);
    // First walk: four loads from memory. Pages 0x401 and 0x402: one entry, in the line that the first walk loaded.
    EXPECT_EQ(counts.instruction_walk_cycles, 4 * p.memory_load_cycles + 2 * p.l1d.load_cycles);
    EXPECT_EQ(counts.stlb_misses + counts.stlb_hits + counts.units[0].walk_cycles, 0u);
    EXPECT_EQ(counts.walker, (std::array<uint64_t, 4>{}));
    const LayoutCounts off = simulate(GetParam(), haswell(), stream, {all_4kb()})[0];
    EXPECT_EQ(off.instruction_stlb_misses + off.instruction_stlb_hits + off.instruction_walk_cycles, 0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, OnEngines, ::testing::Values("reference", "partial", "timing"));

}  // namespace
}  // namespace tessera::sim::testing
