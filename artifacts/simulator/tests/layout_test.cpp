// layout_test.cpp - every rule of layout files, with the words its message must have.
#include <gtest/gtest.h>

#include "base/error.h"
#include "os/address_space.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

const std::vector<trace::Pool> pools = {{trace::PoolKind::heap, heap_base, 64 << 20, 64 << 20},
                                        {trace::PoolKind::anon, anon_base, (uint64_t{1} << 30) + (64 << 20), 0}};
const std::string header = "type,pageSize,startOffset,endOffset\n";

struct Bad {
    const char* name;
    std::string text;
    std::vector<std::string> words;
};

class BadLayout : public ::testing::TestWithParam<Bad> {};

TEST_P(BadLayout, IsRefusedByName) {
    try {
        parse_layout(GetParam().text, "a/b.csv", pools);
        FAIL() << "accepted";
    } catch (const Refusal& refusal) {
        const std::string message = refusal.what();
        EXPECT_NE(message.find("a/b.csv"), std::string::npos) << message;
        for (const std::string& word : GetParam().words) EXPECT_NE(message.find(word), std::string::npos) << message << "\nlacks " << word;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadLayout,
    ::testing::Values(
        Bad{"Empty", "", {"header"}}, Bad{"NoHeader", "brk,2097152,0,2097152\n", {"line 1", "header"}},
        Bad{"Column", header + "brk,2097152,0\n", {"line 2", "4 columns"}},
        Bad{"Type", header + "stack,2097152,0,2097152\n", {"line 2", "column type", "'stack'"}},
        Bad{"FileWindow", header + "file,2097152,0,2097152\n", {"column type", "'file'"}},
        Bad{"PageSize", header + "brk,4096,0,4096\n", {"column pageSize", "'4096'"}},
        Bad{"Word", header + "brk,2097152,zero,2097152\n", {"column startOffset", "'zero'"}},
        Bad{"Negative", header + "brk,2097152,0,-2097152\n", {"column endOffset", "'-2097152'"}},
        Bad{"MisalignedStart", header + "\nbrk,2097152,4096,2097152\n", {"line 3", "column startOffset", "multiple", "'4096'"}},
        Bad{"MisalignedEnd", header + "brk,2097152,0,2101248\n", {"column endOffset", "multiple", "'2101248'"}},
        Bad{"EmptyWindow", header + "brk,2097152,2097152,2097152\n", {"column endOffset", "greater"}},
        Bad{"OutsidePool", header + "brk,2097152,0,69206016\n", {"column endOffset", "outside its pool", "67108864", "'69206016'"}},
        Bad{"GigabyteTooFar", header + "mmap,1073741824,0,3221225472\n", {"outside its pool", "'3221225472'"}},
        Bad{"OutsideDeclared", header + "brk,-1,0,4194304\nbrk,2097152,0,6291456\n", {"line 3", "outside its pool", "4194304"}},
        Bad{"TwoSizes", header + "brk,-1,0,4194304\nbrk,-1,0,4194304\n", {"line 3", "one size row"}},
        Bad{"SizeOffset", header + "brk,-1,8,4194304\n", {"startOffset", "'8'"}},
        Bad{"Overlap", header + "brk,2097152,0,4194304\nbrk,2097152,2097152,6291456\n", {"line 3", "overlap", "line 2"}},
        Bad{"OverlapOfSizes", header + "mmap,2097152,2097152,4194304\nmmap,1073741824,0,1073741824\n", {"overlap"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GoodLayout, WindowsTouchingAndLastPartlyUsedGigabyte) {
    const Layout layout = parse_layout(header + "file,-1,0,0\nbrk,-1,0,67108864\r\nbrk,2097152,2097152,4194304\nbrk,2097152,0,2097152\nmmap,1GB,1024MB,2147483648\n",
                                       "x/sliding-20-3.csv", pools);
    EXPECT_EQ(layout.name, "sliding-20-3");
    const AddressSpace space(pools, layout);
    const auto size = [&](uint64_t address) { return space.page_size(VirtAddr(address)); };
    EXPECT_EQ(size(heap_base - 1), PageSize::small_4kb);
    EXPECT_EQ(size(heap_base), PageSize::large_2mb);
    EXPECT_EQ(size(heap_base + 4194303), PageSize::large_2mb);
    EXPECT_EQ(size(heap_base + 4194304), PageSize::small_4kb);
    EXPECT_EQ(size(anon_base + gib - 1), PageSize::small_4kb);
    EXPECT_EQ(size(anon_base + gib), PageSize::huge_1gb);
}

}  // namespace
}  // namespace tessera::sim::testing
