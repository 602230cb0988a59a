// page_table_test.cpp - frames in order of first touch, and the entries that walks of each page size read.
#include <gtest/gtest.h>

#include "pagetable/format.h"
#include "pagetable/page_table.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

constexpr VirtAddr a{uint64_t{3} << 39 | uint64_t{5} << 30 | uint64_t{7} << 21 | uint64_t{9} << 12 | 0x123};

uint64_t entry(uint64_t frame, uint64_t index) { return page_table_base + frame * 4096 + index * 8; }

std::vector<uint64_t> addresses(PageTableFormat& format, VirtAddr address, PageSize size) {
    WalkPath path;
    format.entries(address, size, path);
    std::vector<uint64_t> all;
    for (const EntryRead& read : path) all.push_back(read.address.value);
    return all;
}

TEST(Radix, FourLevelsReadOneEntryEachAtTheIndicesOfTheAddress) {
    const Platform p = tiny(1);
    const AddressSpace space({}, all_4kb());
    const auto radix = page_table_formats().make("radix", DesignContext{p, space});
    radix->touch(a);
    EXPECT_EQ(addresses(*radix, a, PageSize::small_4kb), (std::vector{entry(0, 3), entry(1, 5), entry(2, 7), entry(3, 9)}));
    EXPECT_EQ(addresses(*radix, a, PageSize::large_2mb), (std::vector{entry(0, 3), entry(1, 5), entry(2, 7)}));
    EXPECT_EQ(addresses(*radix, a, PageSize::huge_1gb), (std::vector{entry(0, 3), entry(1, 5)}));
    WalkPath path;
    radix->entries(a, PageSize::large_2mb, path);
    ASSERT_EQ(path.size(), 3u);
    for (size_t i = 0; i < path.size(); ++i) {
        EXPECT_EQ(path[i].step, i);
        EXPECT_EQ(path[i].onward, i < 2);
    }
    EXPECT_EQ(path[1].level, 1u);
    std::string names;
    for (const TableLevel& level : radix->levels()) names += std::string(level.name) + " " + std::to_string(level.shift) + " ";
    EXPECT_EQ(names, "pml4e 39 pdpte 30 pde 21 ");
}

TEST(Radix, FiveLevelsAddATableOnTop) {
    Platform p = tiny(1);
    p.page_table_levels = 5;
    const AddressSpace space({}, all_4kb());
    const auto radix = page_table_formats().make("radix", DesignContext{p, space});
    radix->touch(a);
    EXPECT_EQ(addresses(*radix, a, PageSize::small_4kb), (std::vector{entry(0, 0), entry(1, 3), entry(2, 5), entry(3, 7), entry(4, 9)}));
    EXPECT_EQ(addresses(*radix, a, PageSize::huge_1gb).size(), 3u);
}

TEST(Radix, TablesAreHandedOutTopDownInOrderOfFirstTouch) {
    const VirtAddr same_gb{a.value + (2 << 20)}, other_gb{a.value + (1 << 30)}, other_512gb{a.value + (uint64_t{1} << 39)};
    PageTable table;
    for (VirtAddr address : {a, same_gb, a, other_gb, other_512gb, same_gb}) table.touch(address);
    using Frames = std::array<uint32_t, level_count>;
    EXPECT_EQ(table.touch(a).frame, (Frames{0, 0, 1, 2, 3}));
    EXPECT_EQ(table.touch(same_gb).frame, (Frames{0, 0, 1, 2, 4}));
    EXPECT_EQ(table.touch(other_gb).frame, (Frames{0, 0, 1, 5, 6}));
    EXPECT_EQ(table.touch(other_512gb).frame, (Frames{0, 0, 7, 8, 9}));
    EXPECT_EQ(table.frames(), 10u);
    PageTable five(5);
    five.touch(a);
    EXPECT_EQ(five.touch(other_512gb).frame, (Frames{0, 1, 5, 6, 7}));
}

TEST(Radix, TooManyTablesAreRefused) {
    PageTable table(4, 5);  // the root, and four tables
    table.touch(a);
    table.touch(VirtAddr(a.value + (2 << 20)));
    EXPECT_EQ(table.frames(), 5u);
    table.touch(a);
    try {
        table.touch(VirtAddr(a.value + (4 << 20)));
        FAIL();
    } catch (const Refusal& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("at most 5 tables"), std::string::npos) << refusal.what();
    }
}

}  // namespace
}  // namespace tessera::sim::testing
