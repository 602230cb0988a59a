// Layout files: each bad one is refused with line, column, value and rule; each good one is read as written.
#include "core/layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

using namespace mosalloc;

namespace {

struct Parsed {
    bool good;
    std::unique_ptr<Layout> layout;
    std::string error;
};

Parsed parse(const std::string& rows) {
    Parsed out{false, std::make_unique<Layout>(), ""};
    const std::string text = "type,pageSize,startOffset,endOffset\n" + rows;
    char message[512];
    Text error(message);
    out.good = parse_layout(text.data(), text.size(), "L.csv", out.layout.get(), &error);
    out.error = message;
    return out;
}

struct BadRow {
    const char* name;
    const char* rows;
    const char* place;  // fragment that says where
    const char* rule;   // fragment that says why
};

class BadLayout : public testing::TestWithParam<BadRow> {};

TEST_P(BadLayout, NamesPlaceAndRule) {
    const Parsed p = parse(GetParam().rows);
    EXPECT_FALSE(p.good);
    EXPECT_NE(p.error.find(GetParam().place), std::string::npos) << p.error;
    EXPECT_NE(p.error.find(GetParam().rule), std::string::npos) << p.error;
    EXPECT_NE(p.error.find("what to do"), std::string::npos) << p.error;
}

constexpr BadRow kBad[] = {
    {"unknown_type", "heap,-1,0,4096\n", "line 2, column type: 'heap'", "one of brk, mmap, file"},
    {"missing_column", "brk,-1,0\n", "line 2, column row", "must have 4 columns, has 3"},
    {"extra_column", "brk,-1,0,1,2\n", "line 2, column row", "has 5"},
    {"unknown_page_size", "mmap,-1,0,1GB\nmmap,8192,0,8192\n", "line 3, column pageSize: '8192'", "must be -1 or one of 4096"},
    {"start_misaligned", "mmap,-1,0,1GB\nmmap,2MB,1MB,3MB\n", "line 3, column startOffset: '1MB'", "multiple of the page size 2MB"},
    {"end_one_page_off", "mmap,-1,0,1GB\nmmap,2MB,0,2101248\n", "column endOffset: '2101248'", "multiple of the page size 2MB"},
    {"gigabyte_misaligned", "mmap,-1,0,4GB\nmmap,1GB,2MB,1026MB\n", "column startOffset", "multiple of the page size 1GB"},
    {"empty_window", "mmap,-1,0,1GB\nmmap,2MB,2MB,2MB\n", "column endOffset: '2MB'", "above startOffset 2097152"},
    {"end_before_start", "mmap,-1,0,1GB\nmmap,2MB,4MB,2MB\n", "column endOffset: '2MB'", "above startOffset"},
    {"outside_pool", "mmap,-1,0,4MB\nmmap,2MB,2MB,6MB\n", "line 3, column endOffset: '6291456'", "outside its pool of 4MB"},
    {"outside_default_pool", "brk,2MB,64GB,65538MB\n", "line 2, column endOffset: '68721573888'",
     "pool of 64GB (the default: no row with pageSize -1) [allocator/default-pool]"},
    {"overlap", "mmap,-1,0,1GB\nmmap,2MB,0,8MB\nmmap,2MB,6MB,10MB\n", "line 4, column startOffset: '6291456'", "overlaps the window 0-8388608"},
    {"overlap_out_of_order", "mmap,-1,0,1GB\nmmap,2MB,6MB,10MB\nmmap,2MB,0,8MB\n", "line 4", "overlaps the window 6291456-10485760 of line 3"},
    {"small_overlaps_huge", "mmap,-1,0,1GB\nmmap,2MB,0,8MB\nmmap,4KB,8188KB,9MB\n", "line 4", "overlaps"},
    {"negative", "mmap,-1,0,-5\n", "column endOffset: '-5'", "bytes or a size like 64MB"},
    {"not_a_number", "mmap,-1,zero,1GB\n", "column startOffset: 'zero'", "bytes or a size"},
    {"too_large", "mmap,-1,0,99999999999999999999\n", "column endOffset", "below 2^63 bytes"},
    {"unit_overflows", "mmap,-1,0,9999999999TB\n", "column endOffset", "below 2^63 bytes"},
    {"pool_twice", "mmap,-1,0,1GB\nmmap,-1,0,2GB\n", "line 3", "the first is line 2"},
    {"pool_not_at_zero", "mmap,-1,4096,1GB\n", "line 2, column startOffset: '4096'", "must be 0 in a row that gives a pool's size"},
    {"file_huge", "file,2MB,0,2MB\n", "line 2, column pageSize: '2MB'", "4KB pages only"},
};
INSTANTIATE_TEST_SUITE_P(Rows, BadLayout, testing::ValuesIn(kBad), [](const auto& row) { return row.param.name; });

TEST(Layout, HeaderIsChecked) {
    auto layout = std::make_unique<Layout>();
    char message[512];
    for (const char* text : {"", "type,pageSize,start,end\n", "brk,-1,0,4096\n"}) {
        Text error(message);
        EXPECT_FALSE(parse_layout(text, strlen(text), "L.csv", layout.get(), &error));
        EXPECT_NE(std::string(message).find("line 1, column header"), std::string::npos) << message;
    }
}

TEST(Layout, ReadsWindowsSortedAndDropsSmallPages) {
    const Parsed p = parse("mmap,-1,0,4GB\n\n mmap , 1GB , 1GB , 2GB \r\nfile,-1,0,1GB\nmmap,2MB,0,4MB\nbrk,4KB,0,8KB\nfile,4KB,0,4KB\nbrk,2mib,2M,4m\n");
    ASSERT_TRUE(p.good) << p.error;
    ASSERT_EQ(p.layout->window_count, 3u);
    EXPECT_EQ(p.layout->windows[0].pool, uint64_t{MOSALLOC_POOL_HEAP});
    EXPECT_EQ(p.layout->windows[1].start, 0u);
    EXPECT_EQ(p.layout->windows[2].page_bytes, kPage1G);
    EXPECT_EQ(p.layout->pages(kPage2M), 3u);
    EXPECT_EQ(p.layout->pages(kPage1G), 1u);
    EXPECT_EQ(p.layout->pool_bytes[MOSALLOC_POOL_ANON], 4 * kPage1G);
}

TEST(Layout, WithoutSizeRowsPoolsHaveTheirDefaults) {
    const Parsed p = parse("");
    ASSERT_TRUE(p.good) << p.error;
    EXPECT_EQ(p.layout->pool_bytes[MOSALLOC_POOL_HEAP], kDefaultPoolBytes[MOSALLOC_POOL_HEAP]);
    EXPECT_EQ(p.layout->pool_bytes[MOSALLOC_POOL_ANON], kDefaultPoolBytes[MOSALLOC_POOL_ANON]);
}

TEST(Layout, SizesAreRoundedUpToWholePages) {
    const Parsed p = parse("brk,-1,0,5000\nmmap,-1,0,9223372036854775807\n");
    ASSERT_TRUE(p.good) << p.error;
    EXPECT_EQ(p.layout->pool_bytes[MOSALLOC_POOL_HEAP], 8192u);
    EXPECT_EQ(p.layout->pool_bytes[MOSALLOC_POOL_ANON], UINT64_C(1) << 63);
}

TEST(Layout, SmallPagesNeedNoRoomInADefaultPool) {
    EXPECT_TRUE(parse("brk,4KB,64GB,65GB\n").good);
    EXPECT_FALSE(parse("brk,1GB,64GB,65GB\n").good);
}

TEST(Layout, ALongPathLeavesRoomForTheRule) {
    auto layout = std::make_unique<Layout>();
    const std::string name(4000, 'p'), text = "type,pageSize,startOffset,endOffset\nmmap,2MB," + std::string(4000, '0') + "1,2MB\n";
    char message[512];
    Text error(message);
    EXPECT_FALSE(parse_layout(text.data(), text.size(), name.c_str(), layout.get(), &error));
    EXPECT_NE(strstr(message, "[layout/alignment]\n  what to do: round the offset"), nullptr) << message;
}

TEST(Layout, WindowCountHasALimitThatIsNamed) {
    std::string rows = "mmap,-1,0,1TB\n";
    for (uint64_t i = 0; i < MOSALLOC_MAX_WINDOWS; ++i)
        rows += "mmap,2MB," + std::to_string(2 * i * kPage2M) + "," + std::to_string((2 * i + 1) * kPage2M) + "\n";
    EXPECT_TRUE(parse(rows).good);
    const Parsed p = parse(rows + "mmap,2MB,512GB,524290MB\n");
    EXPECT_FALSE(p.good);
    EXPECT_NE(p.error.find("a layout has at most 16384 [layout/window-limit]"), std::string::npos) << p.error;
}

}  // namespace
