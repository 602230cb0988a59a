// Limits of hugetlb cgroups, from files in the formats of both versions: the smallest of all ancestors decides.
#include "core/cgroups.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mosalloc;

namespace {

constexpr uint64_t kNone = ~uint64_t{0};
constexpr const char *kMax = "max\n", *kV1None = "9223372036854771712\n";

struct File {
    const char *path, *text;
};

struct Row {
    const char* name;
    const char* mounts;  ///< @ is the test's folder
    const char* groups;
    std::vector<File> files;
    uint64_t pages;      ///< of 2MB; kNone: no limit
    const char* decides;
};

constexpr const char* kTwo = "36 25 0:31 / @/two rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kOne = "40 25 0:35 / @/one rw shared:12 - cgroup cgroup rw,hugetlb\n";

const Row kRows[] = {
    {"no cgroup is mounted", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "0::/a\n", {}, kNone, ""},
    {"no limit", kTwo, "0::/a/b\n", {{"two/a/b/hugetlb.2MB.max", kMax}, {"two/a/b/hugetlb.2MB.current", "0\n"}}, kNone, ""},
    {"own limit",
     kTwo,
     "0::/a/b\n",
     {{"two/a/b/hugetlb.2MB.max", "20971520\n"}, {"two/a/b/hugetlb.2MB.current", "4194304\n"}},
     8,
     "two/a/b/hugetlb.2MB.max"},
    {"a limit of an ancestor",
     kTwo,
     "0::/a/b\n",
     {{"two/a/hugetlb.2MB.max", "20971520\n"},
      {"two/a/hugetlb.2MB.current", "18874368\n"},
      {"two/a/b/hugetlb.2MB.max", kMax},
      {"two/a/b/hugetlb.2MB.current", "0\n"}},
     1,
     "two/a/hugetlb.2MB.max"},
    {"the smaller of two",
     kTwo,
     "0::/a/b\n",
     {{"two/a/hugetlb.2MB.max", "20971520\n"},
      {"two/a/hugetlb.2MB.current", "0\n"},
      {"two/a/b/hugetlb.2MB.max", "8388608\n"},
      {"two/a/b/hugetlb.2MB.current", "2097152\n"}},
     3,
     "two/a/b/hugetlb.2MB.max"},
    {"the limit on reservations",
     kTwo,
     "0::/a\n",
     {{"two/a/hugetlb.2MB.max", "20971520\n"},
      {"two/a/hugetlb.2MB.current", "0\n"},
      {"two/a/hugetlb.2MB.rsvd.max", "10485760\n"},
      {"two/a/hugetlb.2MB.rsvd.current", "10485760\n"}},
     0,
     "two/a/hugetlb.2MB.rsvd.max"},
    {"above the limit",
     kTwo,
     "0::/a\n",
     {{"two/a/hugetlb.2MB.max", "2097152\n"}, {"two/a/hugetlb.2MB.current", "4194304\n"}},
     0,
     "two/a/hugetlb.2MB.max"},
    {"pages of another size", kTwo, "0::/a\n", {{"two/a/hugetlb.1GB.max", "0\n"}, {"two/a/hugetlb.1GB.current", "0\n"}}, kNone, ""},
    {"version 1",
     kOne,
     "5:hugetlb:/job_7/step_0\n",
     {{"one/job_7/hugetlb.2MB.limit_in_bytes", "6291456\n"}, {"one/job_7/hugetlb.2MB.usage_in_bytes", "2097152\n"}},
     2,
     "one/job_7/hugetlb.2MB.limit_in_bytes"},
    {"version 1 without a limit",
     kOne,
     "5:hugetlb:/job_7\n",
     {{"one/job_7/hugetlb.2MB.limit_in_bytes", kV1None}, {"one/job_7/hugetlb.2MB.usage_in_bytes", "0\n"}},
     kNone,
     ""},
    {"version 1, reservations",
     kOne,
     "5:hugetlb:/j\n",
     {{"one/j/hugetlb.2MB.rsvd.limit_in_bytes", "4194304\n"}, {"one/j/hugetlb.2MB.rsvd.usage_in_bytes", "0\n"}},
     2,
     "one/j/hugetlb.2MB.rsvd.limit_in_bytes"},
    {"version 1 beside others",
     "41 25 0:36 / @/one rw - cgroup cgroup rw,memory\n40 25 0:35 / @/huge rw - cgroup cgroup rw,cpu,hugetlb\n",
     "6:memory:/m\n5:cpu,hugetlb:/j\n",
     {{"one/m/hugetlb.2MB.limit_in_bytes", "0\n"},
      {"one/m/hugetlb.2MB.usage_in_bytes", "0\n"},
      {"huge/j/hugetlb.2MB.limit_in_bytes", "2097152\n"},
      {"huge/j/hugetlb.2MB.usage_in_bytes", "0\n"}},
     1,
     "huge/j/hugetlb.2MB.limit_in_bytes"},
    {"the root of the hierarchy",
     kTwo,
     "0::/\n",
     {{"two/hugetlb.2MB.max", "2097152\n"}, {"two/hugetlb.2MB.current", "0\n"}},
     1,
     "two/hugetlb.2MB.max"},
    {"a container that sees a part",
     "36 25 0:31 /docker/77 @/two ro - cgroup2 cgroup2 rw\n",
     "0::/docker/77/x\n",
     {{"two/hugetlb.2MB.max", "4194304\n"},
      {"two/hugetlb.2MB.current", "0\n"},
      {"two/x/hugetlb.2MB.max", "2097152\n"},
      {"two/x/hugetlb.2MB.current", "0\n"}},
     1,
     "two/x/hugetlb.2MB.max"},
    {"the part of another",
     "36 25 0:31 /docker/7 @/two ro - cgroup2 cgroup2 rw\n",
     "0::/docker/77\n",
     {{"two/hugetlb.2MB.max", "0\n"}, {"two/hugetlb.2MB.current", "0\n"}},
     kNone,
     ""},
    {"above the namespace", kTwo, "0::/../other\n", {{"two/hugetlb.2MB.max", "0\n"}, {"two/hugetlb.2MB.current", "0\n"}}, kNone, ""},
    {"a space in the mount point",
     "36 25 0:31 / @/two\\040words rw - cgroup2 cgroup2 rw\n",
     "0::/a\n",
     {{"two words/a/hugetlb.2MB.max", "2097152\n"}, {"two words/a/hugetlb.2MB.current", "0\n"}},
     1,
     "two words/a/hugetlb.2MB.max"},
    {"damaged files",
     "36 25\n - cgroup2\n36 25 0:31 / @/two rw - cgroup2 cgroup2 rw\n",
     "0\n:\n0::/a\nx",
     {{"two/a/hugetlb.2MB.max", "\n"}, {"two/a/hugetlb.2MB.current", "0\n"}},
     kNone,
     ""},
};

TEST(Cgroups, TheSmallestLimitOfAllAncestorsDecides) {
    for (const Row& row : kRows) {
        char folder[] = "/tmp/cgroups-test-XXXXXX";
        ASSERT_NE(mkdtemp(folder), nullptr);
        const std::string root = folder;
        const auto write = [&](const std::string& path, std::string text) {
            for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, root);
            std::filesystem::create_directories(std::filesystem::path(path).parent_path());
            std::ofstream(path) << text;
        };
        write(root + "/mountinfo", row.mounts);
        write(root + "/cgroup", row.groups);
        for (const File& file : row.files) write(root + "/" + file.path, file.text);
        auto cgroups = std::make_unique<Cgroups>();
        cgroups->init((root + "/mountinfo").c_str());
        HugeAllowance found;
        cgroups->huge_pages(kPage2M, &found, (root + "/cgroup").c_str());
        EXPECT_EQ(found.limited(), row.pages != kNone) << row.name;
        if (row.pages != kNone) {
            EXPECT_EQ(found.bytes / kPage2M, row.pages) << row.name;
            EXPECT_EQ(found.file, root + "/" + row.decides) << row.name;
        }
        std::filesystem::remove_all(root);
    }
}

TEST(Cgroups, UnreadableFilesAreNoLimit) {
    auto cgroups = std::make_unique<Cgroups>();
    cgroups->init("/no/such/file");
    HugeAllowance found;
    cgroups->huge_pages(kPage2M, &found, "/no/such/file");
    EXPECT_FALSE(found.limited());
}

}  // namespace
