// The verdict over smaps texts: only mappings with the page size asked for, over the whole window, confirm it.
#include "run/smaps.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

using namespace mosalloc::run;

namespace {

constexpr uint64_t kBase = 0x7f0000000000, k2M = 2u << 20;

std::string area(uint64_t from, uint64_t to, int kernel_kb, int mmu_kb, int thp_kb) {
    char text[512];
    snprintf(
        text, sizeof text,
        "%llx-%llx rw-p 00000000 00:00 0 \nSize: 4 kB\nKernelPageSize: %8d kB\nMMUPageSize: %8d kB\nAnonHugePages: %8d kB\nVmFlags: rd wr\n",
        static_cast<unsigned long long>(kBase + from), static_cast<unsigned long long>(kBase + to), kernel_kb, mmu_kb, thp_kb);
    return text;
}

Findings judge(const std::string& text, bool on_demand = false) {
    auto map = std::make_unique<mosalloc_pool_map>();
    map->pools[0] = {MOSALLOC_POOL_HEAP, kBase + (1ull << 40), 0, 0, 0, 0};
    map->pools[1] = {MOSALLOC_POOL_ANON, kBase, 8 * k2M, 0, 0, 0};
    map->window_count = 1;
    map->on_demand = on_demand ? 1 : 0;
    map->windows[0] = {MOSALLOC_POOL_ANON, k2M, 2 * k2M, 4 * k2M, 1};
    FILE* file = fmemopen(const_cast<char*>(text.data()), text.size(), "r");
    Findings found = compare(*map, read_smaps(file));
    fclose(file);
    return found;
}

const std::string kBelow = area(0, 2 * k2M, 4, 4, 0), kAbove = area(4 * k2M, 8 * k2M, 4, 4, 0);

TEST(Smaps, ConfirmsWhatWasAsked) {
    EXPECT_TRUE(judge(kBelow + area(2 * k2M, 4 * k2M, 2048, 2048, 0) + kAbove).confirmed());
    EXPECT_TRUE(judge(kBelow + area(2 * k2M, 3 * k2M, 2048, 2048, 0) + area(3 * k2M, 4 * k2M, 2048, 2048, 0) + kAbove).confirmed());
}

TEST(Smaps, SmallPagesInAWindowAreAMismatch) {
    const Findings found = judge(kBelow + area(2 * k2M, 3 * k2M, 2048, 2048, 0) + area(3 * k2M, 4 * k2M, 4, 4, 0) + kAbove);
    EXPECT_FALSE(found.confirmed());
    EXPECT_EQ(found.windows[0].smallest_page_bytes, 4096u);
    EXPECT_EQ(found.windows[0].confirmed_bytes, k2M);
}

TEST(Smaps, MissingTransparentSplinteredAndWrongPagesAreMismatches) {
    EXPECT_FALSE(judge(kBelow + kAbove).confirmed());
    EXPECT_FALSE(judge(kBelow + area(2 * k2M, 4 * k2M, 2048, 4, 0) + kAbove).confirmed());
    EXPECT_EQ(judge(area(0, 2 * k2M, 4, 4, 2048) + area(2 * k2M, 4 * k2M, 2048, 2048, 0)).anon_huge_bytes, k2M);
    EXPECT_EQ(judge(area(0, 2 * k2M, 2048, 2048, 0) + area(2 * k2M, 4 * k2M, 2048, 2048, 0)).wrong_page_bytes, 2 * k2M);
}

TEST(Smaps, HugePagesOutsideThePoolsAreAMismatch) {
    const std::string good = kBelow + area(2 * k2M, 4 * k2M, 2048, 2048, 0) + kAbove;
    const std::string shared = area(9 * k2M, 10 * k2M, 4, 4, 0);
    const struct {
        const char* name;
        std::string text;
        uint64_t bytes;
    } kRows[] = {
        {"small pages", area(9 * k2M, 20 * k2M, 4, 4, 0), 0},
        {"hugetlb", area(9 * k2M, 11 * k2M, 2048, 2048, 0), 2 * k2M},
        {"1GB pages", area(1024 * k2M, 1536 * k2M, 1048576, 1048576, 0), 512 * k2M},
        {"directly behind a pool", area(8 * k2M, 9 * k2M, 2048, 2048, 0), k2M},
        {"transparent", area(9 * k2M, 20 * k2M, 4, 4, 4096), 2 * k2M},
        {"transparent, of shared memory", shared + "ShmemPmdMapped:   2048 kB\n", k2M},
        {"transparent, of a file", shared + "FilePmdMapped:     2048 kB\n", k2M},
        {"both kinds", area(9 * k2M, 11 * k2M, 2048, 2048, 0) + area(11 * k2M, 20 * k2M, 4, 4, 2048), 3 * k2M},
    };
    for (const auto& row : kRows) {
        const Findings found = judge(good + row.text);
        EXPECT_EQ(found.outside_huge_bytes, row.bytes) << row.name;
        EXPECT_EQ(found.confirmed(), row.bytes == 0) << row.name;
    }
}

TEST(Smaps, TheFirstMappingWithHugePagesOutsideIsNamed) {
    std::string text = area(9 * k2M, 11 * k2M, 2048, 2048, 0);
    text.insert(text.find("\n"), "/dev/hugepages/x");
    EXPECT_EQ(judge(text + area(20 * k2M, 21 * k2M, 2048, 2048, 0)).outside_huge_name, "/dev/hugepages/x");
}

TEST(Smaps, OnDemandAWindowMayBeEmptyButNotSmall) {
    std::string untouched = area(2 * k2M, 4 * k2M, 4, 4, 0);
    EXPECT_FALSE(judge(kBelow + untouched + kAbove, true).confirmed());
    untouched.replace(untouched.find("rw-p"), 4, "---p");
    EXPECT_TRUE(judge(kBelow + untouched + kAbove, true).confirmed());
    EXPECT_FALSE(judge(kBelow + untouched + kAbove, false).confirmed());
    EXPECT_FALSE(judge(kBelow + untouched + "Rss: 4 kB\n" + kAbove, true).confirmed());
}

}  // namespace
