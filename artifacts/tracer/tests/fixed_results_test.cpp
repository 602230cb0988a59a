// What replaces the kernel's results: random bytes, clocks, the machine's memory, sizes of files' blocks.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>

#include <cstddef>
#include <cstring>
#include <ctime>

#include "plugin/fixed_results.h"
#include "plugin/guest_memory.h"

namespace tessera::tracer {
namespace {

uint64_t at(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

std::vector<Overwrite> after(FixedResults& fixed, const SystemCall& call, int64_t result) { return fixed.after(call, result, read_guest); }

template <typename T>
T value_of(const std::vector<Overwrite>& found) {
    T value{};
    EXPECT_EQ(found.size(), 1u);
    if (found.size() == 1 && found[0].bytes.size() == sizeof value) std::memcpy(&value, found[0].bytes.data(), sizeof value);
    else ADD_FAILURE() << "another size";
    return value;
}

// The first outputs of SplitMix64 from state 0, as its implementations' tests have them.
constexpr uint64_t words[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f};

TEST(FixedResults, RandomBytesAreOneStreamOverAllSources) {
    FixedResults fixed(false);
    const SystemCall getrandom{SYS_getrandom, {0x1000, 16, 0}};
    const auto two = after(fixed, getrandom, 16);
    ASSERT_EQ(two.size(), 1u);
    EXPECT_EQ(two[0].address, 0x1000u);
    ASSERT_EQ(two[0].bytes.size(), 16u);
    EXPECT_EQ(std::memcmp(two[0].bytes.data(), words, 16), 0);
    EXPECT_TRUE(after(fixed, {SYS_openat, {0, at("/dev/urandom")}}, 5).empty());
    const auto read = after(fixed, {SYS_read, {5, 0x2000, 8}}, 3);  // a short read gets as much as was read
    ASSERT_EQ(read.size(), 1u);
    EXPECT_EQ(read[0].address, 0x2000u);
    ASSERT_EQ(read[0].bytes.size(), 3u);
    EXPECT_EQ(std::memcmp(read[0].bytes.data(), words + 2, 3), 0);
}

TEST(FixedResults, OtherFilesAndFailedCallsStay) {
    FixedResults fixed(true);
    EXPECT_TRUE(after(fixed, {SYS_openat, {0, at("/tmp/urandom")}}, 5).empty());
    EXPECT_TRUE(after(fixed, {SYS_read, {5, 0x2000, 8}}, 8).empty());
    EXPECT_TRUE(after(fixed, {SYS_open, {at("/dev/random")}}, 6).empty());
    EXPECT_EQ(after(fixed, {SYS_read, {6, 0x2000, 8}}, 8).size(), 1u);
    EXPECT_TRUE(after(fixed, {SYS_close, {6}}, 0).empty());
    EXPECT_TRUE(after(fixed, {SYS_read, {6, 0x2000, 8}}, 8).empty());
    EXPECT_TRUE(after(fixed, {SYS_getrandom, {0x1000, 16, 0}}, -11).empty());
    EXPECT_TRUE(after(fixed, {SYS_gettimeofday, {0, 0}}, 0).empty());
}

TEST(FixedResults, EachLookAtAClockIsAMicrosecondLater) {
    FixedResults fixed(true);
    const auto first = value_of<timespec>(after(fixed, {SYS_clock_gettime, {CLOCK_MONOTONIC, 0x3000}}, 0));
    EXPECT_EQ(first.tv_sec, 1'600'000'000);
    EXPECT_EQ(first.tv_nsec, 1000);
    const auto second = value_of<timeval>(after(fixed, {SYS_gettimeofday, {0x3000, 0}}, 0));
    EXPECT_EQ(second.tv_sec, 1'600'000'000);
    EXPECT_EQ(second.tv_usec, 2);
    const SystemCall look{SYS_clock_gettime, {CLOCK_REALTIME, 0x3000}};
    for (int i = 2; i < 1'000'000; ++i) fixed.after(look, 0, read_guest);
    const auto last = value_of<timespec>(after(fixed, look, 0));
    EXPECT_EQ(last.tv_sec, 1'600'000'001);
    EXPECT_EQ(last.tv_nsec, 1000);
}

TEST(FixedResults, ClocksStayUnlessTheyAreAskedFor) {
    FixedResults fixed(false);
    EXPECT_TRUE(after(fixed, {SYS_clock_gettime, {CLOCK_MONOTONIC, 0x3000}}, 0).empty());
    EXPECT_TRUE(after(fixed, {SYS_gettimeofday, {0x3000, 0}}, 0).empty());
}

/// A real call's result is overwritten in place: nothing but the size of blocks changes.
TEST(FixedResults, FilesHaveBlocksOfFourKilobytes) {
    FixedResults fixed(false);
    struct stat found{}, before{};
    ASSERT_EQ(stat("/proc/self/status", &found), 0);  // procfs: 1024 bytes
    before = found;
    const uint64_t address = at(&found);
    for (const SystemCall& call : {SystemCall{SYS_stat, {0, address}}, SystemCall{SYS_fstat, {3, address}},
                                   SystemCall{SYS_lstat, {0, address}}, SystemCall{SYS_newfstatat, {0, 0, address, 0}}}) {
        found.st_blksize = 1024;
        for (const Overwrite& over : after(fixed, call, 0))
            std::memcpy(reinterpret_cast<void*>(over.address), over.bytes.data(), over.bytes.size());
        EXPECT_EQ(found.st_blksize, 4096) << call.number;
        EXPECT_TRUE(after(fixed, call, -2).empty()) << "a failed call writes nothing";
    }
    found.st_blksize = before.st_blksize;
    EXPECT_EQ(std::memcmp(&found, &before, sizeof found), 0);
    struct statx extended{};
    for (const Overwrite& over : after(fixed, {SYS_statx, {0, 0, 0, 0, at(&extended)}}, 0))
        std::memcpy(reinterpret_cast<void*>(over.address), over.bytes.data(), over.bytes.size());
    EXPECT_EQ(extended.stx_blksize, 4096u);
}

TEST(FixedResults, TheMachineHasSixteenGigabytes) {
    FixedResults fixed(false);
    const auto found = value_of<struct sysinfo>(after(fixed, {SYS_sysinfo, {0x4000}}, 0));
    EXPECT_EQ(found.totalram * found.mem_unit, uint64_t{16} << 30);
    EXPECT_EQ(found.freeram, found.totalram);
    EXPECT_EQ(found.uptime, 0);
}

}  // namespace
}  // namespace tessera::tracer
