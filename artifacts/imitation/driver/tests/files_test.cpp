// Files that the program maps: fault-around, readahead, private and shared writes, the page cache under pressure.
#include "programs.h"

namespace tests {
namespace {

using os::Cause;
using os::Kind;

const std::map<std::string, std::string> never = {{"thp.enabled", "never"}};
std::map<std::string, std::string> cached() { return {{"thp.enabled", "never"}, {"page_cache.at_start", "files"}}; }

Program &load(Program &program, uint64_t page) { return program.load(page * 4096, file_base); }

TEST(Files, ACachedFileIsMappedSixteenPagesAFault) {
    Program program;
    program.file(64 * 4096).map_file(1, 0, 64 * 4096);
    for (uint64_t page = 0; page < 64; ++page) load(program, page);
    const Ran found = ran(program, scenario(cached()));
    expect_mapped(program, found);
    EXPECT_EQ(count_of(found, Kind::map, Cause::file), 4u);  // 64 pages, 16 at a time (fault_around_bytes 64KB)
    EXPECT_EQ(count_of(found, Kind::map, Cause::file_read), 0u);
    EXPECT_EQ(counter(found, "disk_reads"), 0u);
    EXPECT_EQ(found.header.pools.back(), (os::Pool{os::file_pool, file_base, gb}));
    EXPECT_EQ(found.changes.front().pool, os::file_pool);
    EXPECT_EQ(found.changes.front().tables.size(), 4u);
}

TEST(Files, AnUncachedFileIsRead) {
    Program program;
    program.file(64 * 4096).map_file(1, 0, 64 * 4096);
    for (uint64_t page = 0; page < 64; ++page) load(program, page);
    const Ran found = ran(program, scenario(never));
    expect_mapped(program, found);
    EXPECT_EQ(counter(found, "file_pages_read"), 64u);
    EXPECT_EQ(counter(found, "disk_read_bytes"), 64u * 4096);
    EXPECT_EQ(count_of(found, Kind::map, Cause::file_read), counter(found, "pgmajfault"));
    EXPECT_GE(counter(found, "pgmajfault"), 1u);
}

TEST(Files, APrivateWriteCopiesAndASharedOneDoesNot) {
    const auto writes = [](uint32_t flags) {
        Program program;
        program.file(16 * 4096).map_file(1, 0, 16 * 4096, 3, flags);
        load(program, 3).store(3 * 4096, file_base).store(5 * 4096, file_base);
        return ran(program, scenario(cached()));
    };
    const Ran own = writes(2), shared = writes(1);
    EXPECT_EQ(count_of(own, Kind::map, Cause::copy), 2u);
    EXPECT_EQ(count_of(shared, Kind::map, Cause::copy), 0u);
    EXPECT_EQ(count_of(shared, Kind::upgrade, Cause::reuse), 2u);  // the first write of a page is a fault
    EXPECT_NE(own.changes.front().frame, own.changes.back().frame);
}

TEST(Files, UnmappedPagesFaultAgainAndStayInMemory) {
    Program program;
    program.file(16 * 4096).map_file(1, 0, 16 * 4096);
    load(program, 0).call(EventKind::unmap, 0, 16 * 4096, 0, 0, EventPool::file).map_file(1, 0, 16 * 4096);
    load(program, 1);
    const Ran found = ran(program, scenario(never));
    EXPECT_EQ(counter(found, "file_pages_read"), 16u);
    EXPECT_EQ(counter(found, "pgmajfault"), 1u);
    EXPECT_EQ(found.changes.back().kind, Kind::map);
}

TEST(Files, APageBehindTheEndMakesTheFileLonger) {
    Program program;
    program.file(4096).map_file(1, 0, 4 * 4096);
    load(program, 3);
    EXPECT_EQ(ran(program, scenario(never)).result.counts.grown_files, 1u);
}

TEST(Files, SharedMemoryIsAlwaysMapped) {
    Program program;
    program.file(4096).map_file(1, 0, 4096).map_file(0, 4096, 4096, 3, 0x21);
    load(program, 0).store(4096, file_base).load(8192, file_base);
    const Ran found = ran(program, scenario(never));
    EXPECT_EQ(found.changes.size(), 1u);
    EXPECT_EQ(found.result.counts.ignored_calls, 1u);
}

TEST(Files, AStoreToAPrivatePageThatIsNotInMemoryReadsAndCopies) {
    Program program;
    program.file(16 * 4096).map_file(1, 0, 16 * 4096, 3, 2);
    program.store(3 * 4096, file_base);
    const Ran found = ran(program, scenario());
    ASSERT_EQ(found.changes.size(), 1u);
    EXPECT_EQ(count_of(found, Kind::map, Cause::copy_read), 1u);
    EXPECT_TRUE(found.changes.front().is_major());
    EXPECT_EQ(counter(found, "pgmajfault"), 1u);
}

TEST(Files, ProtectAndAdviseReachTheFilesOnly) {
    Program program;
    program.file(8 * 4096).map_file(1, 0, 8 * 4096, 3).map_file(0, 8 * 4096, 8 * 4096, 3, 0x21);
    program.store(0, file_base).call(EventKind::protect, 0, 16 * 4096, 1, 0, EventPool::file).load(0, file_base);
    program.call(EventKind::advise, 0, 16 * 4096, 0, 4, EventPool::file).load(0, file_base).store(9 * 4096, file_base);
    const Ran found = ran(program, scenario(cached()));
    EXPECT_EQ(count_of(found, Kind::map, Cause::copy), 1u);
    EXPECT_EQ(count_of(found, Kind::map, Cause::file), 1u);  // the copy is gone: the page of the file again
    expect_parts(refused([] {
                     Program wrong;
                     wrong.file(4096).map_file(1, 0, 4096, 1);
                     ran(wrong.store(0, file_base), scenario());
                 }),
                 {"os/no-area", "pool file", "page 0"});
}

TEST(Files, FullPageCacheGivesWayToTheProgram) {
    Program program;
    program.file(16 * mb).map_file(1, 0, 16 * mb).map(0, 20 * mb);
    for (uint64_t page = 0; page < 16 * 256; ++page) load(program, page);
    for (uint64_t page = 0; page < 20 * 256; ++page) program.store(page * 4096);
    for (uint64_t page = 0; page < 16 * 256; ++page) load(program, page);
    const Ran found = ran(program, scenario({{"memory_bytes", "33554432"},
                                             {"thp.enabled", "never"},
                                             {"page_cache.at_start", "files"},
                                             {"page_cache.other_bytes", "67108864"}}));
    expect_mapped(program, found);
    EXPECT_GT(counter(found, "pgsteal_file"), 3000u);
    EXPECT_EQ(counter(found, "pgsteal_anon"), 0u);  // there is no swap
    const auto lost = [](const os::Record &r) {
        return r.kind == Kind::unmap && r.pool == os::file_pool && r.cause == static_cast<uint8_t>(os::Loss::reclaimed);
    };
    EXPECT_GT(std::count_if(found.all.begin(), found.all.end(), lost), 100);
    EXPECT_GT(count_of(found, Kind::map, Cause::file_read), 0u);
}

}  // namespace
}  // namespace tests
