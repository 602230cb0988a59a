// clock_test.cpp - the window, its queues, translation and registers: runtimes worked out by hand (docs/clock.md has the rules).
#include "support/clock_script.h"

namespace tessera::sim::testing {
namespace {

using trace::InsnKind;
using Accesses = std::vector<AccessOutcome>;

constexpr uint64_t reg(unsigned r) { return uint64_t{1} << r; }

enum Blocks : uint32_t { nop, alu, divide, load, chase, store, divide_loaded };

/// One instruction each: registers r1 (load results), r2 (a constant address), r3 (the divider's result).
std::vector<trace::StaticBlock> blocks() {
    const std::vector<trace::MemorySlot> one = {{0, 0, 8}};
    return {{0, {{0, 0, 0, InsnKind::nop, 0, 4}}, {}},
            {0, {{reg(4), reg(4), 0, InsnKind::alu, 0, 4}}, {}},
            {0, {{reg(3), reg(3), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{reg(2), reg(5), reg(2), InsnKind::load, 1, 4}}, one},
            {0, {{reg(1), reg(1), reg(1), InsnKind::load, 1, 4}}, one},
            {0, {{reg(2), 0, reg(2), InsnKind::store, 1, 4}}, one},
            {0, {{reg(5), reg(3), 0, InsnKind::divide, 0, 4}}, {}}};
}

/// The n-th line of its own page, so that nothing is in flight for it.
AccessOutcome at(uint64_t n, MemoryLevel level, bool is_store = false) {
    AccessOutcome a;
    a.address = VirtAddr(n * 4096 + n % 64 * 64);
    a.physical = PhysAddr(a.address.value);
    a.level = level;
    a.is_store = is_store;
    return a;
}

AccessOutcome walking(uint64_t n, uint64_t cycles, bool missed_l1d = false) {
    AccessOutcome a = at(n, MemoryLevel::l1d);
    a.translation = Translation::miss;
    a.walk = Cycles(cycles);
    a.walk_missed_l1d = missed_l1d;
    return a;
}

uint64_t run_times(const Platform& p, uint32_t block, uint64_t count) {
    ClockScript script(p, blocks());
    for (uint64_t i = 0; i < count; ++i) script.run(block);
    return script.cycles();
}

uint64_t run_all(const Platform& p, uint32_t block, const Accesses& accesses) {
    ClockScript script(p, blocks());
    for (const AccessOutcome& a : accesses) script.run(block, {a});
    return script.cycles();
}

Accesses several(uint64_t count, MemoryLevel level, bool is_store = false) {
    Accesses all;
    for (uint64_t i = 0; i < count; ++i) all.push_back(at(i, level, is_store));
    return all;
}

TEST(ClockWindow, DispatchWidthInstructionsEnterACycle) {
    EXPECT_EQ(run_times(round_numbers(), nop, 100), 24u);  // the last enters in cycle 99 / 4 and takes no time
    Platform p = round_numbers();
    p.dispatch_width = 1;
    EXPECT_EQ(run_times(p, nop, 100), 99u);
}

TEST(ClockWindow, AFullReorderBufferWaitsForItsOldest) {
    Platform p = round_numbers();
    p.rob_entries = 8;
    ClockScript script(p, blocks());
    script.run(load, {at(0, MemoryLevel::dram)});
    for (int i = 0; i < 20; ++i) script.run(nop);
    EXPECT_EQ(script.cycles(), 203u);  // 7 enter behind the load; 13 more from cycle 200 on: 4 + 4 + 4 + 1
}

TEST(ClockWindow, LoadsNeedAQueueEntryUntilTheyComplete) {
    Platform p = round_numbers();
    p.load_queue_entries = 2;
    EXPECT_EQ(run_all(p, load, several(4, MemoryLevel::l3)), 80u);  // two at a time, 40 cycles each
    EXPECT_EQ(run_all(round_numbers(), load, several(4, MemoryLevel::l3)), 40u);
}

TEST(ClockWindow, StoresDrainInOrderBehindRetirement) {
    Platform p = round_numbers();
    p.store_buffer_entries = 1;
    EXPECT_EQ(run_all(p, store, several(10, MemoryLevel::l1d, true)), 36u);  // each enters when the one before is written: 4 cycles
    EXPECT_EQ(run_all(round_numbers(), store, several(10, MemoryLevel::l1d, true)), 2u);  // a store completes before it drains
}

TEST(ClockWindow, OnlyMshrsLimitIndependentMisses) {
    Platform p = round_numbers();
    p.mshrs = 2;
    EXPECT_EQ(run_all(p, load, several(6, MemoryLevel::l3)), 120u);  // three pairs
    EXPECT_EQ(run_all(round_numbers(), load, several(6, MemoryLevel::l3)), 41u);  // the last two enter a cycle later
}

TEST(ClockWindow, RegistersMakeChains) {
    EXPECT_EQ(run_all(round_numbers(), chase, several(10, MemoryLevel::l2)), 120u);
    EXPECT_EQ(run_all(round_numbers(), load, several(10, MemoryLevel::l2)), 14u);  // 9 / 4 + 12
    EXPECT_EQ(run_times(round_numbers(), divide, 3), 300u);
}

TEST(ClockWindow, WithoutOverlapTimesAddUp) {
    Platform p = round_numbers();
    p.overlap = 0;
    EXPECT_EQ(run_all(p, load, several(10, MemoryLevel::l2)), 120u);
    EXPECT_EQ(run_all(p, load, {walking(0, 30), walking(1, 30)}), 82u);             // (7 + 30 + 4) each
    EXPECT_EQ(run_all(p, store, several(10, MemoryLevel::l2, true)), 9u * 13);  // 12 and the cycle of the write; the last retires at once
    EXPECT_EQ(run_times(p, alu, 5), 5u);
}

TEST(ClockTranslation, AnStlbHitAddsItsTime) {
    AccessOutcome a = at(0, MemoryLevel::l1d);
    a.translation = Translation::stlb_hit;
    EXPECT_EQ(run_all(round_numbers(), load, {a}), 7u + 4);
}

TEST(ClockTranslation, WalksQueueForWalkers) {
    Platform p = round_numbers();
    const Accesses four = {walking(0, 30), walking(1, 30), walking(2, 30), walking(3, 30)};
    EXPECT_EQ(run_all(p, load, four), 7u + 4 * 30 + 4);
    p.walkers = 2;
    EXPECT_EQ(run_all(p, load, four), 7u + 2 * 30 + 4);
    for (const uint64_t enough : {4, 8, 0}) {  // 0: any number
        p.walkers = enough;
        EXPECT_EQ(run_all(p, load, four), 7u + 30 + 4) << enough << " walkers";
    }
}

/// A chain of three walks of 30 cycles, [7, 37], [48, 78], [89, 119], then an independent walk whose data is divided.
uint64_t behind_a_chain(uint64_t walk_cycles) {
    ClockScript script(round_numbers(), blocks());
    for (uint64_t i = 0; i < 3; ++i) script.run(chase, {walking(i, 30)});
    script.run(load, {walking(3, walk_cycles)});
    script.run(divide_loaded);
    return script.cycles();
}

TEST(ClockTranslation, AYoungerWalkGoesFirstWhereItFitsBetween) {
    EXPECT_EQ(behind_a_chain(11), 37u + 11 + 4 + 100);  // between the first two: 37 to 48
    EXPECT_EQ(behind_a_chain(12), 119u + 12 + 4 + 100);  // fits neither that nor 78 to 89
}

TEST(ClockTranslation, TheLastEightIdleIntervalsAreRemembered) {
    // A chain of n walks leaves n idle intervals, the first of 7 cycles, the others of 11 (walk ends, 4 for the data, 7 for the look-up).
    for (const uint64_t chain : {2, 8, 9, 10, 12}) {
        ClockScript script(round_numbers(), blocks());
        for (uint64_t i = 0; i < chain; ++i) script.run(chase, {walking(i, 30)});
        script.run(load, {walking(20, 11)});
        script.run(divide_loaded);
        const uint64_t first_remembered = chain <= 9 ? 1 : chain - 8;  // interval k, from 0, begins at 37 + 41 (k - 1)
        EXPECT_EQ(script.cycles(), std::max(37 + 41 * (first_remembered - 1) + 11 + 4 + 100, chain * 41)) << chain << " walks in the chain";
    }
}

TEST(ClockTranslation, AWalkBeyondL1dHoldsAnMshrWhereThePlatformSaysSo) {
    Platform p = round_numbers();
    p.walkers = 2, p.mshrs = 1;
    const Accesses beyond = {walking(0, 30, true), walking(1, 30, true)}, within = {walking(0, 30), walking(1, 30)};
    EXPECT_EQ(run_all(p, load, beyond), 41u);
    p.walker_uses_mshrs = 1;
    EXPECT_EQ(run_all(p, load, beyond), 71u);
    EXPECT_EQ(run_all(p, load, within), 41u);
    EXPECT_EQ(run_all(p, load, {walking(0, 30, true), at(1, MemoryLevel::l2)}), 7u + 30 + 12);  // the miss waits for the walk's MSHR
    EXPECT_EQ(run_all(p, load, {at(1, MemoryLevel::l2), walking(0, 30, true)}), 12u + 30 + 4);  // and the other way round
}

TEST(ClockTranslation, APageThatIsWalkedIsWaitedFor) {
    AccessOutcome same_page = walking(5, 30);
    same_page.translation = Translation::l1_hit;
    EXPECT_EQ(run_all(round_numbers(), load, {walking(5, 30), same_page}), 7u + 30 + 4);
    EXPECT_EQ(run_all(round_numbers(), load, {walking(5, 30), at(6, MemoryLevel::l1d), at(5 + 64, MemoryLevel::l1d), same_page}), 41u)
        << "the page has lost its slot to page 69";
}

TEST(ClockTranslation, ALineOnItsWayIsWaitedFor) {
    EXPECT_EQ(run_all(round_numbers(), load, {at(3, MemoryLevel::dram), at(3, MemoryLevel::l1d)}), 200u);
    EXPECT_EQ(run_all(round_numbers(), chase, {at(3, MemoryLevel::dram), at(3, MemoryLevel::l1d)}), 204u);
    EXPECT_EQ(run_all(round_numbers(), load, {at(3, MemoryLevel::dram), at(3, MemoryLevel::l2)}), 200u);  // evicted on its way
}

TEST(ClockFetch, NothingEntersWhileACodePageIsTranslated) {
    const FetchRequest hit{Translation::stlb_hit, Cycles(0), false}, miss{Translation::miss, Cycles(30), false};
    ClockScript one(round_numbers(), blocks()), two(round_numbers(), blocks());
    one.run(nop, {}, {hit});
    EXPECT_EQ(one.cycles(), 7u);
    two.run(nop, {}, {miss, hit});
    EXPECT_EQ(two.cycles(), 7u + 30 + 7);
}

TEST(ClockFetch, CodeAndDataShareWalkers) {
    for (const uint64_t walkers : {1, 2}) {
        Platform p = round_numbers();
        p.walkers = walkers;
        ClockScript script(p, blocks());
        script.run(load, {walking(0, 30)});
        script.run(nop, {}, {{Translation::miss, Cycles(30), false}});
        EXPECT_EQ(script.cycles(), walkers == 1 ? 67u : 41u);  // one walker: 7 + 30 + 30; two: the load is the last to end
    }
}

}  // namespace
}  // namespace tessera::sim::testing
