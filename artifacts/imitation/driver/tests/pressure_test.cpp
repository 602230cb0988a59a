// Memory that is too small for the program: reclaim, swap, compaction, and the end of memory.
#include "programs.h"

namespace tests {
namespace {

using os::Cause;
using os::Kind;

using Keys = std::map<std::string, std::string>;

os::Scenario small(Keys more = {}) {
    Keys keys = {{"memory_bytes", "20971520"}, {"thp.enabled", "never"}, {"swap.bytes", "134217728"}};
    for (const auto &[key, value] : more) keys[key] = value;
    return scenario(keys);
}

uint64_t reclaimed_pages(const Ran &of) {
    uint64_t sum = 0;
    for (const os::Record &r : of.all)
        if (r.kind == Kind::unmap && r.cause == static_cast<uint8_t>(os::Loss::reclaimed)) sum += r.pages;
    return sum;
}

constexpr uint64_t pages = 40 * mb / 4096;

Program twice() {
    Program program;
    program.map(0, 40 * mb);
    for (int pass = 0; pass < 2; ++pass)
        for (uint64_t page = 0; page < pages; ++page) program.access(anon_base + page * 4096, pass == 0);
    return program;
}

TEST(Pressure, WhatDoesNotFitGoesToSwapAndComesBack) {
    const Program program = twice();
    const Ran found = ran(program, small());
    expect_mapped(program, found);
    // A machine of 20MB has at most 5120 frames: all other pages must be in swap after the first pass.
    EXPECT_EQ(count_of(found, Kind::map, Cause::page), pages);
    EXPECT_GE(counter(found, "pswpout"), pages - 5120);
    EXPECT_GE(count_of(found, Kind::map, Cause::swap) + count_of(found, Kind::map, Cause::swap_cache), pages - 5120);
    EXPECT_EQ(count_of(found, Kind::map, Cause::swap), counter(found, "pgmajfault"));
    EXPECT_EQ(found.result.counts.major, counter(found, "pgmajfault"));
    EXPECT_EQ(found.result.counts.faults, counter(found, "pgfault"));
    EXPECT_EQ(reclaimed_pages(found), found.result.counts.reclaimed_pages);
    // Each page that comes back was lost before; the others are lost still.
    EXPECT_GE(reclaimed_pages(found), pages - 5120);
    // In order, windows of 8 pages are read, and all of them are used: one in eight faults reads.
    EXPECT_GT(counter(found, "swap_ra_hit") * 10, counter(found, "swap_ra") * 9);
    EXPECT_NEAR(double(counter(found, "pswpin")) / double(counter(found, "pgmajfault")), 8, 0.5);
    // The disk is asked for each page alone.
    EXPECT_EQ(counter(found, "disk_reads"), counter(found, "pswpin"));
    EXPECT_EQ(counter(found, "disk_written_bytes"), counter(found, "pswpout") * 4096);
    EXPECT_GT(counter(found, "disk_read_ns"), 0u);
}

TEST(Pressure, CompressedMemoryReadsOnePageAFaultAndNoDisk) {
    const Program program = twice();
    const Ran found = ran(program, small({{"swap.synchronous", "1"}}));
    expect_mapped(program, found);
    EXPECT_EQ(counter(found, "pswpin"), counter(found, "pgmajfault"));
    EXPECT_EQ(counter(found, "swap_ra"), 0u);
    EXPECT_EQ(counter(found, "disk_reads") + counter(found, "disk_writes"), 0u);
    EXPECT_EQ(count_of(found, Kind::map, Cause::swap_cache), 0u);
}

TEST(Pressure, TheClusterOfReadsIsAKey) {
    const Ran found = ran(twice(), small({{"swap.page_cluster", "0"}}));
    EXPECT_EQ(counter(found, "pswpin"), counter(found, "pgmajfault"));
}

TEST(Pressure, AnAccessInTwoPagesHasBoth) {
    // Each page goes to swap and comes back, some of them between the two faults of one access.
    Program program;
    program.map(0, 40 * mb);
    for (int pass = 0; pass < 3; ++pass)
        for (uint64_t page = 0; page + 1 < pages; ++page)
            program.access(anon_base + page * 0x9e3779b1 % (pages - 1) * 4096 + 4092, (page + pass) % 2);
    for (const char *synchronous : {"0", "1"}) {
        const Ran found = ran(program, small({{"swap.synchronous", synchronous}}));
        expect_mapped(program, found);
        EXPECT_GT(counter(found, "pswpin"), pages);
    }
}

/// A policy whose fault of a page takes the page beside it away.
template <process_advice advice>
const vm_policy *taking() {
    static const vm_policy policy = [] {
        vm_policy made{};
        made.on_fault = [](const missing *missing, fault *fault) {
            if (missing->level != 0) return false;
            EXPECT_EQ(process_advise(missing->process, missing->page ^ 1, 1, advice, 0), nullptr);
            fault_page(missing, fault);
            return true;
        };
        return made;
    }();
    return &policy;
}

TEST(Pressure, AnAccessInTwoPagesStartsAgainIfItsSecondFaultTakesTheFirstPage) {
    os::Scenario under = small();
    under.policy = taking<ADVICE_PAGEOUT>();
    const Program program = Program().map(0, 2 * 4096).store(4092);
    const Ran found = ran(program, under);
    expect_mapped(program, found);
    ASSERT_EQ(found.changes.size(), 4u);  // fault, reclaim, fault, and the page comes back from swap
    EXPECT_EQ(found.changes[1].kind, Kind::unmap);
    EXPECT_EQ(count_of(found, Kind::map, Cause::page), 2u);
    EXPECT_EQ(count_of(found, Kind::map, Cause::swap) + count_of(found, Kind::map, Cause::swap_cache), 1u);
    EXPECT_EQ(found.changes[3].page, 0u);
}

TEST(Pressure, AnAccessInTwoPagesThatNeverHasBothIsNamed) {
    os::Scenario under = small();
    under.policy = taking<ADVICE_DONTNEED>();
    expect_parts(refused([&] { ran(Program().map(0, 2 * 4096).store(4092), under); }),
                 {"1 ", "two pages at once", "pool mmap, page 0", "os/out-of-memory"});
}

TEST(Pressure, LargePagesGoToSwapWhole) {
    Program program;
    program.map(0, 160 * mb);
    for (uint64_t at = 0; at < 160 * mb; at += 2 * mb) program.store(at);
    for (uint64_t page = 0; page < 160 * 256; page += 97) program.load(page * 4096);
    const Ran found = ran(program, small({{"memory_bytes", "134217728"}, {"thp.enabled", "always"}, {"thp.defrag", "always"}}));
    expect_mapped(program, found);
    EXPECT_GT(counter(found, "thp_swpout"), 0u);
    // Each was split before its pages went: the log tells the table.
    const auto splits = std::count_if(found.all.begin(), found.all.end(),
                                      [](const os::Record &r) { return r.kind == Kind::split && r.tables.size() == 4; });
    EXPECT_GE(splits, static_cast<int64_t>(counter(found, "thp_swpout")));
}

TEST(Pressure, OneBlockThatNeedsMoreThanThereIsKeepsEachAccessMapped) {
    // 10,240 pages in one block: pages of its begin are gone before its end, so faults stand before their own accesses.
    Program program;
    program.map(0, 40 * mb).burst(0, pages, 1).load(0).burst(0, 2000, 0);
    const Ran found = ran(program, small());
    expect_mapped(program, found);
    const auto inside = [](const os::Record &r) { return r.kind == Kind::map && r.block == 0 && r.access > 0; };
    EXPECT_GT(std::count_if(found.all.begin(), found.all.end(), inside), 1000);
    EXPECT_EQ(ran(program, scenario({{"thp.enabled", "never"}})).changes.back().access,
              0u);  // enough memory: all at the begin of the block
}

TEST(Pressure, WithoutSwapMemoryEnds) {
    const std::string found = refused([] { ran(twice(), small({{"swap.bytes", "0"}})); });
    expect_parts(found, {"1 ", "out of memory", "there is no swap", "memory_bytes or swap.bytes", "pool mmap", "os/out-of-memory"});
}

TEST(Pressure, FullSwapIsNamed) {
    // 20MB of memory and 8MB of swap: 28MB at most.
    const std::string found = refused([] { ran(twice(), small({{"swap.bytes", "8388608"}})); });
    expect_parts(found, {"1 ", "out of memory", "2047 of 2047 pages of swap are in use", "os/out-of-memory"});
    const int page = std::stoi(found.substr(found.find("page ", found.find("pool mmap")) + 5));
    EXPECT_GT(page, 28 * 256 * 3 / 4);
    EXPECT_LT(page, 28 * 256);
}

TEST(Pressure, CompactionMovesPinnedPagesThatAreMovable) {
    // Half of 64MB is in blocks below 2MB because of pages that could move. A fault that may compact gets its 2MB.
    Program program;
    program.map(0, 48 * mb);
    for (uint64_t at = 0; at < 48 * mb; at += 2 * mb) program.store(at);
    const auto under = [](const char *share, const char *defrag) {
        return scenario({{"memory_bytes", "67108864"},
                         {"fragmentation.index", "unusable-index"},
                         {"fragmentation.target_thousandths", "700"},
                         {"fragmentation.tolerance_thousandths", "100"},
                         {"fragmentation.movable_share_thousandths", share},
                         {"thp.defrag", defrag}});
    };
    const Ran moving = ran(program, under("1000", "always")), fixed = ran(program, under("0", "always")),
              asking = ran(program, under("1000", "never"));
    EXPECT_GT(counter(moving, "pgmigrate_success"), 0u);
    EXPECT_GT(counter(moving, "compact_success"), 0u);
    EXPECT_GT(counter(moving, "thp_fault_alloc"), counter(fixed, "thp_fault_alloc"));
    EXPECT_EQ(counter(asking, "compact_stall"), 0u);
    expect_mapped(program, moving);
}

TEST(Pressure, CompactionMovesPagesOfTheProgram) {
    // Every other page is given back, so that no 2MB are free; then 2MB are asked for.
    Program program;
    program.map(0, 24 * mb);
    for (uint64_t page = 0; page < 24 * 256; ++page) program.store(page * 4096);
    for (uint64_t page = 0; page < 24 * 256; page += 2) program.call(EventKind::advise, page * 4096, 4096, 0, 4);
    program.map(32 * mb, 8 * mb).call(EventKind::advise, 32 * mb, 8 * mb, 0, 14);
    for (uint64_t at = 32 * mb; at < 40 * mb; at += 2 * mb) program.store(at);
    for (uint64_t page = 1; page < 24 * 256; page += 2) program.load(page * 4096);
    const Ran found = ran(program, scenario({{"memory_bytes", "33554432"}, {"thp.enabled", "madvise"}, {"thp.defrag", "madvise"}}));
    expect_mapped(program, found);
    EXPECT_GT(counter(found, "pgmigrate_success"), 0u);
    EXPECT_EQ(count_of(found, Kind::map, Cause::migrated), counter(found, "pgmigrate_success"));
    EXPECT_GT(counter(found, "thp_fault_alloc"), 0u);
}

TEST(Pressure, AreasCostMemoryAndReclaimGetsIt) {
    // 20,000 areas: each second page is read-only. Their objects take some 5MB, while pages fill the rest.
    Program program;
    program.map(0, 40 * mb);
    for (uint64_t page = 0; page < pages; ++page) program.store(page * 4096);
    for (uint64_t page = 0; page < pages; page += 2) program.call(EventKind::protect, page * 4096, 4096, 1);
    for (uint64_t page = 0; page < pages; ++page) program.load(page * 4096);
    const Ran with = ran(program, small({{"slab.areas", "1"}})), without = ran(program, small());
    expect_mapped(program, with);
    EXPECT_GT(counter(with, "slabs"), 300u);
    EXPECT_EQ(counter(with, "slab_refused"), 0u);  // reclaim found frames for all of them
    EXPECT_EQ(counter(without, "slabs"), 0u);
    EXPECT_GT(counter(with, "pswpout"), counter(without, "pswpout"));
}

TEST(Pressure, TheSameRunWritesTheSameBytes) {
    const std::string trace = twice().write(), first = scratch("log"), second = scratch("log");
    os::run(trace, small(), first);
    os::run(trace, small(), second);
    std::ifstream a(first, std::ios::binary), b(second, std::ios::binary);
    EXPECT_TRUE(std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b), {}));
    for (const std::string &path : {trace, first, second}) std::filesystem::remove(path);
}

}  // namespace
}  // namespace tests
