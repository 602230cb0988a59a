// clock_ports_test.cpp - ports, early registers and string instructions: runtimes worked out by hand (docs/clock.md has the rules).
#include "support/clock_script.h"

namespace tessera::sim::testing {
namespace {

using trace::BranchKind;
using trace::InsnKind;
using trace::StringPart;

constexpr uint64_t reg(unsigned r) { return uint64_t{1} << r; }
constexpr uint64_t rsp = reg(4), rsi = reg(6);

enum Blocks : uint32_t { nop, alu, divide, load, load_late, store, divide_loaded, pop, lods, divide_rsp, begin, middle, line, call, ret };

/// r3 is the divider's result, r5 what was loaded.
std::vector<trace::StaticBlock> blocks() {
    const std::vector<trace::MemorySlot> one = {{0, 0, 8}};
    return {{0, {{0, 0, 0, InsnKind::nop, 0, 4}}, {}},
            {0, {{0, reg(7), 0, InsnKind::alu, 0, 4}}, {}},
            {0, {{reg(3), reg(3), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{reg(2), reg(5), reg(2), InsnKind::load, 1, 4}}, one},
            {0, {{reg(3), reg(1), reg(3), InsnKind::load, 1, 4}}, one},
            {0, {{reg(2), 0, reg(2), InsnKind::store, 1, 4}}, {{0, 1, 8}}},
            {0, {{reg(5), reg(8), 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{rsp, rsp | reg(5), rsp, InsnKind::load, 1, 4, rsp}}, one},
            {0, {{rsi, rsi | reg(0), rsi, InsnKind::load, 1, 4, rsi}}, one},
            {0, {{rsp, rsp, 0, InsnKind::divide, 0, 4}}, {}},
            {0, {{0, 0, 0, InsnKind::nop, 0, 4, 0, BranchKind::none, StringPart::begin}}, {}},
            {0, {{0, 0, 0, InsnKind::nop, 0, 4, 0, BranchKind::none, StringPart::middle}}, {}},
            {0, {{rsi, 0, rsi, InsnKind::load, 1, 4, 0, BranchKind::none, StringPart::middle}}, one},
            {0, {{0, 0, 0, InsnKind::branch, 0, 4, 0, BranchKind::call}}, {}},
            {0, {{0, 0, 0, InsnKind::branch, 0, 4, 0, BranchKind::ret}}, {}}};
}

/// The n-th line of its own page.
AccessOutcome at(uint64_t n, bool is_store = false, MemoryLevel level = MemoryLevel::l1d) {
    AccessOutcome a;
    a.address = VirtAddr(n * 4096 + n % 64 * 64);
    a.is_store = is_store;
    a.level = level;
    return a;
}

uint64_t run_times(const Platform& p, uint32_t block, uint64_t count) {
    ClockScript script(p, blocks());
    for (uint64_t i = 0; i < count; ++i) script.run(block);
    return script.cycles();
}

uint64_t run_accesses(const Platform& p, uint32_t block, uint64_t count, bool is_store = false) {
    ClockScript script(p, blocks());
    for (uint64_t i = 0; i < count; ++i) script.run(block, {at(i, is_store)});
    return script.cycles();
}

TEST(ClockPorts, SoManyLoadsBeginInACycle) {
    Platform p = round_numbers();
    const uint64_t last_begins[] = {1, 7, 3, 2, 1};  // of eight loads, which enter in cycles 0 and 1; any number, 1, 2, 3, 4 ports
    for (uint64_t ports = 0; ports <= 4; ++ports) {
        p.ports.load = ports;
        EXPECT_EQ(run_accesses(p, load, 8), last_begins[ports] + 4) << ports << " load ports";
        EXPECT_EQ(run_accesses(p, store, 8, true), 1u) << "stores need no load port";
    }
}

TEST(ClockPorts, SoManyStoresAreTranslatedInACycle) {
    Platform p = round_numbers();
    p.ports.store = 1;
    EXPECT_EQ(run_accesses(p, store, 8, true), 7u);  // a store completes when it is translated
    p.ports.store = 2;
    EXPECT_EQ(run_accesses(p, store, 8, true), 3u);
    EXPECT_EQ(run_accesses(p, load, 8), 1u + 4) << "loads need no store port";
}

TEST(ClockPorts, SoManyStoresLeaveTheBufferInACycle) {
    Platform p = round_numbers();
    p.store_buffer_entries = 4;
    // Four enter in cycle 0, have their lines in cycle 4, and leave in cycles 4 to 7: the next four enter then. The last of twelve
    // enters with the eighth's departure in cycle 11.
    EXPECT_EQ(run_accesses(p, store, 12, true), 11u);
    p.ports.store = 1;
    EXPECT_EQ(run_accesses(p, store, 12, true), 11u);
    p.ports.store = 2;  // two leave in cycle 4, two in 5, two in 8, two in 9
    EXPECT_EQ(run_accesses(p, store, 12, true), 9u);
}

TEST(ClockCalls, CallsAndReturnsHoldDispatch) {
    Platform p = round_numbers();
    const auto cycles = [&] {
        ClockScript script(p, blocks());
        for (const uint32_t block : {call, ret, call, ret, nop}) script.run(block);
        return script.cycles();
    };
    EXPECT_EQ(cycles(), 1u);  // four in cycle 0, done in cycle 1, as is the nop
    p.call_cycles = 3;
    EXPECT_EQ(cycles(), 4u * 3);
}

TEST(ClockPorts, SoManyInstructionsComputeInACycle) {
    Platform p = round_numbers();
    p.ports.alu = 1;
    EXPECT_EQ(run_times(p, alu, 8), 8u);
    p.ports.alu = 3;
    EXPECT_EQ(run_times(p, alu, 8), 2u + 1);
    p.ports.alu = 0;
    EXPECT_EQ(run_times(p, alu, 8), 1u + 1);
}

TEST(ClockPorts, LoadsStoresAndNopsNeedNoAluPort) {
    Platform p = round_numbers();
    p.ports.alu = 1;
    EXPECT_EQ(run_accesses(p, load, 8), 1u + 4);
    EXPECT_EQ(run_accesses(p, store, 8, true), 1u);
    EXPECT_EQ(run_times(p, nop, 8), 1u);
}

TEST(ClockPorts, AnAddressThatComesLateDoesNotHoldUpThoseBehind) {
    Platform p = round_numbers();
    p.ports.load = 1;
    ClockScript script(p, blocks());
    script.run(divide);
    script.run(load_late, {at(0)});  // takes the port of cycle 0, begins in cycle 100
    script.run(load, {at(1)});       // begins in cycle 1
    script.run(divide_loaded);
    EXPECT_EQ(script.cycles(), 1u + 4 + 100);
}

TEST(ClockEarlyRegisters, TheStackPointerDoesNotWaitForWhatIsPopped) {
    Platform p = round_numbers();
    EXPECT_EQ(run_accesses(p, pop, 10), 10u * 4);
    p.early_registers = 1;
    EXPECT_EQ(run_accesses(p, pop, 10), 9u / 4 + 4);
}

TEST(ClockEarlyRegisters, OtherPointersTakeAnAddition) {
    Platform p = round_numbers();
    EXPECT_EQ(run_accesses(p, lods, 10), 10u * 4);
    p.early_registers = 1;
    EXPECT_EQ(run_accesses(p, lods, 10), 9u + 4);  // one address a cycle
    p.latency.alu = 2;
    EXPECT_EQ(run_accesses(p, lods, 10), 18u + 4);
}

TEST(ClockEarlyRegisters, WhatIsLoadedIsAsLateAsBefore) {
    Platform p = round_numbers();
    p.early_registers = 1;
    ClockScript script(p, blocks());
    script.run(pop, {at(0)});
    script.run(divide_loaded);
    EXPECT_EQ(script.cycles(), 4u + 100);
}

TEST(ClockEarlyRegisters, TheyWaitForTheAddress) {
    Platform p = round_numbers();
    p.early_registers = 1;
    ClockScript script(p, blocks());
    script.run(divide_rsp);
    script.run(pop, {at(0)});
    script.run(pop, {at(1)});
    EXPECT_EQ(script.cycles(), 100u + 4);
}

TEST(ClockStrings, TheBeginningAndEachLineHoldDispatch) {
    Platform p = round_numbers();
    const auto cycles = [&] {
        ClockScript script(p, blocks());
        script.run(begin);
        for (int i = 0; i < 3; ++i) script.run(middle);
        script.run(nop);
        return script.cycles();
    };
    EXPECT_EQ(cycles(), 1u);  // five enter at four a cycle
    p.string = {30, 128};
    EXPECT_EQ(cycles(), 30u + 4 * 2);
    p.string = {30, 0};
    EXPECT_EQ(cycles(), 30u);
    p.string = {0, 128};
    EXPECT_EQ(cycles(), 4u * 2);
    p.string = {0, 96};  // one and a half for each line
    EXPECT_EQ(cycles(), 6u);
    p.string = {0, 64 + 63};  // 1, 2, 2, 2: after n lines 127 n / 64, rounded down
    EXPECT_EQ(cycles(), 7u);
}

TEST(ClockStrings, EachInstructionCountsItsLinesAnew) {
    Platform p = round_numbers();
    p.string = {0, 96};
    ClockScript script(p, blocks());
    for (int i = 0; i < 4; ++i) script.run(begin);
    script.run(nop);
    EXPECT_EQ(script.cycles(), 4u);  // each is a first line, which takes one cycle
}

TEST(ClockStrings, LinesAreLoadedAtTheSameTime) {
    Platform p = round_numbers();
    p.string = {30, 128};
    ClockScript script(p, blocks());
    script.run(begin);
    for (uint64_t i = 0; i < 3; ++i) script.run(line, {at(i, false, MemoryLevel::dram)});
    EXPECT_EQ(script.cycles(), 32u + 2 * 2 + 200);
}

}  // namespace
}  // namespace tessera::sim::testing
