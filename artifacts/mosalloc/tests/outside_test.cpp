// Finds the memory of a process outside the pools, from smaps texts.
#include "run/outside.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

using namespace mosalloc::run;

namespace {

std::string area(uint64_t start, uint64_t end, const char* rest, int resident_kb) {
    char text[512];
    snprintf(text, sizeof text, "%llx-%llx %s\nSize: 4 kB\nKernelPageSize: 4 kB\nMMUPageSize: 4 kB\nRss: %d kB\n",
             static_cast<unsigned long long>(start), static_cast<unsigned long long>(end), rest, resident_kb);
    return text;
}

constexpr const char* kAnonymous = "rw-p 00000000 00:00 0 ";

Outside look(const std::string& text, const std::vector<Span>& passed = {}) {
    auto map = std::make_unique<mosalloc_pool_map>();
    map->pools[MOSALLOC_POOL_ANON] = {MOSALLOC_POOL_ANON, 0x100000000, 1u << 30, 0, 0, 0};
    FILE* file = fmemopen(const_cast<char*>(text.data()), text.size(), "r");
    const Outside out = classify(*map, read_smaps(file), passed);
    fclose(file);
    return out;
}

TEST(Outside, PoolsFilesAndVariablesAreNotCounted) {
    const Outside out = look(area(0x1000, 0x3000, "rw-p 00001000 08:01 77   /usr/bin/a program", 8) +
                             area(0x3000, 0x5000, kAnonymous, 8) +  // right behind the file: its variables
                             area(0x100000000, 0x100400000, kAnonymous, 4096));
    EXPECT_EQ(out.anonymous_bytes, 0u);
    EXPECT_EQ(out.unseen_bytes, 0u);
    EXPECT_FALSE(out.second_libc);
}

TEST(Outside, WhatTheLibraryPassedOnIsSeen) {
    const std::string text = area(0x10000, 0x20000, kAnonymous, 64) + area(0x40000, 0x50000, kAnonymous, 32);
    const Outside out = look(text, {{0x10000, 0x20000}});
    EXPECT_EQ(out.anonymous_bytes, 96u << 10);
    EXPECT_EQ(out.unseen_bytes, 32u << 10);
    EXPECT_EQ(look(text, {{0x10000, 0x18000}}).unseen_bytes, 64u << 10);  // half of the first, all of the second
}

TEST(Outside, HeapStackAndASecondLibcAreNamed) {
    const Outside out = look(area(0x1000, 0x3000, "rw-p 00000000 00:00 0      [heap]", 8) +
                             area(0x4000, 0x5000, "r--p 00000000 08:01 5      /lib/libc.so.6", 4) +
                             area(0x5000, 0x6000, "r-xp 00001000 08:01 5      /lib/libc.so.6", 4) +
                             area(0x7000, 0x8000, "r--p 00000000 08:01 5      /lib/libc.so.6", 4) +
                             area(0x9000, 0xb000, "rw-p 00000000 00:00 0      [stack]", 12));
    EXPECT_EQ(out.kernel_heap_bytes, 8u << 10);
    EXPECT_EQ(out.stack_bytes, 12u << 10);
    EXPECT_EQ(out.anonymous_bytes, 0u);
    EXPECT_TRUE(out.second_libc);
}

}  // namespace
