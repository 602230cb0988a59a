// branch_test.cpp - which branches are mispredicted: the unit's stack and table by hand, predictors on patterns with known results.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/woven.h"
#include "branch/redirects.h"
#include "mmu/components.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

using enum trace::BranchKind;

Platform unit_platform(uint64_t stack, uint64_t targets) {
    Platform p = haswell();
    p.branch_predictor = "gshare";
    p.return_stack_entries = stack, p.target_entries = targets;
    return p;
}

/// Calls from `depth` nested functions and returns from all; how many returns are wrong.
unsigned wrong_returns(BranchUnit& unit, unsigned depth) {
    for (uint64_t i = 0; i < depth; ++i) EXPECT_FALSE(unit.mispredicted({call, 0x1000 * i, 0x1000 * i + 5}, 0x1000 * (i + 1)));
    unsigned wrong = 0;
    for (uint64_t i = depth; i-- > 0;) wrong += unit.mispredicted({ret, 0x1000 * (i + 1) + 40, 0x1000 * (i + 1) + 41}, 0x1000 * i + 5);
    return wrong;
}

TEST(BranchUnit, EndOfABlockIsItsLastInstructionIfThatIsABranch) {
    trace::StaticBlock block;
    block.pc = 0x400;
    EXPECT_EQ(block_end(block).kind, none);
    block.insns = {insn(trace::InsnKind::alu, 0, 0), insn(trace::InsnKind::alu, 0, 0)};
    block.insns[0].length_bytes = 3, block.insns[1].length_bytes = 2;
    EXPECT_EQ(block_end(block).kind, none);
    block.insns[1].branch = conditional;
    EXPECT_EQ(block_end(block).kind, conditional);
    EXPECT_EQ(block_end(block).pc, 0x403u);
    EXPECT_EQ(block_end(block).fall_through, 0x405u);
}

TEST(BranchUnit, AStackOfNHoldsNCallsAndLosesTheOldest) {
    for (const uint64_t n : {1u, 2u, 5u, 16u}) {
        BranchUnit unit(unit_platform(n, 0));
        EXPECT_EQ(wrong_returns(unit, unsigned(n)), 0u) << n;
        EXPECT_EQ(wrong_returns(unit, unsigned(n) + 1), 1u) << n;
        EXPECT_EQ(wrong_returns(unit, unsigned(n) + 3), 3u) << n;
        EXPECT_EQ(wrong_returns(unit, unsigned(n)), 0u) << n;
    }
}

TEST(BranchUnit, AnEmptyStackIsWrongAndNoStackIsRight) {
    BranchUnit with(unit_platform(4, 0)), without(unit_platform(0, 0));
    EXPECT_TRUE(with.mispredicted({ret, 0x10, 0x11}, 0x77));
    EXPECT_FALSE(without.mispredicted({ret, 0x10, 0x11}, 0x77));
    EXPECT_EQ(wrong_returns(without, 40), 0u);
}

TEST(BranchUnit, AReturnThatGoesElsewhereIsWrong) {
    BranchUnit unit(unit_platform(4, 0));
    unit.mispredicted({call, 0x100, 0x105}, 0x900);
    EXPECT_TRUE(unit.mispredicted({ret, 0x940, 0x941}, 0x106));
}

TEST(BranchUnit, AnIndirectCallIsPushedToo) {
    BranchUnit unit(unit_platform(4, 0));
    EXPECT_FALSE(unit.mispredicted({indirect_call, 0x100, 0x102}, 0x900));
    EXPECT_FALSE(unit.mispredicted({ret, 0x940, 0x941}, 0x102));
}

TEST(BranchUnit, IndirectBranchesGoWhereTheyWentLastTime) {
    BranchUnit unit(unit_platform(0, 4));
    const BlockEnd jump_a{indirect_jump, 0x100, 0x102}, jump_b{indirect_jump, 0x101, 0x103}, same_row{indirect_jump, 0x104, 0x106};
    EXPECT_TRUE(unit.mispredicted(jump_a, 0x500));   // never seen
    EXPECT_FALSE(unit.mispredicted(jump_a, 0x500));
    EXPECT_TRUE(unit.mispredicted(jump_a, 0x600));   // another target
    EXPECT_TRUE(unit.mispredicted(jump_b, 0x600));   // a row of its own
    EXPECT_FALSE(unit.mispredicted(jump_a, 0x600));
    EXPECT_TRUE(unit.mispredicted(same_row, 0x600)); // 0x104 mod 4 = 0x100 mod 4
    EXPECT_TRUE(unit.mispredicted(jump_a, 0x600));   // pushed out
    EXPECT_FALSE(unit.mispredicted(jump_b, 0x600));
    BranchUnit without(unit_platform(0, 0));
    EXPECT_FALSE(without.mispredicted(jump_a, 0x500));
}

TEST(BranchUnit, JumpsAndCallsAreRightAndPerfectIsAlwaysRight) {
    BranchUnit unit(unit_platform(1, 1));
    Platform p = unit_platform(1, 1);
    p.branch_predictor = "perfect";
    BranchUnit perfect(p);
    EXPECT_TRUE(unit.exists());
    EXPECT_FALSE(perfect.exists());
    std::mt19937_64 random(5);
    for (int i = 0; i < 5000; ++i) {
        const BlockEnd end{static_cast<trace::BranchKind>(random() % 7), random() % 512, random() % 512};
        const uint64_t next = random() % 512;
        EXPECT_FALSE(perfect.mispredicted(end, next));
        const bool wrong = unit.mispredicted(end, next);
        const bool always_right = end.kind == none || end.kind == jump || end.kind == call;
        EXPECT_FALSE(wrong && always_right);
    }
}

TEST(BranchUnit, ABlockWithoutABranchPredictsNothing) {
    BranchUnit unit(unit_platform(4, 4));
    for (int i = 0; i < 10; ++i) EXPECT_FALSE(unit.mispredicted({}, uint64_t(i)));
}

TEST(BranchUnit, AConditionalBranchIsTakenIfTheNextBlockIsNotBehindIt) {
    BranchUnit unit(unit_platform(4, 4));
    // gshare's counters start at 1: not taken is right at once, taken is wrong at first.
    EXPECT_FALSE(unit.mispredicted({conditional, 0x10, 0x12}, 0x12));
    EXPECT_TRUE(unit.mispredicted({conditional, 0x99, 0x9b}, 0x12));
}

/// By hand: a branch is judged by the program's next block, not across a gap; empty and woven blocks are none.
TEST(Redirects, JudgeABranchByTheNextBlockOfTheProgram) {
    std::vector<trace::StaticBlock> blocks(5);
    const uint64_t pcs[] = {0x1000, 0x2000, 0x2800, woven_pc, 0x3000};
    for (size_t i = 0; i < blocks.size(); ++i) {
        blocks[i].pc = pcs[i];
        if (i != 2) blocks[i].insns = {insn(trace::InsnKind::alu, 0, 0)};
    }
    blocks[0].insns[0].branch = indirect_jump;  // wrong if it goes elsewhere than last time
    Redirects redirects(unit_platform(4, 4), blocks);
    const auto enter = [&](std::initializer_list<uint32_t> ids) {
        std::vector<bool> wrong;
        for (const uint32_t id : ids) wrong.push_back(redirects.enter(id));
        return wrong;
    };
    EXPECT_EQ(enter({0, 1}), (std::vector{false, true}));
    EXPECT_EQ(enter({0, 2, 3, 1}), (std::vector{false, false, false, false}));
    EXPECT_EQ(enter({0, 4}), (std::vector{false, true}));
    EXPECT_EQ(enter({0}), (std::vector{false}));
    redirects.forget();
    EXPECT_EQ(enter({1, 0, 4}), (std::vector{false, false, false}));  // the jump over the gap, to 1, was not seen
    EXPECT_FALSE(Redirects(haswell(), blocks).exist());
}

/// Wrong predictions among the last `judged` of `outcomes`, of one branch.
unsigned wrong_of(Predictor& predictor, const std::vector<bool>& outcomes, size_t judged, uint64_t pc = 0x4005d0) {
    unsigned wrong = 0;
    for (size_t i = 0; i < outcomes.size(); ++i) {
        const bool predicted = predictor.conditional(pc, outcomes[i]);
        wrong += i + judged >= outcomes.size() && predicted != outcomes[i];
    }
    return wrong;
}

std::vector<bool> repeated(const std::vector<bool>& pattern, size_t total) {
    std::vector<bool> all;
    while (all.size() < total) all.push_back(pattern[all.size() % pattern.size()]);
    return all;
}

/// `n` iterations of a loop whose branch closes it: n - 1 times taken, then not.
std::vector<bool> loop_of(size_t n) {
    std::vector<bool> pattern(n, true);
    pattern.back() = false;
    return pattern;
}

std::unique_ptr<Predictor> gshare(uint64_t log2_entries, uint64_t history_bits) {
    return predictors().make(Chosen("gshare", {{"log2_entries", log2_entries}, {"history_bits", history_bits}}));
}

TEST(Gshare, WithoutHistoryItIsACounterOfTwoBits) {
    const auto p = gshare(4, 0);
    std::vector<bool> said;
    for (const bool taken : {true, true, true, true, false, false, false, false, true}) said.push_back(p->conditional(0, taken));
    // The counter before each: 1 2 3 3 3 2 1 0 0.
    EXPECT_EQ(said, (std::vector<bool>{false, true, true, true, true, true, false, false, false}));
}

TEST(Gshare, AlwaysTakenIsWrongOnceForEachHistoryThatGrows) {
    for (const uint64_t bits : {0u, 1u, 5u, 12u}) {
        // Histories 0, 1, 11, ... each find their own counter at 1; once all ones, the counter is at 2 or more.
        EXPECT_EQ(wrong_of(*gshare(12, bits), std::vector<bool>(1000, true), 1000), bits + 1) << bits;
        EXPECT_EQ(wrong_of(*gshare(12, bits), std::vector<bool>(1000, false), 1000), 0u) << bits;
    }
}

TEST(Gshare, LoopsAreLearnedIfTheHistoryHoldsAllIterationsButOne) {
    for (const uint64_t bits : {1u, 3u, 8u}) {
        EXPECT_EQ(wrong_of(*gshare(12, bits), repeated(loop_of(bits + 1), 4000), 1000), 0u) << bits;
        // One more: the history is all ones before the last two iterations, taken and not taken. The counter that they share
        // starts at 1 and goes 2, 1, 2, 1: both are wrong each time.
        EXPECT_EQ(wrong_of(*gshare(12, bits), repeated(loop_of(bits + 2), 40 * (bits + 2)), 10 * (bits + 2)), 20u) << bits;
    }
}

TEST(Gshare, APatternWhoseEveryPeriodFitsTheHistoryIsLearned) {
    std::mt19937_64 random(11);
    for (const uint64_t bits : {2u, 6u, 12u})
        for (uint64_t period = 1; period <= bits; ++period) {
            std::vector<bool> pattern;
            for (uint64_t i = 0; i < period; ++i) pattern.push_back(random() & 1);
            EXPECT_EQ(wrong_of(*gshare(12, bits), repeated(pattern, 4000), 1000), 0u) << bits << " " << period;
        }
}

TEST(Gshare, BranchesOfOneCounterDisturbEachOther) {
    const auto p = gshare(4, 0);
    // (pc ^ pc >> 4) mod 16: 0x3 and 0x12 are 3 both. One always taken, one never: the counter goes 1 2 1 2, all wrong.
    unsigned wrong = 0;
    for (int i = 0; i < 100; ++i) wrong += !p->conditional(0x3, true), wrong += p->conditional(0x12, false);
    EXPECT_EQ(wrong, 200u);
}

TEST(Gshare, MoreHistoryThanIndexIsRefused) {
    EXPECT_THROW(gshare(4, 5), Refusal);
    Platform p = haswell();
    p.branch_predictor = Chosen("gshare", {{"log2_entries", 4}, {"history_bits", 5}});
    EXPECT_THROW(check_components(p), Refusal);
}

class BothPredictors : public ::testing::TestWithParam<std::string> {
protected:
    std::unique_ptr<Predictor> make() { return predictors().make(GetParam()); }
};

TEST_P(BothPredictors, AConstantBranchIsSoonRight) {
    for (const bool taken : {false, true}) EXPECT_LE(wrong_of(*make(), std::vector<bool>(2000, taken), 2000), 13u);
}

TEST_P(BothPredictors, AlternationAndShortLoopsAreLearned) {
    for (const size_t n : {2u, 3u, 7u, 12u}) EXPECT_EQ(wrong_of(*make(), repeated(loop_of(n), 6000), 600), 0u) << n;
}

TEST_P(BothPredictors, RandomOutcomesAreHalfWrong) {
    std::mt19937_64 random(3);
    std::vector<bool> outcomes;
    for (int i = 0; i < 100000; ++i) outcomes.push_back(random() >> 63);
    const auto p = make();
    EXPECT_NEAR(wrong_of(*p, outcomes, 80000) / 80000.0, 0.5, 0.02);
}

TEST_P(BothPredictors, ABranchThatRepeatsAnotherIsLearned) {
    std::mt19937_64 random(4);
    const auto p = make();
    unsigned first = 0, second = 0;
    for (int i = 0; i < 20000; ++i) {
        const bool taken = random() >> 63;
        const bool said = p->conditional(0x401000, taken), again = p->conditional(0x401021, taken);
        if (i >= 10000) first += said != taken, second += again != taken;
    }
    EXPECT_GT(first, 4500u);
    EXPECT_LT(second, 1000u);  // the youngest outcome tells it
}

TEST_P(BothPredictors, AnyPcsAndOutcomesWorkAndRepeat) {
    for (uint64_t seed = 0; seed < 4; ++seed) {
        const auto a = make(), b = make();
        std::mt19937_64 random(seed);
        for (int i = 0; i < 300000; ++i) {
            const uint64_t pc = seed % 2 ? random() : 0x400000 + random() % 4096;
            const uint64_t r = random();
            if (r % 7 == 0) a->unconditional(pc, r), b->unconditional(pc, r);
            else ASSERT_EQ(a->conditional(pc, r >> 63), b->conditional(pc, r >> 63));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, BothPredictors, ::testing::Values("gshare", "tage"));

}  // namespace
}  // namespace tessera::sim::testing
