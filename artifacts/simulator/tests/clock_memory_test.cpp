// clock_memory_test.cpp - prefetches, transfer rate, channels, banks and rows: runtimes worked out by hand (docs/clock.md has the rules).
#include "engine/dram.h"
#include "support/clock_script.h"

namespace tessera::sim::testing {
namespace {

using trace::InsnKind;
using Accesses = std::vector<AccessOutcome>;

constexpr uint64_t reg(unsigned r) { return uint64_t{1} << r; }

enum Blocks : uint32_t { load, chase, divide, load_after_divide };

std::vector<trace::StaticBlock> blocks() {
    const std::vector<trace::MemorySlot> one = {{0, 0, 8}};
    return {{0, {{reg(2), reg(5), reg(2), InsnKind::load, 1, 4}}, one},
            {0, {{reg(1), reg(1), reg(1), InsnKind::load, 1, 4}}, one},
            {0, {{reg(3), reg(3), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{reg(3), reg(6), reg(3), InsnKind::load, 1, 4}}, one}};
}

Platform wide() {
    Platform p = round_numbers();
    p.dispatch_width = 16;  // all of a test's instructions enter in cycle 0
    return p;
}

AccessOutcome line(uint64_t n, MemoryLevel level) {
    AccessOutcome a;
    a.address = VirtAddr(n * 64);
    a.physical = PhysAddr(n * 64);
    a.level = level;
    return a;
}

PrefetchRequest asked(uint64_t n, bool into_l1d, MemoryLevel level) { return {VirtAddr(n * 64), PhysAddr(n * 64), into_l1d, level}; }

AccessOutcome with(AccessOutcome access, std::vector<PrefetchRequest> prefetches) {
    access.prefetches = std::move(prefetches);
    return access;
}

uint64_t run_all(const Platform& p, uint32_t block, const Accesses& accesses) {
    ClockScript script(p, blocks());
    for (const AccessOutcome& a : accesses) script.run(block, {a});
    return script.cycles();
}

constexpr MemoryLevel l1d = MemoryLevel::l1d, l2 = MemoryLevel::l2, l3 = MemoryLevel::l3, dram = MemoryLevel::dram;

TEST(ClockPrefetch, ADemandAccessWaitsForALineOnItsWay) {
    EXPECT_EQ(run_all(wide(), load, {with(line(0, l1d), {asked(1, true, dram)}), line(1, l1d)}), 200u);
    EXPECT_EQ(run_all(wide(), load, {with(line(0, l1d), {asked(1, true, l2)}), line(1, l1d)}), 12u);
    EXPECT_EQ(run_all(wide(), load, {with(line(0, l1d), {asked(1, true, l1d)}), line(1, l1d)}), 4u);
    EXPECT_EQ(run_all(wide(), load, {with(line(0, l1d), {asked(1, false, dram)}), line(1, l2)}), 200u);
    EXPECT_EQ(run_all(wide(), load, {with(line(0, l1d), {asked(1, false, l3)}), line(1, l2)}), 40u);
    EXPECT_EQ(run_all(wide(), load, {with(line(0, l1d), {asked(1, false, dram)}), line(1, l1d)}), 4u)
        << "what is in L1D does not wait for a prefetch into L2";
}

TEST(ClockPrefetch, OneThatIsEarlyEnoughHidesTheMiss) {
    // Ten chased L2 hits are 120 cycles; the prefetch from L3 has arrived after 40.
    Accesses accesses = {with(line(100, l2), {asked(1, true, l3)})};
    for (uint64_t i = 1; i < 10; ++i) accesses.push_back(line(100 + i, l2));
    accesses.push_back(line(1, l1d));
    EXPECT_EQ(run_all(wide(), chase, accesses), 124u);
}

TEST(ClockPrefetch, GoesOutWhenItsAccessIsTranslated) {
    AccessOutcome walks = with(line(0, l1d), {asked(1, true, l3)});
    walks.translation = Translation::miss;
    walks.walk = Cycles(30);
    EXPECT_EQ(run_all(wide(), load, {walks, line(64 + 1, l1d)}), 7u + 30 + 4);  // another page: line 65 takes line 1's slot
    ClockScript script(wide(), blocks());
    script.run(load, {walks});
    AccessOutcome late = line(1, l1d);
    script.run(load, {late});
    EXPECT_EQ(script.cycles(), 7u + 30 + 40);
}

TEST(ClockPrefetch, IntoL1dTakesAnMshrThatIsFreeAndElseWaitsWithoutOne) {
    Platform p = wide();
    p.mshrs = 1;
    EXPECT_EQ(run_all(p, load, {with(line(0, l1d), {asked(1, true, l3)}), line(2, l2)}),
              40u + 12);  // the miss waits for the prefetch's MSHR
    EXPECT_EQ(run_all(p, load, {with(line(0, l1d), {asked(1, false, l3)}), line(2, l2)}), 12u);      // into L2: none
    EXPECT_EQ(run_all(p, load, {with(line(0, dram), {asked(1, true, l3)}), line(1, l1d)}), 240u);    // waits for line 0's MSHR
    EXPECT_EQ(run_all(p, load, {with(line(0, dram), {asked(1, true, l3)}), line(2, l2)}), 212u);     // and does not hold it then
}

TEST(ClockMemory, LinesLeaveMemoryOneByOne) {
    Platform p = wide();
    p.memory_cycles_per_line = 5;
    EXPECT_EQ(run_all(p, load, {line(0, dram), line(1, dram), line(2, dram), line(3, l3), line(4, dram)}), 200u + 3 * 5);
}

TEST(ClockMemory, AnAddressThatComesLateHoldsNobodyUp) {
    Platform p = wide();
    p.memory_cycles_per_line = 5;
    ClockScript script(p, blocks());
    script.run(divide);                              // 100 cycles
    script.run(load_after_divide, {line(0, dram)});  // 100 + 200, first in line for memory
    script.run(chase, {line(1, dram)});              // 5 + 200: the slot after it, not after cycle 100
    script.run(chase, {line(2, dram)});              // 205 + 200
    EXPECT_EQ(script.cycles(), 405u);
}

TEST(ClockMemory, PrefetchesQueueThirtyTwoDeepAtMost) {
    for (const uint64_t prefetches : {10, 31, 32, 33, 60}) {
        Platform p = wide();
        p.memory_cycles_per_line = 5;
        AccessOutcome first = line(0, l1d);
        for (uint64_t i = 0; i < prefetches; ++i) first.prefetches.push_back(asked(100 + i, false, dram));
        EXPECT_EQ(run_all(p, load, {first, line(1, dram)}), 5 * std::min<uint64_t>(prefetches, 32) + 200) << prefetches;
        EXPECT_EQ(run_all(p, load, {first, line(100 + prefetches - 1, l2)}), 5 * std::min<uint64_t>(prefetches - 1, 32) + 200)
            << prefetches;
    }
}

/// Two lines a row, two banks a channel: lines 0,1 | 2,3 | 4,5 | 6,7 are bank 0 row 0, bank 1 row 0, bank 0 row 1, bank 1 row 1.
Platform rows() {
    Platform p = wide();
    p.dram = {1, 2, 128, 50, 60, 8};
    return p;
}

TEST(ClockDram, RowsHitMissAndConflict) {
    EXPECT_EQ(run_all(rows(), chase, {line(0, dram), line(1, dram), line(4, dram), line(2, dram), line(3, dram), line(5, dram)}),
              200u + 150 + 260 + 200 + 150 + 150);
    // Only memory's loads open rows.
    EXPECT_EQ(run_all(rows(), chase, {line(0, dram), line(1, l3), line(4, l2), line(1, dram)}), 200u + 40 + 12 + 150);
}

TEST(ClockDram, ABankIsBusyBetweenAccesses) {
    EXPECT_EQ(run_all(rows(), load, {line(0, dram), line(4, dram)}), 8u + 260);
    EXPECT_EQ(run_all(rows(), load, {line(0, dram), line(2, dram)}), 200u);
    EXPECT_EQ(run_all(rows(), load, {line(0, dram), line(4, dram), line(0, dram)}), 2u * 8 + 260);  // closed and opened again
}

TEST(ClockDram, ChannelsTransferSideBySide) {
    Platform p = rows();
    p.dram.channels = 2, p.memory_cycles_per_line = 5;  // ten cycles a line and channel
    EXPECT_EQ(run_all(p, load, {line(0, dram), line(1, dram)}), 200u);
    EXPECT_EQ(run_all(p, load, {line(0, dram), line(4, dram)}), 10u + 200);  // other banks of one channel
}

TEST(ClockDram, RowsFollowPhysicalAddresses) {
    AccessOutcome second = line(4, dram);
    second.physical = PhysAddr(1 * 64);
    EXPECT_EQ(run_all(rows(), chase, {line(0, dram), second}), 200u + 150);
    second.physical = PhysAddr((uint64_t{1} << 40) * 256);  // bank 0, a row whose low 32 bits are row 0's
    EXPECT_EQ(run_all(rows(), chase, {line(0, dram), second}), 200u + 260);
}

TEST(ClockDram, PrefetchesOpenRowsToo) {
    EXPECT_EQ(run_all(rows(), chase, {with(line(9, l3), {asked(0, false, dram)}), line(1, dram)}), 40u + 150);
}

TEST(ClockDram, PlacesAreChannelThenRowThenBank) {
    const Dram d{3, 5, 256, 0, 0, 0};
    const DramPlace place = dram_place(d, 1000);  // 1000 = 333 * 3 + 1; 333 / 4 = 83 = 16 * 5 + 3
    EXPECT_EQ(place.channel, 1u);
    EXPECT_EQ(place.bank, 1u * 5 + 3);
    EXPECT_EQ(place.row, 16u);
}

}  // namespace
}  // namespace tessera::sim::testing
