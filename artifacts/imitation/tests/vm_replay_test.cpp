// The reader of tessera-vm's events and its command line: what is printed, and what is refused with its line.
#include <gtest/gtest.h>

#include <cstring>

#include "vm_support.h"

extern "C" {
#include "cli/vm_options.h"
#include "cli/vm_replay.h"
}

using namespace tests;

namespace {

struct VmReplay : testing::Test {
    bool run(const std::string &text, bool changes = false) {
        char *printed = nullptr;
        size_t bytes = 0;
        FILE *out = open_memstream(&printed, &bytes);
        const bool done = vm_replay_run(&p.process, text.data(), text.size(), "events", false, changes, out, &counts, &failure);
        std::fclose(out);
        output.assign(printed, bytes);
        std::free(printed);
        return done;
    }
    Process p;
    vm_replay_counts counts{};
    error failure{};
    std::string output;
};

TEST_F(VmReplay, PrintsEachFault) {
    ASSERT_TRUE(
        run("mmap 0x40000000 0x400000 rw\ntouch 0x40000123 w\ntouch 0x40000000 r 2097152\ntouch 0x40200000 r\ntouch 0x40201000 w\n"));
    EXPECT_TRUE(output.starts_with("fault 0x40000000 w page order=9 frame="));
    EXPECT_NE(output.find("fault 0x40200000 r zero order=9 tables="), std::string::npos) << output;
    EXPECT_NE(output.find("fault 0x40201000 w copy order=0 frame="), std::string::npos) << output;
    EXPECT_NE(output.find(" split"), std::string::npos) << output;
    EXPECT_EQ(counts.faults[FAULT_NONE][0], 512u);
    EXPECT_EQ(counts.faults[FAULT_PAGE][1], 1u);
}

TEST_F(VmReplay, PrintsChangesUnderTheirEvent) {
    ASSERT_TRUE(run("mmap 0x40000000 0x2000 rw\ntouch 0x40001000 w\nmunmap 0x40001000 0x1000\n", true));
    const std::string frame = output.substr(output.find("new=frame:") + 4, output.find(":wyd") - output.find("new=frame:") - 4);
    EXPECT_NE(output.find("> mmap 0x40000000 0x2000 rw\n  area start=0x40000000 end=0x40002000 flags=0x43 file=0\n"), std::string::npos)
        << output;
    EXPECT_NE(output.find("  entry page=0x40001 level=0 cause=fault old=none new=" + frame + ":wyd\nfault 0x40001000 w page"),
              std::string::npos)
        << output;
    EXPECT_NE(output.find("  entry page=0x40001 level=0 cause=call old=" + frame + ":wyd new=none\n"), std::string::npos) << output;
    EXPECT_NE(output.find("  area start=0x40001000 end=0x40002000 gone\n"), std::string::npos) << output;
}

TEST_F(VmReplay, CountersTakeInWhatLags) {
    struct lru &lru = p.system.lru;
    ASSERT_TRUE(run("mmap 0x40000000 0x400000 rw\nmadvise 0x40000000 0x400000 nohugepage\ntouch 0x40000000 w 0x400000\nidle\n"))
        << failure.found;
    const uint64_t size = lru.size[LRU_INACTIVE_ANON];
    EXPECT_EQ(size, 1023u);                          // 33 batches of 31 pages
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_ANON), size);
    ASSERT_TRUE(run("flush-counters\nmunmap 0x40000000 0x400000\n")) << failure.found;
    EXPECT_EQ(lru.size[LRU_INACTIVE_ANON], 0u);
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_ANON), size);
    ASSERT_TRUE(run("flush-counters\n"));
    EXPECT_EQ(lru_counted(&lru, LRU_INACTIVE_ANON), 0u);
}

TEST_F(VmReplay, RunsFilesForksAndPools) {
    ASSERT_TRUE(run(
        "file 3 4096000\nmmap 0x40000000 0x3e8000 rw file=3\ntouch 0x40064000 r\ntouch 0x40064000 w\nfork 7\nprocess 7\ntouch 0x40064000 w\n"
        "exit\ntouch 0x40064000 w\nread 3 4090000 100000\nwrite 3 4095999 2\ndrop-caches\nhugetlb 2MB 3\nmmap 0x60000000 0x400000 rw "
        "hugetlb=2MB\ntouch 0x60200000 w\nmunmap 0x60000000 0x400000\nhugetlb 1GB 1\nmmap 0x50000000 0x1000 r file=3 offset=4096000\n"
        "touch 0x50000000 r\n"))
        << failure.found;
    EXPECT_NE(output.find(" file order=0 frame="), std::string::npos) << output;
    EXPECT_NE(output.find(" around=15 major\n"), std::string::npos) << output;
    EXPECT_NE(output.find("fork 7 tables=4 pages=15\n"), std::string::npos) << output;      // 14 of the file, and the copy
    EXPECT_NE(output.find("fault 0x40064000 w reuse order=0"), std::string::npos) << output;
    EXPECT_NE(output.find("read 3 bytes=6000\n"), std::string::npos) << output;
    EXPECT_NE(output.find("write 3 bytes=2\n"), std::string::npos) << output;
    EXPECT_NE(output.find("hugetlb 2MB pages=3\n"), std::string::npos) << output;
    EXPECT_NE(output.find("fault 0x60200000 w page order=9"), std::string::npos) << output;
    EXPECT_NE(output.find("hugetlb 1GB pages=0\n"), std::string::npos) << output;            // 256MB of memory
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(VmReplay, RefusesWrongFilesForksAndPools) {
    for (const char *line : {"file 0 5\n", "file 3\n", "file 3 5 small\n", "read 9 0 1\n", "write 9 0 1\n", "fork 0\n", "process 4\n",
                             "exit\n", "drop-caches 1\n", "hugetlb 4KB 1\n", "hugetlb 2MB\n", "mmap 0x40000000 0x200000 rw hugetlb=2MB\n",
                             "mmap 0x40000000 0x1000 rw hugetlb=2MB\n", "mmap any 0x200000 rw hugetlb=2MB\n"}) {
        EXPECT_FALSE(run(line)) << line;
        EXPECT_NE(failure.remedy[0], '\0');
    }
}

TEST_F(VmReplay, RunsEveryEvent) {
    ASSERT_TRUE(
        run("# a comment\nmmap any 2097152 rwx noreserve\nmmap 0x10000000 0x3000 r file=3 offset=4096 shared\nheap 0x20000000\n"
            "brk 0x20010000\ntouch 0x20000fff w\nmprotect 0x20000000 4096 none\ntouch 0x20000000 r\nmadvise 0x20000000 65536 "
            "dontneed\nmremap 0x10000000 0x3000 0x1000\nmremap 0x10000000 0x1000 0x2000 0x30000000\nmunmap 0x30000000 "
            "8192\nscan\nkswapd\n"))
        << failure.found;
    // The highest 2MB below 0x7ffff7fff000 whose start is aligned: 4MB below is 0x7ffff7bff000, rounded up to 2MB.
    EXPECT_TRUE(output.starts_with("place 0x7ffff7c00000\n")) << output;
    EXPECT_NE(output.find("fault 0x20000000 r bad-access\n"), std::string::npos) << output;
    EXPECT_EQ(p.areas().substr(0, 13), "131072-131073");
}

TEST_F(VmReplay, ABadAccessEndsItsTouch) {
    ASSERT_TRUE(run("mmap 0x40000000 0x1000 r\ntouch 0x40000000 r 0x7fffbffff000\ntouch 0x40000000 w 4096\n"));
    EXPECT_EQ(counts.faults[FAULT_ZERO][0], 1u);
    EXPECT_EQ(counts.faults[FAULT_BAD_ACCESS][0], 2u);
}

TEST_F(VmReplay, ScanNamesRanges) {
    p.system.thp.enabled = THP_NEVER;
    ASSERT_TRUE(run("mmap 0x40000000 0x400000 rw\ntouch 0x40000000 w\n"));
    p.system.thp.enabled = THP_ALWAYS;
    ASSERT_TRUE(run("touch 0x40200000 w\nscan\n"));
    EXPECT_NE(output.find("scan 0x40000000 collapsed\nscan 0x40200000 mapped\n"), std::string::npos) << output;
    EXPECT_EQ(counts.collapsed, 1u);
}

TEST_F(VmReplay, RefusesWithTheLine) {
    const struct {
        const char *text, *line;
    } rows[] = {{"mmap 0x1000\n", "1"},
                {"mmap 0x1001 0x1000 rw\n", "1"},
                {"mmap 0x1000 0x1000 rq\n", "1"},
                {"mmap 0x1000 0x1000 rr\n", "1"},
                {"mmap 0x1000 0x1000 rw offset=4096\n", "1"},
                {"mmap 0x1000 0x1000 rw file=1 offset=5\n", "1"},
                {"mmap 0x1000 0x1000 rw shared\n", "1"},
                {"mmap 0x800000000000 0x1000 rw\n", "1"},
                {"mmap any 0 rw\n", "1"},
                {"mmap any 0x1000 rw file=1\n", "1"},
                {"mmap any 0x1000 rw file=1 shared\n", "1"},
                {"mmap any 0x1000 rw shared\n", "1"},
                {"kswapd 1\n", "1"},
                {"compact 1\n", "1"},
                {"kcompactd 1\n", "1"},
                {"mmap any 0x800000000000 rw\n", "1"},
                {"# x\nmunmap 0x1000\n", "2"},
                {"munmap 0x1000 0\n", "1"},
                {"mprotect 0x1000 0x1000 r\n", "1"},
                {"mremap 0x1000 0x1000 0x2000\n", "1"},
                {"madvise 0x1000 0x1000 free\n", "1"},
                {"madvise 0x1000 0x1000 hugepage\n", "1"},
                {"brk 0x1000\n", "1"},
                {"heap 0x1000\nheap 0x1000\n", "2"},
                {"touch 0x1000 x\n", "1"},
                {"touch 0x800000000000 r\n", "1"},
                {"touch 0x1000 r 0x1000 1\n", "1"},
                {"scan 1\n", "1"},
                {"fork\n", "1"},
                {"scan", "1"},
                {"mmap 0x1000 0x2000 rw\nmremap 0x1000 0x1000 0x2000\n", "2"}};
    for (const auto &row : rows) {
        Process fresh;
        char buffer[64];
        FILE *out = fmemopen(buffer, sizeof buffer, "w");
        EXPECT_FALSE(vm_replay_run(&fresh.process, row.text, strlen(row.text), "events", false, false, out, &counts, &failure)) << row.text;
        std::fclose(out);
        EXPECT_EQ(std::string(failure.asked), std::string("events line ") + row.line) << row.text;
        EXPECT_NE(failure.remedy[0], '\0');
    }
}

bool parse(std::vector<std::string> words, vm_options &options) {
    std::vector<char *> arguments{const_cast<char *>("tessera-vm")};
    error failure;
    for (auto &word : words) arguments.push_back(word.data());
    return vm_options_parse(&options, static_cast<int>(arguments.size()), arguments.data(), &failure);
}

TEST(VmOptions, ReachTheSettings) {
    vm_options options;
    ASSERT_TRUE(
        parse({"replay",          "e",   "--memory",        "2GB", "--thp",           "madvise", "--defrag",          "defer+madvise",
               "--zero-page",     "off", "--max-ptes-none", "0",   "--max-ptes-swap", "1",       "--max-ptes-shared", "2",
               "--pages-to-scan", "512", "--root-order",    "0",   "--cpus",          "3",       "--decisions"},
              options));
    EXPECT_EQ(options.machine.memory_bytes, 2 * gib);
    EXPECT_EQ(options.thp.enabled, THP_MADVISE);
    EXPECT_EQ(options.thp.defrag, THP_DEFRAG_DEFER_MADVISE);
    EXPECT_FALSE(options.thp.use_zero_page);
    EXPECT_EQ(options.thp.max_ptes_none, 0u);
    EXPECT_EQ(options.thp.max_ptes_swap, 1u);
    EXPECT_EQ(options.thp.max_ptes_shared, 2u);
    EXPECT_EQ(options.thp.pages_to_scan, 512u);
    EXPECT_EQ(options.root_order, 0u);
    EXPECT_EQ(options.machine.config.cpus, 3u);
    EXPECT_TRUE(options.decisions);
}

TEST(VmOptions, ReachSwapAndReclaim) {
    vm_options options;
    ASSERT_TRUE(parse({"replay", "e", "--memory", "1GB"}, options));
    EXPECT_EQ(options.swap_pages, 0u);
    EXPECT_EQ(options.swappiness, 60u);
    EXPECT_EQ(options.page_cluster, 3u);
    ASSERT_TRUE(
        parse({"replay", "e", "--memory", "1GB", "--swap", "2MB", "--swap-device", "zram", "--swappiness", "200", "--page-cluster", "0"},
              options));
    EXPECT_EQ(options.swap_pages, 512u);
    EXPECT_TRUE(options.swap_synchronous);
    EXPECT_EQ(options.swappiness, 200u);
    EXPECT_EQ(options.page_cluster, 0u);
    EXPECT_FALSE(parse({"replay", "e", "--memory", "1GB", "--swappiness", "201"}, options));
    EXPECT_FALSE(parse({"replay", "e", "--memory", "1GB", "--swap-device", "tape"}, options));
}

TEST(VmOptions, NameAPolicy) {
    vm_options options;
    ASSERT_TRUE(parse({"replay", "e", "--memory", "1GB", "--policy", "linux-6.12"}, options));
    EXPECT_EQ(options.policy, policy_named("linux-6.12"));
    EXPECT_FALSE(parse({"replay", "e", "--memory", "1GB", "--policy", "eager"}, options));
}

TEST_F(VmReplay, CompactsOnDemand) {
    ASSERT_TRUE(run("mmap 0x40000000 0x400000 rw\ntouch 0x40000000 w 0x400000\ncompact\nkcompactd\n"));
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(VmOptions, WithoutAnOptionTheBootDecides) {
    // hugepage_init: 131072 managed frames are enough for always; one less boots with all flags 0.
    vm_options options;
    for (const uint32_t frames : {131072u, 131071u}) {
        const bool enough = frames == 131072;
        Memory memory = Memory::of({{4096, 4096 + frames}});
        ASSERT_TRUE(parse({"replay", "e", "--memory", "1GB"}, options));
        EXPECT_EQ(options.machine.config.thp, PHYS_THP_DEFAULT);
        vm_options_settle(&options, &memory.p);
        EXPECT_EQ(options.thp.enabled, enough ? THP_ALWAYS : THP_NEVER);
        EXPECT_EQ(options.thp.defrag, enough ? THP_DEFRAG_MADVISE : THP_DEFRAG_NEVER);
        EXPECT_EQ(options.thp.use_zero_page, enough);
        EXPECT_EQ(options.thp.khugepaged_defrag, enough);
        EXPECT_EQ(options.thp.max_ptes_none, 511u);
        ASSERT_TRUE(parse({"replay", "e", "--memory", "1GB", "--thp", "madvise", "--defrag", "defer", "--zero-page", "on"}, options));
        EXPECT_EQ(options.machine.config.thp, PHYS_THP_ON);
        vm_options_settle(&options, &memory.p);
        EXPECT_EQ(options.thp.enabled, THP_MADVISE);
        EXPECT_EQ(options.thp.defrag, THP_DEFRAG_DEFER);
        EXPECT_TRUE(options.thp.use_zero_page);
    }
    ASSERT_TRUE(parse({"replay", "e", "--memory", "1GB", "--thp", "never"}, options));
    EXPECT_EQ(options.machine.config.thp, PHYS_THP_OFF);
}

TEST(VmOptions, RefuseWhatDoesNotFit) {
    vm_options options;
    const std::vector<std::vector<std::string>> rows = {{},
                                                        {"show"},
                                                        {"replay"},
                                                        {"replay", "e"},
                                                        {"replay", "e", "--memory", "4"},
                                                        {"replay", "e", "--memory", "1GB", "--snapshot", "s"},
                                                        {"replay", "e", "--memory", "1GB", "--thp", "on"},
                                                        {"replay", "e", "--memory", "1GB", "--defrag", "madvise+defer"},
                                                        {"replay", "e", "--memory", "1GB", "--max-ptes-none", "512"},
                                                        {"replay", "e", "--memory", "1GB", "--pages-to-scan", "0"},
                                                        {"replay", "e", "--memory", "1GB", "--root-order", "2"},
                                                        {"replay", "e", "--snapshot", "s", "--cpus", "2"},
                                                        {"replay", "e", "f", "--memory", "1GB"},
                                                        {"replay", "e", "--memory"},
                                                        {"replay", "e", "--memory", "1GB", "--swap", "1"}};
    for (const auto &row : rows) EXPECT_FALSE(parse(row, options)) << (row.empty() ? "" : row.back());
}

}  // namespace
