#include "counters/counts.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "publishing.h"

using namespace tessera::counters;

namespace {

/// Empty if a count with these times is accepted.
std::string judged(uint64_t enabled_ns, uint64_t running_ns, bool read = true) {
    Event event;
    event.name = "walks";
    return check_counts({event}, {{read, 7, enabled_ns, running_ns}}).found;
}

TEST(Counts, AGapUpToTenMicrosecondsOrAThousandthIsALateStart) {
    EXPECT_EQ(judged(1000000, 1000000), "");
    EXPECT_EQ(judged(1000000, 990000), "");     // 10 us; 0.1% would be 1 us
    EXPECT_NE(judged(1000000, 989999), "");
    EXPECT_EQ(judged(20000000, 19980000), "");  // 20 us of 20 ms
    EXPECT_NE(judged(20000000, 19979999), "");
    EXPECT_EQ(judged(20000000, 20000001), "");  // running can't be longer; no wrap-around
}

TEST(Counts, WhatNeverCountedIsNoZero) {
    EXPECT_NE(judged(0, 0), "");
    EXPECT_NE(judged(5000, 0), "");  // the gap alone would be accepted
    EXPECT_NE(judged(1000, 1000, false), "");
}

TEST(Counts, TheEventIsNamed) {
    Event good, bad;
    good.name = "loads";
    bad.name = "stores";
    EXPECT_EQ(check_counts({good, bad}, {{true, 1, 9, 9}, {true, 1, 0, 0}}).asked, "event stores");
}

TEST(Counts, AReadThatReturnsNothingIsNoCount) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const uint64_t values[3] = {42, 7, 6};
    ASSERT_EQ(write(ends[1], values, sizeof values), static_cast<ssize_t>(sizeof values));
    close(ends[1]);  // then the pipe reads as an event in error does: end of file
    const std::vector<Count> counts = read_counts({ends[0], ends[0]});
    close(ends[0]);
    EXPECT_TRUE(counts[0].read);
    EXPECT_EQ(counts[0].value, 42u);
    EXPECT_EQ(counts[0].enabled_ns, 7u);
    EXPECT_EQ(counts[0].running_ns, 6u);
    EXPECT_FALSE(counts[1].read);
}

TEST(Counts, TheFile) {
    const std::string path = testing::TempDir() + "counts-" + std::to_string(getpid()) + ".csv";
    Event a, b;
    a.name = "walks";
    b.name = "faults";
    ASSERT_FALSE(prepare_file(path));
    ASSERT_FALSE(write_counts(path, {a, b}, {{true, UINT64_MAX, 5, 4}, {true, 0, 3, 3}}, 17));
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_EQ(text.str(), "event,value,enabled_ns,running_ns\nwalks,18446744073709551615,5,4\nfaults,0,3,3\nregion_ns,17,0,0\n");
    EXPECT_FALSE(prepare_file(path));  // removes it: a run that fails must not leave the counts of an earlier one
    EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(Counts, TheFileIsOnTheDiskUnderItsName) {
    const std::string folder = testing::TempDir() + "counts-" + std::to_string(getpid()), path = folder + "/counts.csv";
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    publishing::watch();
    ASSERT_FALSE(write_counts(path, {}, {}, 17));
    const std::string part = path + "." + std::to_string(getpid()) + ".part";
    EXPECT_EQ(publishing::calls, (std::vector<std::string>{"sync " + part, "rename " + path, "sync " + folder}));
    for (const size_t failing : {0u, 1u, 2u}) {
        publishing::watch(failing);
        ASSERT_FALSE(prepare_file(path));
        EXPECT_EQ(write_counts(path, {}, {}, 17).found, "Input/output error");
        EXPECT_NE(access(part.c_str(), F_OK), 0);
        EXPECT_EQ(access(path.c_str(), F_OK) == 0, failing == 2);
    }
    publishing::watch();
    EXPECT_FALSE(prepare_file(path));
    EXPECT_EQ(rmdir(folder.c_str()), 0);
}

TEST(Counts, FilesThatCannotBeWritten) {
    EXPECT_TRUE(prepare_file("/no/such/folder/counts.csv"));
    EXPECT_TRUE(prepare_file("/dev/null"));
    EXPECT_TRUE(prepare_file(testing::TempDir()));
    EXPECT_TRUE(write_counts("/no/such/folder/counts.csv", {}, {}, 0));
}

}  // namespace
