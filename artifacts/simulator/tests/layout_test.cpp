// layout_test.cpp - rules of layout files, with the values and codes in their messages. The rules about the trace's pools
// are only here; the rules of the grammar are in artifacts/layout-format, each with its examples.
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
        Bad{"Column", header + "brk,2097152,0\n", {"line 2", "[layout/columns]"}},
        Bad{"Type", header + "stack,2097152,0,2097152\n", {"line 2", "column type", "'stack'"}},
        Bad{"FileWindow", header + "file,2097152,0,2097152\n", {"column pageSize", "[layout/file-pages]"}},
        Bad{"PageSize", header + "brk,8192,0,8192\n", {"column pageSize", "'8192'"}},
        Bad{"Word", header + "brk,2097152,zero,2097152\n", {"column startOffset", "'zero'"}},
        Bad{"Negative", header + "brk,2097152,0,-2097152\n", {"column endOffset", "'-2097152'"}},
        Bad{"MisalignedStart", header + "\nbrk,2097152,4096,2097152\n", {"line 3", "column startOffset", "'4096'", "[layout/alignment]"}},
        Bad{"MisalignedEnd", header + "brk,2097152,0,2101248\n", {"column endOffset", "'2101248'", "[layout/alignment]"}},
        Bad{"EmptyWindow", header + "brk,2097152,2097152,2097152\n", {"column endOffset", "2097152 [layout/empty-window]"}},
        Bad{"OutsidePool", header + "brk,2097152,0,69206016\n", {"column endOffset", "67108864", "'69206016'", "[trace/outside-pool]"}},
        Bad{"GigabyteTooFar", header + "mmap,1073741824,0,3221225472\n", {"'3221225472'", "[trace/outside-pool]"}},
        Bad{"OutsideDeclared", header + "brk,-1,0,4194304\nbrk,2097152,0,6291456\n", {"line 3", "4MB [layout/outside-pool]"}},
        Bad{"TwoSizes", header + "brk,-1,0,4194304\nbrk,-1,0,4194304\n", {"line 3", "line 2 [layout/pool-twice]"}},
        Bad{"SizeOffset", header + "brk,-1,8,4194304\n", {"startOffset", "'8'"}},
        Bad{"Overlap", header + "brk,2097152,0,4194304\nbrk,2097152,2097152,6291456\n", {"line 3", "line 2 [layout/overlap]"}},
        Bad{"OverlapOfSizes", header + "mmap,2097152,2097152,4194304\nmmap,1073741824,0,1073741824\n", {"line 3", "[layout/overlap]"}},
        Bad{"GigabyteOverADeclaredPart", header + "mmap,-1,0,1140850688\nmmap,1GB,1GB,2GB\n", {"line 3", "[layout/outside-pool]"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GoodLayout, WindowsTouchingAndLastPartlyUsedGigabyte) {
    const Layout layout = parse_layout(
        header + "file,-1,0,0\nbrk,-1,0,67108864\r\nbrk,2097152,2097152,4194304\nbrk,2097152,0,2097152\nmmap,1GB,1024MB,2147483648\n",
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

TEST(GoodLayout, SmallPagesMeanTheDefaultAndNeedNoTracedPool) {
    const Layout layout = parse_layout(header + "brk,4KB,0,1GB\nmmap,2 MB,2M,4M\nfile,4096,0,4096\nmmap,4KB,0,2MB\n", "a.csv", pools);
    ASSERT_EQ(layout.windows.size(), 1u);
    EXPECT_EQ(layout.windows[0].begin, 2 * mib);
}

TEST(PlaceInATrace, MissingAndMisalignedPoolsAreNamed) {
    const auto message = [](const std::string& row, const std::vector<trace::Pool>& of) -> std::string {
        try {
            parse_layout(header + row, "a.csv", of);
        } catch (const Refusal& refusal) {
            return refusal.what();
        }
        return "accepted";
    };
    EXPECT_NE(message("brk,2MB,0,2MB\n", {pools[1]}).find("line 2, column type: 'brk': "), std::string::npos);
    EXPECT_NE(message("brk,2MB,0,2MB\n", {pools[1]}).find("[trace/no-pool]"), std::string::npos);
    const std::vector<trace::Pool> odd = {{trace::PoolKind::anon, anon_base + 4096, 64 * mib, 0}};
    EXPECT_NE(message("mmap,2MB,0,2MB\n", odd).find("column pageSize: '2097152'"), std::string::npos);
    EXPECT_NE(message("mmap,2MB,0,2MB\n", odd).find("[trace/pool-base]"), std::string::npos);
    EXPECT_EQ(message("mmap,4KB,0,2MB\n", odd), "accepted");
}

}  // namespace
}  // namespace tessera::sim::testing
