// Calls of the program by hand: what becomes of pages that were mapped.
#include "programs.h"

namespace tests {
namespace {

using os::Kind;

const std::map<std::string, std::string> never = {{"thp.enabled", "never"}};

trace::Event moved(uint64_t from, uint64_t length, uint64_t to, uint64_t new_length) {
    return {0, EventKind::remap, EventPool::anon, EventPool::anon, from, length, to, new_length, 0, 1, 0, 0};
}

TEST(Calls, AnUnmappedRangeFaultsAgain) {
    const Ran found =
        ran(Program().map(0, 16384).store(0).store(4096).call(EventKind::unmap, 0, 4096).map(0, 4096).store(0).load(4096), scenario(never));
    ASSERT_EQ(found.changes.size(), 4u);
    EXPECT_EQ(found.changes[2].kind, Kind::unmap);
    EXPECT_EQ(found.changes[2].page, 0u);
    EXPECT_EQ(found.changes[2].pages, 1u);
    EXPECT_EQ(found.changes[2].block, 2u);
    EXPECT_EQ(found.changes[3].page, 0u);
    EXPECT_EQ(found.changes[3].frame, found.changes[0].frame);  // the per-CPU list gives back what was freed last
}

TEST(Calls, AMapOverPagesUnmapsThem) {
    const Ran found = ran(Program().map(0, 8192).store(0).map(0, 8192).load(0), scenario(never));
    ASSERT_EQ(found.changes.size(), 3u);
    EXPECT_EQ(found.changes[1].kind, Kind::unmap);
    EXPECT_EQ(found.changes[2].cause, static_cast<uint8_t>(os::Cause::zero));
}

TEST(Calls, AProtectedPartSplitsTwoMegabytes) {
    const Ran found = ran(Program().map(0, 2 * mb).store(0).call(EventKind::protect, 4096, 4096, 1).load(4096).store(0), scenario());
    ASSERT_EQ(found.changes.size(), 2u);
    EXPECT_EQ(found.changes[1].kind, Kind::split);
    EXPECT_EQ(found.changes[1].frame, found.changes[0].frame);
    EXPECT_EQ(found.changes[1].pages, 512u);
    EXPECT_EQ(found.changes[1].tables.size(), 4u);
    EXPECT_EQ(found.all.back().kind, Kind::count);
    EXPECT_EQ(std::count_if(found.all.begin(), found.all.end(), [](const os::Record &r) { return r.kind == Kind::area; }), 3);
    expect_parts(refused([] { ran(Program().map(0, 2 * mb).store(0).call(EventKind::protect, 4096, 4096, 1).store(4096), scenario()); }),
                 {"os/no-area", "page 1"});
}

TEST(Calls, AreasStandAtTheirTime) {
    // map; a protected part makes three of one; unmap of the middle one and a half.
    const Ran found =
        ran(Program().map(0, 16384).store(0).call(EventKind::protect, 4096, 4096, 1).store(8192).call(EventKind::unmap, 4096, 8192).load(0),
            scenario(never));
    LiveAreas areas;
    std::vector<size_t> counts;
    unsigned open = 0;
    for (const os::Record &r : found.all) {
        if (r.kind == Kind::call_begin) ++open;
        EXPECT_TRUE(open == 1 || (r.kind != Kind::area_live && r.kind != Kind::area_gone)) << "areas change within calls";
        apply(r, areas);
        if (r.kind != Kind::call) continue;
        --open;
        counts.push_back(areas.size());
        EXPECT_EQ(r.frame, areas.size());
    }
    EXPECT_EQ(counts, (std::vector<size_t>{1, 3, 2}));
    EXPECT_EQ(areas, (LiveAreas{{0, {1, 0x43}}, {3, {1, 0x43}}}));
}

TEST(Calls, ACopySaysWhatItCopied) {
    const Ran found = ran(Program()
                              .map(0, 4096)
                              .load(0)
                              .store(0)
                              .file(8192)
                              .map_file(1, 0, 8192, 3)
                              .load(0, file_base)
                              .store(0, file_base)
                              .store(4096, file_base),
                          scenario(never));
    std::vector<os::Record> sources;
    for (const os::Record &r : found.all)
        if (r.kind == Kind::source) sources.push_back(r);
    ASSERT_EQ(count_of(found, Kind::map, os::Cause::copy) + count_of(found, Kind::map, os::Cause::copy_read), 3u);
    ASSERT_EQ(sources.size(), 2u);  // none for zeros
    EXPECT_EQ(sources[0].cause, static_cast<uint8_t>(os::Source::mapped));
    EXPECT_EQ(sources[0].page, 0u);
    EXPECT_EQ(sources[0].pool, os::file_pool);
    const auto read = std::find_if(found.all.begin(), found.all.end(), [](const os::Record &r) {
        return r.cause == static_cast<uint8_t>(os::Cause::file_read) && r.kind == Kind::map;
    });
    ASSERT_NE(read, found.all.end());
    EXPECT_EQ(sources[0].frame, read->frame);
}

TEST(Calls, AMoveKeepsFrames) {
    const Ran found = ran(Program().map(0, 8192).store(0).store(4096).call(moved(0, 8192, 4 * mb, 12288)).load(4 * mb).store(4 * mb + 8192),
                          scenario(never));
    ASSERT_EQ(found.changes.size(), 5u);
    EXPECT_EQ(found.changes[2].kind, Kind::unmap);
    const os::Record &run = found.changes[3];
    EXPECT_EQ(run.kind, Kind::map);
    EXPECT_FALSE(run.is_fault());
    EXPECT_EQ(run.page, 1024u);
    EXPECT_EQ(run.pages, 2u);  // two neighbours of the refill are one run
    EXPECT_EQ(run.frame, found.changes[0].frame);
    EXPECT_EQ(found.changes[4].page, 1026u);
}

TEST(Calls, TwoMegabytesMoveWhole) {
    const Ran found = ran(Program().map(0, 2 * mb).store(0).call(moved(0, 2 * mb, 8 * mb, 2 * mb)).store(9 * mb), scenario());
    ASSERT_EQ(found.changes.size(), 3u);
    EXPECT_TRUE(found.changes[2].large);
    EXPECT_EQ(found.changes[2].frame, found.changes[0].frame);
    EXPECT_EQ(found.changes[2].page, 2048u);
}

TEST(Calls, ATableWithoutPagesMovesToo) {
    // The table of the first 2MB is empty when it moves; the fault at its new place makes no table.
    const auto drop = [](Program &program) -> Program & { return program.call(EventKind::advise, 0, 2 * mb, 0, 4); };
    Program program;
    program.map(0, 2 * mb).store(0).map(8 * mb, 4096).store(8 * mb).call(EventKind::unmap, 8 * mb, 4096);
    const Ran found = ran(drop(program).call(moved(0, 2 * mb, 8 * mb, 2 * mb)).store(8 * mb), scenario(never));
    const os::Record &first = found.changes.front(), &last = found.changes.back(), &tables = found.changes[found.changes.size() - 2];
    EXPECT_EQ(last.page, 2048u);
    EXPECT_TRUE(last.tables.empty());
    EXPECT_EQ(tables.kind, Kind::unmap);
    EXPECT_EQ(tables.page, 2048u);
    EXPECT_EQ(tables.pages, 512u);
    ASSERT_EQ(tables.tables.size(), 4u);
    EXPECT_EQ(tables.tables[3], first.tables[3]);
}

TEST(Calls, DontneedDropsPages) {
    const Ran found = ran(Program().map(0, 8192).store(0).call(EventKind::advise, 0, 8192, 0, 4).load(0), scenario(never));
    ASSERT_EQ(found.changes.size(), 3u);
    EXPECT_EQ(found.changes[1].kind, Kind::unmap);
    EXPECT_EQ(found.changes[1].pages, 2u);
}

TEST(Calls, TheHeapGrowsAndShrinks) {
    const auto brk = [](uint64_t bytes) { return trace::Event{0, EventKind::brk, EventPool::heap, {}, 0, bytes, 0, 0, 0, 0, 0, 0}; };
    const Ran found =
        ran(Program().call(brk(5000)).store(4096, heap_base).call(brk(4096)).call(brk(8192)).load(4096, heap_base), scenario(never));
    ASSERT_EQ(found.changes.size(), 3u);
    EXPECT_EQ(found.changes[0].pool, 0);
    EXPECT_EQ(found.changes[1].kind, Kind::unmap);
    EXPECT_EQ(found.changes[1].page, 1u);
    expect_parts(refused([&] { ran(Program().call(brk(4096)).store(4096, heap_base), scenario()); }), {"os/no-area", "pool brk", "page 1"});
}

TEST(Calls, PopulateFaultsAllPages) {
    const Ran found = ran(Program().map(0, 16384, 0x8022).store(0), scenario(never));
    EXPECT_EQ(found.changes.size(), 4u);
    EXPECT_TRUE(found.changes[0].write);
    EXPECT_EQ(ran(Program().map(0, 16384, 0x18022), scenario(never)).changes.size(), 0u);  // MAP_NONBLOCK
    const Ran locked = ran(Program().map(0, 16384).call(EventKind::lock, 0, 8192), scenario(never));
    EXPECT_EQ(locked.changes.size(), 2u);
}

TEST(Calls, PopulateReadGivesZeroPagesAndPopulateWriteGivesFrames) {
    const Ran read = ran(Program().map(0, 8192).call(EventKind::advise, 0, 8192, 0, 22).store(0), scenario(never));
    ASSERT_EQ(read.changes.size(), 3u);
    EXPECT_EQ(read.changes[1].cause, static_cast<uint8_t>(os::Cause::zero));
    EXPECT_EQ(read.changes[2].cause, static_cast<uint8_t>(os::Cause::copy));
    const Ran write = ran(Program().map(0, 8192).call(EventKind::advise, 0, 8192, 0, 23).store(0), scenario(never));
    ASSERT_EQ(write.changes.size(), 2u);
    EXPECT_EQ(write.changes[1].cause, static_cast<uint8_t>(os::Cause::page));
}

TEST(Calls, AMoveWithinTwoLargePagesSplitsEachOnce) {
    // From the end of the first 2MB and the begin of the second into the first.
    const Ran found = ran(Program().map(0, 4 * mb).store(0).store(2 * mb).call(moved(2 * mb - 8192, 16384, 8192, 16384)), scenario());
    EXPECT_EQ(std::count_if(found.changes.begin(), found.changes.end(), [](const os::Record &r) { return r.kind == Kind::split; }), 2);
}

TEST(Calls, AStackHasNoHugePages) { EXPECT_FALSE(ran(Program().map(0, 2 * mb, 0x20022).store(0), scenario()).changes[0].large); }

TEST(Calls, FilesAndUnknownAdviceAreCountedAsIgnored) {
    const Ran found =
        ran(Program().map(0, 4096).call(EventKind::advise, 0, 4096, 0, 3).call(EventKind::unmap, 0x1000, 0x1000, 0, 0, EventPool::outside),
            scenario());
    EXPECT_EQ(found.result.counts.calls, 3u);
    EXPECT_EQ(found.result.counts.ignored_calls, 2u);
}

}  // namespace
}  // namespace tests
