// clock_branch_test.cpp - what a mispredicted branch costs: runtimes worked out by hand (docs/clock.md has the rules).
#include "support/clock_script.h"

namespace tessera::sim::testing {
namespace {

using trace::BranchKind;
using trace::InsnKind;

constexpr uint64_t reg(unsigned r) { return uint64_t{1} << r; }

enum Blocks : uint32_t { nop, load, ret, ret_loaded, jump, empty };

/// A load writes r5, which the second return reads. The return stack is empty, so that all returns are mispredicted.
std::vector<trace::StaticBlock> blocks() {
    return {{0x1000, {{0, 0, 0, InsnKind::nop, 0, 4}}, {}},
            {0x2000, {{reg(2), reg(5), reg(2), InsnKind::load, 1, 4}}, {{0, 0, 8}}},
            {0x3000, {{0, 0, 0, InsnKind::branch, 0, 1, 0, BranchKind::ret}}, {}},
            {0x4000, {{reg(5), 0, 0, InsnKind::branch, 0, 1, 0, BranchKind::ret}}, {}},
            {0x5000, {{0, 0, 0, InsnKind::branch, 0, 2, 0, BranchKind::indirect_jump}}, {}},
            {0x6000, {}, {}}};
}

/// Refilling takes 20 cycles.
Platform predicting() {
    Platform p = round_numbers();
    p.branch_predictor = "gshare", p.branch_refill_cycles = 20, p.return_stack_entries = 1, p.target_entries = 4;
    return p;
}

AccessOutcome from_memory() {
    AccessOutcome a;
    a.address = VirtAddr(0x10000);
    a.level = MemoryLevel::dram;
    return a;
}

TEST(ClockBranch, NothingEntersBehindAMispredictedBranchUntilItIsResolved) {
    ClockScript script(predicting(), blocks());
    script.run(ret);
    script.run(nop);
    EXPECT_EQ(script.cycles(), 1u + 20);  // the return enters in cycle 0 and takes one
    script.run(nop);
    EXPECT_EQ(script.cycles(), 21u);  // the nop was no branch
}

TEST(ClockBranch, WithPerfectPredictionThereAreNone) {
    Platform p = predicting();
    p.branch_predictor = "perfect";
    ClockScript script(p, blocks());
    for (int i = 0; i < 5; ++i) script.run(ret);
    EXPECT_EQ(script.cycles(), 2u);  // five enter at four a cycle, and take one
}

TEST(ClockBranch, WithoutRefillTheResolutionRemains) {
    Platform p = predicting();
    p.branch_refill_cycles = 0;
    ClockScript script(p, blocks());
    for (int i = 0; i < 5; ++i) script.run(ret);
    EXPECT_EQ(script.cycles(), 5u);
}

TEST(ClockBranch, ItIsResolvedWhenItsOperandsAreThere) {
    ClockScript script(predicting(), blocks());
    script.run(load, {from_memory()});
    script.run(ret_loaded);
    script.run(nop);
    EXPECT_EQ(script.cycles(), 200u + 1 + 20);
}

TEST(ClockBranch, AWalkIsExposed) {
    AccessOutcome access = from_memory();
    access.translation = Translation::miss;
    access.walk = Cycles(30);
    ClockScript script(predicting(), blocks());
    script.run(load, {access});
    script.run(ret_loaded);
    script.run(nop);
    EXPECT_EQ(script.cycles(), 7u + 30 + 200 + 1 + 20);
}

TEST(ClockBranch, CodePagesAreFetchedBehindTheRedirect) {
    ClockScript script(predicting(), blocks());
    script.run(ret);
    script.run(nop, {}, {{Translation::miss, Cycles(30), false}, {Translation::stlb_hit, Cycles(0), false}});
    EXPECT_EQ(script.cycles(), 1u + 20 + 7 + 30 + 7);
}

TEST(ClockBranch, ABranchThatWasLearntHoldsUpNothing) {
    ClockScript script(predicting(), blocks());
    for (int i = 0; i < 2; ++i) script.run(jump), script.run(nop);
    EXPECT_EQ(script.cycles(), 1u + 20 + 1);  // the first is wrong; the second enters in cycle 21, as does what follows it
}

TEST(ClockBranch, ABlockWithoutInstructionsChangesNothing) {
    ClockScript script(predicting(), blocks());
    script.run(ret), script.run(empty), script.run(nop);
    EXPECT_EQ(script.cycles(), 1u + 20);
}

TEST(ClockBranch, WarmPartsTrainWithoutTime) {
    ClockScript script(predicting(), blocks());
    script.warm(jump), script.warm(nop);
    EXPECT_EQ(script.cycles(), 0u);
    script.begin_unit();
    script.run(jump), script.run(nop);
    EXPECT_EQ(script.cycles(), 1u);
}

TEST(ClockBranch, GapsHaveNoBranches) {
    ClockScript script(predicting(), blocks());
    script.run(ret);
    script.skip();
    script.run(nop);
    EXPECT_EQ(script.cycles(), 1u);
    script.run(ret);
    script.begin_unit();
    script.run(nop);
    EXPECT_EQ(script.cycles(), 0u);
}

}  // namespace
}  // namespace tessera::sim::testing
