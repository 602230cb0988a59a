// Layout files: the parser rejects each bad file with line, column, value and rule, and reads each good file as written.
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
    const char* place;  // fragment of the message that names the place
    const char* rule;   // fragment of the message that names the rule
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
    {"unknown_type", "heap,-1,0,4096\n", "line 2, column type: 'heap'", "[layout/type]"},
    {"missing_column", "brk,-1,0\n", "line 2, column row", "has 3 [layout/columns]"},
    {"extra_column", "brk,-1,0,1,2\n", "line 2, column row", "has 5 [layout/columns]"},
    {"unknown_page_size", "mmap,-1,0,1GB\nmmap,8192,0,8192\n", "line 3, column pageSize: '8192'", "[layout/page-size]"},
    {"start_misaligned", "mmap,-1,0,1GB\nmmap,2MB,1MB,3MB\n", "line 3, column startOffset: '1MB'", "2MB [layout/alignment]"},
    {"end_one_page_off", "mmap,-1,0,1GB\nmmap,2MB,0,2101248\n", "column endOffset: '2101248'", "2MB [layout/alignment]"},
    {"gigabyte_misaligned", "mmap,-1,0,4GB\nmmap,1GB,2MB,1026MB\n", "column startOffset", "1GB [layout/alignment]"},
    {"empty_window", "mmap,-1,0,1GB\nmmap,2MB,2MB,2MB\n", "column endOffset: '2MB'", "2097152 [layout/empty-window]"},
    {"end_before_start", "mmap,-1,0,1GB\nmmap,2MB,4MB,2MB\n", "column endOffset: '2MB'", "4194304 [layout/empty-window]"},
    {"outside_pool", "mmap,-1,0,4MB\nmmap,2MB,2MB,6MB\n", "line 3, column endOffset: '6291456'", "4MB [layout/outside-pool]"},
    {"outside_default_pool", "brk,2MB,64GB,65538MB\n", "line 2, column endOffset: '68721573888'", "[allocator/default-pool]"},
    {"overlap", "mmap,-1,0,1GB\nmmap,2MB,0,8MB\nmmap,2MB,6MB,10MB\n", "line 4, column startOffset: '6291456'",
     "0-8388608 of line 3 [layout/overlap]"},
    {"overlap_out_of_order", "mmap,-1,0,1GB\nmmap,2MB,6MB,10MB\nmmap,2MB,0,8MB\n", "line 4", "6291456-10485760 of line 3 [layout/overlap]"},
    {"small_overlaps_huge", "mmap,-1,0,1GB\nmmap,2MB,0,8MB\nmmap,4KB,8188KB,9MB\n", "line 4", "[layout/overlap]"},
    {"negative", "mmap,-1,0,-5\n", "column endOffset: '-5'", "[layout/size]"},
    {"not_a_number", "mmap,-1,zero,1GB\n", "column startOffset: 'zero'", "[layout/size]"},
    {"too_large", "mmap,-1,0,99999999999999999999\n", "column endOffset", "[layout/too-large]"},
    {"unit_overflows", "mmap,-1,0,9999999999TB\n", "column endOffset", "[layout/too-large]"},
    {"pool_twice", "mmap,-1,0,1GB\nmmap,-1,0,2GB\n", "line 3", "line 2 [layout/pool-twice]"},
    {"pool_not_at_zero", "mmap,-1,4096,1GB\n", "line 2, column startOffset: '4096'", "[layout/pool-start]"},
    {"file_huge", "file,2MB,0,2MB\n", "line 2, column pageSize: '2MB'", "[layout/file-pages]"},
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
    const Parsed p = parse(
        "mmap,-1,0,4GB\n\n mmap , 1GB , 1GB , 2GB \r\nfile,-1,0,1GB\nmmap,2MB,0,4MB\nbrk,4KB,0,8KB\nfile,4KB,0,4KB\nbrk,2mib,2M,4m\n");
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
    EXPECT_NE(strstr(message, "[layout/alignment]\n  what to do: "), nullptr) << message;
}

TEST(Layout, WindowCountHasALimitThatIsNamed) {
    std::string rows = "mmap,-1,0,1TB\n";
    for (uint64_t i = 0; i < MOSALLOC_MAX_WINDOWS; ++i)
        rows += "mmap,2MB," + std::to_string(2 * i * kPage2M) + "," + std::to_string((2 * i + 1) * kPage2M) + "\n";
    EXPECT_TRUE(parse(rows).good);
    const Parsed p = parse(rows + "mmap,2MB,512GB,524290MB\n");
    EXPECT_FALSE(p.good);
    EXPECT_NE(p.error.find("16384 [layout/window-limit]"), std::string::npos) << p.error;
}

}  // namespace
