// Which values of GLIBC_TUNABLES take malloc out of the pools.
#include "mosalloc/tunables.h"

#include <gtest/gtest.h>

using namespace mosalloc_tunables;

namespace {

struct Tunables {
    const char* value;
    bool huge;
};

TEST(Tunables, AnyValueOfHugetlbButZero) {
    constexpr Tunables kTunables[] = {
        {"", false},
        {"glibc.malloc.hugetlb=0", false},
        {"glibc.malloc.hugetlb=0x0", false},
        {"glibc.malloc.hugetlb=000", false},
        {"glibc.malloc.hugetlb=", false},  // glibc reads no number
        {"glibc.malloc.hugetlb=1", true},
        {"glibc.malloc.hugetlb=2", true},
        {"glibc.malloc.hugetlb=0x200000", true},
        {"glibc.malloc.hugetlb=02", true},
        {"glibc.malloc.hugetlb=2MB", true},
        {"glibc.malloc.check=3", false},
        {"glibc.malloc.hugetlbs=2", false},
        {"xglibc.malloc.hugetlb=2", false},
        {"glibc.cpu.hwcaps=-AVX512F,-AVX512VL:glibc.malloc.hugetlb=2", true},
        {"glibc.malloc.hugetlb=2:glibc.malloc.hugetlb=0", true},
        {"glibc.malloc.hugetlb=0:glibc.malloc.tcache_count=2", false},
        {":::glibc.malloc.hugetlb=1:", true},
        {"glibc.malloc.hugetlb", false},
    };
    for (const Tunables& row : kTunables) EXPECT_EQ(asks_huge_pages(row.value), row.huge) << row.value;
}

}  // namespace
