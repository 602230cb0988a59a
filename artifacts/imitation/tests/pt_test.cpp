// Page tables: what a fault builds, what a split and a collapse do, which tables munmap frees.
#include <gtest/gtest.h>

#include "vm_support.h"

using namespace tests;

namespace {

TEST(Deposit, YoungestFirstThenOldestFirst) {
    // By hand from the ring of mm/pgtable-generic.c: after A, B, C the head is C and its neighbour A.
    pt_deposits deposits{};
    for (const uint32_t frame : {10u, 11u, 12u}) pt_deposit(&deposits, frame);
    EXPECT_EQ(pt_withdraw(&deposits), 12u);
    EXPECT_EQ(pt_withdraw(&deposits), 10u);
    pt_deposit(&deposits, 13);  // head 11 becomes the last one
    EXPECT_EQ(pt_withdraw(&deposits), 13u);
    EXPECT_EQ(pt_withdraw(&deposits), 11u);
    EXPECT_EQ(deposits.count, 0u);
}

TEST(Deposit, HoldsOneForEachSlot) {
    pt_deposits deposits{};
    for (uint32_t frame = 0; frame < 512; ++frame) pt_deposit(&deposits, frame);
    EXPECT_EQ(pt_withdraw(&deposits), 511u);
    for (uint32_t frame = 0; frame < 511; ++frame) ASSERT_EQ(pt_withdraw(&deposits), frame);
}

struct Tables : testing::Test {
    Tables() : memory(Memory::pc(64 * mib)) { EXPECT_EQ(pt_create(&pt, &memory.p, 0, 0), PHYS_GOT_FRAMES); }
    ~Tables() override {
        free(0, PT_PAGES, 0, 0);
        pt_destroy(&pt, 0);
    }
    pt_table *reach(uint64_t page, unsigned level = 0) {
        phys_outcome outcome;
        added = {};
        return pt_reach(&pt, page, level, 0, &added, &outcome);
    }
    size_t free(uint64_t page, uint64_t end, uint64_t floor, uint64_t ceiling) {
        given.clear();
        pt_free_range(
            &pt, page, end, floor, ceiling,
            [](void *context, uint32_t frame) { static_cast<std::vector<uint32_t> *>(context)->push_back(frame); }, &given);
        for (const uint32_t frame : given) EXPECT_TRUE(memory.release(frame));
        return given.size();
    }
    Memory memory;
    ::pt pt{};
    pt_new added{};
    std::vector<uint32_t> given;
};

TEST_F(Tables, ComeWithTheirBorders) {
    const uint64_t gb = pt_slot_pages(2), tb = pt_slot_pages(3);
    const struct {
        const char *name;
        uint64_t page;
        uint32_t tables;
    } rows[] = {{"first page", 0, 3}, {"last page of 2MB", 511, 0},      {"next 2MB", 512, 1},  {"last page of 1GB", gb - 1, 1},
                {"next 1GB", gb, 2},  {"last page of 512GB", tb - 1, 2}, {"next 512GB", tb, 3}, {"last page", PT_PAGES - 1, 3}};
    for (const auto &row : rows) {
        reach(row.page);
        EXPECT_EQ(added.count, row.tables) << row.name;
    }
    EXPECT_EQ(pt.tables[3], 1u);
    EXPECT_EQ(pt.tables[2], 3u);
    EXPECT_EQ(pt.tables[1], 5u);
    EXPECT_EQ(pt.tables[0], 7u);
}

TEST_F(Tables, AreUnmovableFrames) {
    memory.record();
    reach(0);
    const auto allocs = memory.of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(allocs[i].order, 0);
        EXPECT_EQ(allocs[i].type, PHYS_UNMOVABLE);
        EXPECT_EQ(allocs[i].frame, added.frame[i]);
    }
}

TEST_F(Tables, ATableGoesWhenNoNeighbourSharesItsRange) {
    const struct {
        const char *name;
        uint64_t floor, ceiling;
        size_t freed;
    } rows[] = {{"no neighbours", 0, 0, 3},
                {"below, in the same 2MB", 512 * 4 + 1, 0, 0},
                {"below, up to the border of 2MB", 512 * 4, 0, 1},
                {"above, in the same 2MB", 0, 512 * 5 - 1, 0},
                {"above, from the border of 2MB", 0, 512 * 5, 1},
                {"above, in the next 1GB", 0, pt_slot_pages(2), 2},
                {"above, in the next 512GB", 0, pt_slot_pages(3), 3}};
    for (const auto &row : rows) {
        reach(512 * 4 + 8);
        EXPECT_EQ(free(512 * 4 + 8, 512 * 4 + 16, row.floor, row.ceiling), row.freed) << row.name;
        free(0, PT_PAGES, 0, 0);
        EXPECT_EQ(pt.tables[0] + pt.tables[1] + pt.tables[2], 0u);
    }
}

TEST_F(Tables, LowerTablesGoFirst) {
    reach(0);
    const uint32_t upper = added.frame[0], middle = added.frame[1], first = added.frame[2];
    reach(512);
    const uint32_t second = added.frame[0];
    EXPECT_EQ(free(0, 1024, 0, 0), 4u);
    EXPECT_EQ(given, (std::vector<uint32_t>{first, second, middle, upper}));
}

TEST_F(Tables, SplitUsesTheDepositedFrame) {
    pt_table *table = reach(0, 1);
    phys_outcome outcome;
    const uint32_t deposit = pt_take_frame(&pt, 0, &outcome);
    pt_deposit_frame(&pt, table, deposit);
    pt_write(&pt, &table->slot[0], 0, 1, pt_make(1024, PT_PRESENT | PT_WRITE | PT_YOUNG), PT_BY_FAULT);
    EXPECT_EQ(pt.tables[0], 1u);
    pt_split(&pt, table, &table->slot[0], 0, PT_BY_CALL);
    EXPECT_EQ(pt.tables[0], 1u);
    EXPECT_EQ(pt.deposited, 0u);
    unsigned level;
    EXPECT_EQ(*pt_find(&pt, 0, &level), pt_make(1024, PT_PRESENT | PT_WRITE | PT_YOUNG));
    EXPECT_EQ(*pt_find(&pt, 511, &level), pt_make(1535, PT_PRESENT | PT_WRITE | PT_YOUNG));
    EXPECT_EQ(level, 0u);
    EXPECT_EQ(pt_below(table->slot[0])->frame, deposit);
    pt_collapse(&pt, table, &table->slot[0], 0, pt_make(2048, PT_PRESENT));
    EXPECT_EQ(pt.deposited, 1u);
    EXPECT_EQ(pt_withdraw_frame(&pt, table), deposit);
    pt_write(&pt, &table->slot[0], 0, 1, 0, PT_BY_CALL);
    EXPECT_TRUE(memory.release(deposit));
}

TEST_F(Tables, SplitZerosAreZeroPages) {
    pt_table *table = reach(0, 1);
    phys_outcome outcome;
    pt_deposit_frame(&pt, table, pt_take_frame(&pt, 0, &outcome));
    pt_write(&pt, &table->slot[0], 0, 1, pt_make(512, PT_PRESENT | PT_YOUNG | PT_ZERO), PT_BY_FAULT);
    pt_split(&pt, table, &table->slot[0], 0, PT_BY_CALL);
    unsigned level;
    for (const uint64_t page : {0, 1, 511}) EXPECT_EQ(*pt_find(&pt, page, &level), pt_make(0, PT_PRESENT | PT_YOUNG | PT_ZERO));
}

}  // namespace
