// mapping_test.cpp - mapping files: what is read, and an example of every rule with its line and code. The cases are those of
// tests/mapping/test_file.py, which reads the same files in Python. The rules about the trace's pools are only here.
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "os/mapping.h"

namespace tessera::sim::testing {
namespace {

const std::string header = "epoch,pool,page,frame,pages,page_size\n";
const std::string good = header +
                         "0,brk,0,100,5,4KB\n"
                         "0,mmap,0,1024,1024,2MB\n"
                         "0,mmap,1024,3000,7,4KB\n"
                         "50,brk,2,,1,4KB\n"
                         "50,mmap,1031,9000,1,4KB\n";
constexpr auto brk = trace::PoolKind::heap, mmap = trace::PoolKind::anon;
/// The largest pools: 2^36 pages of 4KB.
const std::vector<trace::Pool> large = {{brk, 0, uint64_t{1} << 48, 0}, {mmap, uint64_t{1} << 48, uint64_t{1} << 48, 0}};

std::string message(const std::string& text, const std::vector<trace::Pool>& pools = large) {
    try {
        parse_mapping(text, "a/b.csv", pools);
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "accepted";
}

void expect_words(const std::string& found, const std::vector<std::string>& words) {
    for (const std::string& word : words) EXPECT_NE(found.find(word), std::string::npos) << found << "\nlacks " << word;
}

TEST(GoodMapping, RowsOfEpochs) {
    const Mapping mapping = parse_mapping(good, "x/medium-1.csv", large);
    EXPECT_EQ(mapping.name, "medium-1");
    ASSERT_EQ(mapping.epochs.size(), 2u);
    const auto small = PageSize::small_4kb;
    const std::vector<MappingRow> first = {
        {brk, 0, 100, 5, small, true}, {mmap, 0, 1024, 1024, PageSize::large_2mb, true}, {mmap, 1024, 3000, 7, small, true}};
    const std::vector<MappingRow> second = {{brk, 2, 0, 1, small, false}, {mmap, 1031, 9000, 1, small, true}};
    EXPECT_EQ(mapping.epochs[0].access, 0u);
    EXPECT_EQ(mapping.epochs[0].rows, first);
    EXPECT_EQ(mapping.epochs[1].access, 50u);
    EXPECT_EQ(mapping.epochs[1].rows, second);
    const Layout layout = layout_of(std::make_shared<const Mapping>(mapping));
    EXPECT_EQ(layout.name, "medium-1");
    EXPECT_TRUE(layout.windows.empty());
    EXPECT_EQ(layout.mapping->epochs[1].rows, second);
}

TEST(GoodMapping, OtherFormsOfTheSameFile) {
    std::string lines = good, zeros = good;
    for (size_t at = 0; (at = lines.find('\n', at)) != lines.npos; at += 2) lines.insert(at, "\r");
    zeros.replace(zeros.find("0,brk,0,100"), 11, "000,brk,00," + std::string(30, '0') + "100");
    const Mapping plain = parse_mapping(good, "m", large);
    for (const std::string& text :
         {lines, lines.substr(0, lines.size() - 1), lines.substr(0, lines.size() - 2), good.substr(0, good.size() - 1), zeros}) {
        const Mapping found = parse_mapping(text, "m", large);
        ASSERT_EQ(found.epochs.size(), 2u);
        for (size_t i = 0; i < 2; ++i) EXPECT_EQ(found.epochs[i].rows, plain.epochs[i].rows);
    }
}

TEST(GoodMapping, LastValuesBeforeEachRule) {
    for (const char* rows :
         {"0,brk,68719476735,68719476735,1,4KB\n",  // 2^36 - 1
          "0,brk,0,10,3,4KB\n0,mmap,0,13,1,4KB\n", "0,brk,0,10,2,4KB\n5,brk,0,,1,4KB\n9,brk,5,10,1,4KB\n",
          "0,mmap,0,0,1024,2MB\n5,mmap,512,,512,4KB\n", "0,mmap,0,0,512,2MB\n5,mmap,0,0,3,4KB\n5,mmap,3,3,509,4KB\n",
          "0,mmap,0,0,3,4KB\n5,mmap,1,,9,4KB\n", "0,mmap,262144,0,262144,1GB\n9223372036854775807,mmap,0,262144,1,4KB\n"})
        EXPECT_EQ(message(header + rows), "accepted") << rows;
}

struct Bad {
    const char* name;
    const char* code;
    int line;
    std::string rows;      ///< behind the header
    std::string value = "";  ///< in the message
};

class BadMapping : public ::testing::TestWithParam<Bad> {};

TEST_P(BadMapping, IsRefusedByLineAndCode) {
    const Bad& bad = GetParam();
    const std::string line = "mapping a/b.csv line " + std::to_string(bad.line) + ", column ";
    expect_words(message(header + bad.rows), {line, std::string("[mapping/") + bad.code + "]", bad.value, "what to do: "});
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadMapping,
    ::testing::Values(
        Bad{"FiveCells", "columns", 2, "0,brk,0,0,1\n", "row: '0,brk,0,0,1'"},
        Bad{"BlankLine", "columns", 3, "0,brk,0,0,1,4KB\n\n0,brk,1,1,1,4KB\n"},
        Bad{"UnknownPool", "pool", 2, "0,file,0,0,1,4KB\n", "pool: 'file'"}, Bad{"PoolInCapitals", "pool", 2, "0,BRK,0,0,1,4KB\n"},
        Bad{"UnknownSize", "page-size", 2, "0,brk,0,0,1,8KB\n", "page_size: '8KB'"},
        Bad{"SizeInBytes", "page-size", 2, "0,brk,0,0,1,4096\n"}, Bad{"Sign", "number", 2, "0,brk,-1,0,1,4KB\n", "page: '-1'"},
        Bad{"Plus", "number", 2, "0,brk,0,+1,1,4KB\n", "frame: '+1'"}, Bad{"BlankBeforeANumber", "number", 2, "0,brk, 0,0,1,4KB\n"},
        Bad{"Hexadecimal", "number", 2, "0,brk,0x10,0,1,4KB\n"}, Bad{"EmptyPage", "number", 2, "0,brk,,0,1,4KB\n"},
        Bad{"NoEpoch", "number", 2, ",brk,0,0,1,4KB\n"}, Bad{"NoPages", "range", 2, "0,brk,0,0,0,4KB\n", "pages: '0'"},
        Bad{"PageLimit", "range", 2, "0,brk,68719476736,0,1,4KB\n"}, Bad{"PagesLimit", "range", 2, "0,brk,0,0,68719476736,4KB\n"},
        Bad{"FrameLimit", "range", 2, "0,brk,0,1099511627776,1,4KB\n"},
        Bad{"EpochLimit", "range", 3, "0,brk,0,0,1,4KB\n9223372036854775808,brk,1,1,1,4KB\n"},
        Bad{"ThirtyDigits", "range", 2, "0,brk," + std::string(30, '9') + ",0,1,4KB\n"},
        Bad{"PageNotAligned", "alignment", 2, "0,mmap,1,512,512,2MB\n", "page: '1'"},
        Bad{"FrameNotAligned", "alignment", 2, "0,mmap,512,1,512,2MB\n", "frame: '1'"},
        Bad{"PagesNotAligned", "alignment", 2, "0,mmap,512,512,513,2MB\n", "pages: '513'"},
        Bad{"GigabyteNotAligned", "alignment", 2, "0,mmap,512,512,262144,1GB\n"},
        Bad{"EpochsDescend", "unsorted", 3, "7,brk,0,0,1,4KB\n0,brk,1,1,1,4KB\n"},
        Bad{"PoolsDescend", "unsorted", 3, "0,mmap,0,0,1,4KB\n0,brk,1,1,1,4KB\n"},
        Bad{"PagesDescend", "unsorted", 3, "0,brk,5,0,1,4KB\n0,brk,1,1,1,4KB\n"},
        Bad{"OnePageTwice", "unsorted", 3, "0,brk,5,0,1,4KB\n0,brk,5,1,1,4KB\n"},
        Bad{"OverlappingRows", "overlap", 3, "0,brk,0,0,3,4KB\n0,brk,2,9,1,4KB\n", "page: '2'"}, Bad{"NoRows", "no-rows", 1, ""},
        Bad{"EpochZeroMissing", "first-epoch", 2, "1,brk,0,0,1,4KB\n"},
        Bad{"FirstEpochUnmaps", "first-unmapped", 3, "0,brk,0,0,1,4KB\n0,brk,1,,1,4KB\n"},
        Bad{"UnmappedTwoMegabytes", "unmapped-size", 3, "0,mmap,0,0,512,2MB\n9,mmap,0,,512,2MB\n", "page_size: '2MB'"},
        Bad{"OverlappingFrames", "frames", 3, "0,brk,0,10,3,4KB\n0,mmap,0,12,1,4KB\n", "frame: '12'"},
        Bad{"AFrameStillInUse", "frames", 4, "0,brk,0,10,2,4KB\n5,brk,0,,1,4KB\n9,brk,5,11,1,4KB\n", "frame: '11'"},
        Bad{"TwoFramesOfALaterEpoch", "frames", 4, "0,brk,0,10,2,4KB\n5,brk,4,20,3,4KB\n5,mmap,0,22,1,4KB\n", "frame: '22'"},
        Bad{"APartOfALargePage", "cut-page", 3, "0,mmap,0,0,1024,2MB\n5,mmap,0,5000,3,4KB\n", "page: '0'"},
        Bad{"AnEndInsideALargePage", "cut-page", 4, "0,mmap,0,0,1024,2MB\n5,mmap,0,,512,4KB\n5,mmap,512,,3,4KB\n", "page: '512'"},
        Bad{"TheGrammarComesFirst", "columns", 4, "7,brk,0,0,0,4KB\n0,brk,0,0,1,4KB\nend\n"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BadMappingHeader, IsNamed) {
    for (const char* text : {"", "\n", "pool,page\n", "epoch,pool,page,frame,pages,page_size,\n0,brk,0,0,1,4KB\n"})
        expect_words(message(text), {"a/b.csv line 1, column header", "[mapping/header]"});
    expect_words(message(header + std::string("0,brk,0,0,1\xff,4KB\n")), {"pages: '1\\xff'", "[mapping/number]"});
    expect_words(message(header + std::string("0,brk,0,0,1,4KB\0\n", 17)), {"page_size: '4KB\\x00'", "[mapping/page-size]"});
}

TEST(PlaceOfAMapping, PoolsAndFramesOfTheTrace) {
    // 1025 pages in the heap, of which the last is used in part, and 2^18 pages behind an odd page.
    const std::vector<trace::Pool> pools = {{brk, gib, 1024 * 4096 + 1, 0}, {mmap, 8 * gib + 4096, gib, 0}};
    EXPECT_EQ(message(header + "0,brk,0,0,1025,4KB\n0,mmap,0,68719476735,1,4KB\n", pools), "accepted");
    expect_words(message(header + "0,brk,0,0,1,4KB\n0,mmap,0,1,1,4KB\n", {pools[0]}), {"line 3, column pool: 'mmap'", "[trace/no-pool]"});
    expect_words(message(header + "0,brk,0,0,1026,4KB\n", pools), {"line 2, column pages: '1026'", "1025 pages", "[trace/outside-pool]"});
    expect_words(message(header + "0,brk,0,0,1,4KB\n7,brk,1025,,1,4KB\n", pools), {"line 3, column pages: '1'", "[trace/outside-pool]"});
    expect_words(message(header + "0,brk,0,68719476735,2,4KB\n", pools), {"line 2, column frame: '68719476735'", "[trace/frame]"});
    expect_words(message(header + "0,mmap,512,512,512,2MB\n", pools),
                 {"line 2, column page_size: '2MB'", "8589938688", "[trace/pool-base]"});
    expect_words(message(header + "0,brk,0,0,262144,1GB\n", pools), {"[trace/outside-pool]"});
}

TEST(MappingFile, IsReadFromItsPath) {
    const std::string path = ::testing::TempDir() + "mapping-test.csv";
    std::ofstream(path) << good;
    EXPECT_EQ(read_mapping(path, large).name, "mapping-test");
    std::remove(path.c_str());
    EXPECT_THROW(read_mapping(path, large), Refusal);
}

}  // namespace
}  // namespace tessera::sim::testing
