// clock_queues_test.cpp - walker loads in memory's queues (dram.queues_walks) and write-backs (cache.write_backs): runtimes worked
// out by hand.
#include "support/clock_script.h"
#include "support/engines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

using trace::InsnKind;
using Accesses = std::vector<AccessOutcome>;
using Lines = std::vector<LineNumber>;

enum Blocks : uint32_t { load, chase, divide, store, update };

std::vector<trace::StaticBlock> blocks() {
    const std::vector<trace::MemorySlot> one = {{0, 0, 8}};
    return {{0, {{reg(2), reg(5), reg(2), InsnKind::load, 1, 4}}, one},
            {0, {{reg(1), reg(1), reg(1), InsnKind::load, 1, 4}}, one},
            {0, {{reg(3), reg(3), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{reg(2), 0, reg(2), InsnKind::store, 1, 4}}, {{0, 1, 8}}},
            {0, {{reg(2), 0, reg(2), InsnKind::load_store, 2, 4}}, {{0, 0, 8}, {0, 1, 8}}}};
}

Platform wide() {
    Platform p = round_numbers();
    p.dispatch_width = 16;  // all of a test's instructions enter in cycle 0
    return p;
}

/// Two lines a row, two banks: lines 0,1 | 2,3 | 4,5 are bank 0 row 0, bank 1 row 0, bank 0 row 1. A load takes 200 cycles,
/// 150 from an open row, 260 from another's; a bank takes one in eight.
Platform rows() {
    Platform p = wide();
    p.dram = {1, 2, 128, 50, 60, 8};
    return p;
}

AccessOutcome from(uint64_t n, MemoryLevel level) {
    AccessOutcome a;
    a.address = VirtAddr(n * 4096);  // a page each, whose line slots differ
    a.physical = PhysAddr(n * 64);
    a.level = level;
    return a;
}

/// An L1D hit of page n, after a walk that takes 200 cycles for each of these lines.
AccessOutcome walks(uint64_t n, Lines lines) {
    AccessOutcome a = from(n, MemoryLevel::l1d);
    a.translation = Translation::miss;
    a.walk = Cycles(200 * lines.size());
    a.walk_missed_l1d = true;
    a.walk_lines = std::move(lines);
    return a;
}

uint64_t run_all(const Platform& p, uint32_t block, const Accesses& accesses) {
    ClockScript script(p, blocks());
    for (const AccessOutcome& a : accesses) script.run(block, {a});
    return script.cycles();
}

constexpr MemoryLevel dram = MemoryLevel::dram;
constexpr LineNumber l(uint64_t n) { return LineNumber(n); }

TEST(ClockWalkLoads, FindRowsOpenOrClosed) {
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0)})}), 7u + 200 + 4);  // as without queues
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0)}), walks(2, {l(1)})}), (7u + 200 + 4) + (7 + 150 + 4));
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0)}), walks(2, {l(4)})}), (7u + 200 + 4) + (7 + 260 + 4));
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0)}), from(1, dram)}), (7u + 200 + 4) + 150);  // the walk opened the data's row
    EXPECT_EQ(run_all(rows(), chase, {from(0, dram), walks(1, {l(1)})}), 200u + (7 + 150 + 4));
}

TEST(ClockWalkLoads, OfOneWalkFollowEachOther) {
    // The second finds its row open; it asks when the first has begun, at 7, and the bank is free at 8.
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0), l(1)})}), 7u + (200 + 1 + 150) + 4);
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0), l(4)})}), 7u + (200 + 1 + 260) + 4);
    EXPECT_EQ(run_all(rows(), chase, {walks(1, {l(0), l(2)})}), 7u + (200 + 200) + 4);  // another bank
}

/// Ten loads are booked for cycles 0, 5, ... 45, and the walk's load for 50; it was ready at 7.
TEST(ClockWalkLoads, QueueBehindTheProgramsLoads) {
    Platform p = wide();
    p.memory_cycles_per_line = 5;
    Accesses accesses;
    for (uint64_t n = 1; n <= 10; ++n) accesses.push_back(from(n, dram));
    Accesses one = accesses, two = accesses, none = accesses;
    none.push_back(walks(20, {}));
    none.back().walk = Cycles(200);
    one.push_back(walks(20, {l(0)}));
    two.push_back(walks(20, {l(0), l(1)}));
    EXPECT_EQ(run_all(p, load, none), 45u + 200);                        // 7 + 200 + 4 without queues
    EXPECT_EQ(run_all(p, load, one), 7u + (43 + 200) + 4);
    EXPECT_EQ(run_all(p, load, two), 7u + (43 + 200 + 5 + 200) + 4);     // the queue is waited for once
}

TEST(ClockWalkLoads, HoldUpTheProgramsLoads) {
    Platform p = wide();
    p.memory_cycles_per_line = 100;
    EXPECT_EQ(run_all(p, load, {walks(1, {l(0)}), from(2, dram)}), 100u + 200);  // booked from dispatch on, not from cycle 7
    p.walkers = 1, p.memory_cycles_per_line = 0;
    EXPECT_EQ(run_all(p, load, {walks(1, {l(0)}), walks(2, {l(1)})}), 7u + 200 + 200 + 4);
}

TEST(ClockWalkLoads, OfAWalkThatHoldsAnMshrAskWhenItIsFree) {
    Platform p = rows();
    p.mshrs = 1, p.walker_uses_mshrs = 1;
    EXPECT_EQ(run_all(p, load, {from(0, dram), walks(1, {l(1)})}), 200u + 150 + 4);
}

/// The fetch is asked for in cycle 0 and looked up until 7. The bank, which the data's load took, is free at 8.
TEST(ClockWalkLoads, OfCodePagesToo) {
    ClockScript script(rows(), blocks());
    script.run(load, {from(0, dram)});
    script.run(divide, {}, {{Translation::miss, Cycles(200), true, {l(1)}}});
    EXPECT_EQ(script.cycles(), 8u + 150 + 100);
}

TEST(ClockWalkLoads, ChangeRAndRowsAndNothingElseOnAnyEngine) {
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    std::mt19937_64 random(17);
    for (int i = 0; i < 3000; ++i) builder.load(block, heap_base + random() % (uint64_t{4} << 30));
    MemoryStream stream = builder.finish();
    Platform p = haswell();
    p.dram = {2, 8, 4096, 40, 50, 20};
    const LayoutCounts off = on_all_engines(p, stream, {all_4kb()})[0];
    p.dram_queues_walks = p.write_backs = 1;
    LayoutCounts on = on_all_engines(p, stream, {all_4kb(), all_of(PageSize::large_2mb, uint64_t{4} << 30)})[0];
    EXPECT_GT(off.walker[3], 3000u);  // cold leaves come from memory
    EXPECT_NE(on.units[0].runtime_cycles, off.units[0].runtime_cycles);
    EXPECT_NE(on.rows, off.rows);
    on.units[0].runtime_cycles = off.units[0].runtime_cycles, on.rows = off.rows;
    EXPECT_EQ(on, off);
}

AccessOutcome written(uint64_t n, MemoryLevel level) {
    AccessOutcome a = from(n, level);
    a.is_store = true;
    return a;
}

/// Loads and stores by what they are, all independent.
uint64_t run_each(const Platform& p, const Accesses& accesses) {
    ClockScript script(p, blocks());
    for (const AccessOutcome& a : accesses) script.run(a.is_store ? store : load, {a});
    return script.cycles();
}

Platform five_a_line(uint64_t write_backs = 1) {
    Platform p = wide();
    p.memory_cycles_per_line = 5;
    p.write_backs = write_backs;
    return p;
}

constexpr MemoryLevel l1d = MemoryLevel::l1d;

/// What the last load, which comes from memory, waits for.
uint64_t transfers_before_the_last(const Accesses& accesses) { return (run_each(five_a_line(), accesses) - 200) / 5; }

TEST(ClockWriteBacks, ALineFromMemoryThatIsWrittenTakesASecondTransfer) {
    EXPECT_EQ(run_each(five_a_line(0), {written(1, dram), from(2, dram)}), 5u + 200);
    EXPECT_EQ(run_each(five_a_line(), {written(1, dram), from(2, dram)}), 2u * 5 + 200);
    EXPECT_EQ(transfers_before_the_last({from(1, dram), written(1, l1d), from(2, dram)}), 2u);
    EXPECT_EQ(transfers_before_the_last({from(1, dram), written(1, l1d), written(1, l1d), from(2, dram)}), 2u);  // once
    EXPECT_EQ(transfers_before_the_last({from(1, dram), written(1, l1d), from(1, dram), written(1, l1d), from(2, dram)}),
              4u);  // it came again
    EXPECT_EQ(transfers_before_the_last({written(1, l1d), from(2, dram)}), 0u);  // it did not come from memory
    EXPECT_EQ(transfers_before_the_last({from(1, dram), from(1, l1d), from(2, dram)}), 1u);  // it is not written
}

TEST(ClockWriteBacks, LinesThatWerePrefetchedCount) {
    AccessOutcome first = from(1, l1d);
    first.prefetches = {{VirtAddr(4096 + 64), PhysAddr(64 * 2), false, dram}};
    EXPECT_EQ(transfers_before_the_last({first, written(2, l1d), from(9, dram)}), 2u);
    first.prefetches[0].level = MemoryLevel::l3;
    EXPECT_EQ(transfers_before_the_last({first, written(2, l1d), from(9, dram)}), 0u);
}

TEST(ClockWriteBacks, ALineOfTheSameSlotTakesThePlace) {
    EXPECT_EQ(transfers_before_the_last({from(1, dram), from(1 + 4096, dram), written(1, l1d), from(2, dram)}), 2u);
    EXPECT_EQ(transfers_before_the_last({from(1, dram), from(1 + 4096, dram), written(1 + 4096, l1d), from(2, dram)}), 3u);
    EXPECT_EQ(transfers_before_the_last({from(1, dram), from(2 + 4096, dram), written(1, l1d), from(2, dram)}), 3u);
}

TEST(ClockWriteBacks, BanksAreBusyAndRowsStay) {
    Platform p = rows();
    p.write_backs = 1;
    EXPECT_EQ(run_each(p, {from(0, dram), written(0, l1d), from(4, dram)}), 2u * 8 + 260);
    EXPECT_EQ(run_each(p, {from(0, dram), written(0, l1d), from(2, dram)}), 200u);  // another bank
    ClockScript script(p, blocks());
    script.run(chase, {from(0, dram)});
    script.run(chase, {from(4, dram)});  // closes line 0's row
    script.run(store, {written(0, l1d)});
    script.run(chase, {from(5, dram)});  // finds line 4's row open still
    EXPECT_EQ(script.cycles(), 200u + 260 + 150);
}

/// 500 lines are read and written, as fast as memory can: each takes two transfers, and the last load waits for 998.
TEST(ClockWriteBacks, UpdatesOfManyLinesHaveHalfTheRate) {
    for (const uint64_t write_backs : {0, 1}) {
        Platform p = five_a_line(write_backs);
        p.memory_cycles_per_line = 20;
        ClockScript script(p, blocks());
        for (uint64_t n = 0; n < 500; ++n) script.run(update, {from(n, dram), written(n, l1d)});
        EXPECT_EQ(script.cycles(), 499 * 20 * (1 + write_backs) + 200 + 1);  // the update's own cycle
    }
}

/// 600 prefetched lines are written, 16 in a cycle; nobody waits for their way back, of which 512 may queue. The last of the stores
/// is dispatched in cycle 37.
TEST(ClockWriteBacks, FiveHundredAndTwelveQueueAtMost) {
    Platform p = five_a_line();
    p.rob_entries = 4096, p.store_buffer_entries = 1024;
    AccessOutcome first = from(1, l1d);
    for (uint64_t n = 0; n < 600; ++n) first.prefetches.push_back({VirtAddr(64 * (163 + n)), PhysAddr(64 * (100 + n)), false, dram});
    Accesses accesses = {first};
    for (uint64_t n = 0; n < 600; ++n) accesses.push_back(written(100 + n, l1d));
    accesses.push_back(from(9000, dram));
    EXPECT_EQ(run_each(p, accesses), 37u + 512 * 5 + 200);
}

}  // namespace
}  // namespace tessera::sim::testing
