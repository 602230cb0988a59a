// Faults of small programs by hand: what the log says of each.
#include "driver/kernel.h"
#include "programs.h"

namespace tests {
namespace {

using os::Cause;
using os::Kind;

const std::map<std::string, std::string> never = {{"thp.enabled", "never"}};
uint8_t cause(Cause of) { return static_cast<uint8_t>(of); }

TEST(Run, AStoreGetsTwoMegabytesWhereTheAreaHoldsThem) {
    // The area is [2MB, 4MB + 4KB): the first 2MB are whole, the last page is not.
    const Ran found = ran(Program().map(2 * mb, 2 * mb + 4096).store(3 * mb).store(2 * mb + 17).load(4 * mb), scenario());
    ASSERT_EQ(found.changes.size(), 2u);  // the second store needs nothing
    const os::Record &large = found.changes[0], &zero = found.changes[1];
    EXPECT_EQ(large.kind, Kind::map);
    EXPECT_EQ(large.cause, cause(Cause::page));
    EXPECT_TRUE(large.large && large.write && !large.fallback);
    EXPECT_EQ(large.page, 512u);  // aligned, from the start of the pool
    EXPECT_EQ(large.pages, 512u);
    EXPECT_EQ(large.frame % 512, 0u);
    EXPECT_EQ(large.tables.size(), 3u);  // root, 512GB, 1GB: a 2MB page ends there
    EXPECT_EQ(large.pool, 1);
    EXPECT_EQ(large.block, 0u);
    EXPECT_EQ(zero.cause, cause(Cause::zero));
    EXPECT_EQ(zero.frame, os::zero_frame);
    EXPECT_EQ(zero.page, 1024u);
    EXPECT_EQ(zero.block, 2u);
    EXPECT_EQ(zero.access, 2u);
    ASSERT_EQ(zero.tables.size(), 4u);
    EXPECT_TRUE(std::equal(large.tables.begin(), large.tables.end(), zero.tables.begin()));  // the same upper tables
    EXPECT_EQ(found.result.counts.faults, 2u);
}

TEST(Run, WithoutHugePagesEachPageFaults) {
    Program program;
    program.map(0, 16 * mb);
    for (uint64_t page = 0; page < 1024; ++page) program.store(page * 4096).load(page * 4096 + 8);
    const Ran found = ran(program, scenario(never));
    ASSERT_EQ(found.changes.size(), 1024u);
    size_t with_tables = 0;
    for (uint64_t page = 0; page < 1024; ++page) {
        EXPECT_EQ(found.changes[page].page, page);
        EXPECT_EQ(found.changes[page].block, 2 * page);
        EXPECT_FALSE(found.changes[page].large);
        with_tables += !found.changes[page].tables.empty();
    }
    EXPECT_EQ(with_tables, 2u);  // a table of 512 entries for each 2MB
}

TEST(Run, AWriteReplacesTheZeroPage) {
    const Ran found = ran(Program().map(0, 4096).load(0).load(8).store(16).store(24), scenario(never));
    ASSERT_EQ(found.changes.size(), 2u);
    EXPECT_EQ(found.changes[0].cause, cause(Cause::zero));
    EXPECT_EQ(found.changes[1].cause, cause(Cause::copy));
    EXPECT_NE(found.changes[1].frame, os::zero_frame);
    EXPECT_EQ(found.changes[1].block, 2u);
}

TEST(Run, AnInstructionThatLoadsAndStoresFaultsOnceForAWrite) {
    const Ran found = ran(Program().map(0, 2 * mb).update(4096).update(8192), scenario());
    ASSERT_EQ(found.changes.size(), 1u);
    EXPECT_TRUE(found.changes[0].large && found.changes[0].write);
    EXPECT_EQ(found.changes[0].cause, cause(Cause::page));
}

void expect_fault(const os::Record &found, uint64_t access, uint64_t page, Cause why) {
    EXPECT_EQ(found.access, access);
    EXPECT_EQ(found.page, page);
    EXPECT_EQ(found.cause, cause(why));
    EXPECT_EQ(found.pages, 1u);
}

TEST(Run, AnAccessInTwoPagesFaultsInEachInOrder) {
    const Ran found = ran(Program().map(0, 5 * 4096).load(4095).store(4089).store(3 * 4096 - 7).load(4 * 4096 - 8), scenario(never));
    ASSERT_EQ(found.changes.size(), 6u);
    expect_fault(found.changes[0], 0, 0, Cause::zero);
    expect_fault(found.changes[1], 0, 1, Cause::zero);
    expect_fault(found.changes[2], 1, 0, Cause::copy);
    expect_fault(found.changes[3], 1, 1, Cause::copy);
    expect_fault(found.changes[4], 2, 2, Cause::page);  // the last access of 8 bytes ends with page 3
    expect_fault(found.changes[5], 2, 3, Cause::page);
    EXPECT_EQ(found.result.counts.faults, 6u);
    EXPECT_EQ(found.result.accesses, 4u);
}

TEST(Run, AnAccessInTwoPagesFaultsOnlyInThePageThatIsMissing) {
    const Ran found = ran(Program().map(0, 4 * 4096).store(0).store(4092).store(3 * 4096).store(3 * 4096 - 1), scenario(never));
    ASSERT_EQ(found.changes.size(), 4u);
    expect_fault(found.changes[1], 1, 1, Cause::page);
    expect_fault(found.changes[3], 3, 2, Cause::page);
}

TEST(Run, AnAccessInTwoPagesOfOneLargePageFaultsOnce) {
    const Ran found = ran(Program().map(0, 4 * mb).store(4092).store(2 * mb - 4).load(2 * mb - 1), scenario());
    ASSERT_EQ(found.changes.size(), 2u);
    EXPECT_EQ(found.changes[0].page, 0u);
    EXPECT_EQ(found.changes[1].page, 512u);
    EXPECT_EQ(found.changes[1].access, 1u);
    EXPECT_TRUE(found.changes[0].large && found.changes[1].large);
}

TEST(Run, AnAccessInTwoPagesNeedsAnAreaInBoth) {
    const Program ends_with_the_area = Program().map(0, 4096).store(4088), leaves_it = Program().map(0, 4096).store(4089);
    EXPECT_EQ(ran(ends_with_the_area, scenario()).changes.size(), 1u);
    expect_parts(refused([&] { ran(leaves_it, scenario()); }), {"1 ", "a store", "os/no-area", "block 0", "pool mmap", "page 1"});
}

TEST(Run, AnAccessInTwoPagesThatLoadsAndStoresFaultsForAWrite) {
    const Ran found = ran(Program().map(0, 2 * 4096).update(4090), scenario(never));
    ASSERT_EQ(found.changes.size(), 2u);
    for (uint64_t page : {0, 1}) {
        expect_fault(found.changes[page], 0, page, Cause::page);
        EXPECT_TRUE(found.changes[page].write);
    }
}

TEST(Run, AnAccessInTwoPagesBehindTheLastSlotHasItsSize) {
    // More accesses than slots: those behind the last slot have its size.
    const Ran found = ran(Program().map(0, 8 * 4096).burst(4092, 3, 1), scenario(never));
    ASSERT_EQ(found.changes.size(), 4u);
    for (uint64_t page = 0; page < 4; ++page) expect_fault(found.changes[page], 0, page, Cause::page);
}

TEST(Run, AStringInstructionStaysInItsLine) { EXPECT_EQ(ran(Program().map(0, 4096).fill(4095), scenario()).changes.size(), 1u); }

TEST(Run, AnAccessInTwoPagesMakesBothYoungAndDirty) {
    const os::Scenario under = scenario(never);
    os::Machine machine(under);
    const std::string path = scratch("log");
    os::Header header;
    header.pools = {{1, anon_base, gb}};
    {
        os::Writer log(path, header);
        const os::Places places(pools_of(), {});
        os::Kernel kernel(under, machine, places, log);
        kernel.calls.call({}, {0, EventKind::map, EventPool::anon, {}, 0, 2 * 4096, 0, 0, 3, 0x22, 0, 0});
        const auto has = [&](uint64_t page, pt_entry bits) {
            unsigned level = 0;
            return (*pt_find(&machine.process.pt, (anon_base >> 12) + page, &level) & bits) == bits;
        };
        kernel.accesses.access_two({}, anon_base >> 12, false, 0);
        EXPECT_TRUE(has(0, PT_YOUNG) && has(1, PT_YOUNG));
        EXPECT_FALSE(has(0, PT_DIRTY) || has(1, PT_DIRTY));
        kernel.accesses.access_two({}, anon_base >> 12, true, 0);
        EXPECT_TRUE(has(0, PT_YOUNG | PT_DIRTY | PT_WRITE) && has(1, PT_YOUNG | PT_DIRTY | PT_WRITE));
    }
    std::filesystem::remove(path);
}

TEST(Run, AWriteSplitsTheHugeZeroPage) {
    const Ran found = ran(Program().map(0, 2 * mb).load(0).store(4096), scenario());
    ASSERT_EQ(found.changes.size(), 3u);
    EXPECT_TRUE(found.changes[0].large);
    EXPECT_EQ(found.changes[0].cause, cause(Cause::zero));
    EXPECT_NE(found.changes[0].frame, os::zero_frame);  // the huge zero page has frames
    EXPECT_EQ(found.changes[1].kind, Kind::split);
    EXPECT_EQ(found.changes[1].frame, os::zero_frame);  // 511 mappings of the zero page
    EXPECT_EQ(found.changes[1].tables.size(), 4u);
    EXPECT_EQ(found.changes[2].cause, cause(Cause::copy));
    EXPECT_EQ(found.changes[2].page, 1u);
    EXPECT_FALSE(found.changes[2].large);
}

TEST(Run, KhugepagedWakesUpAfterInstructions) {
    // 1000 instructions a second at 1 kHz and 1 instruction a cycle, a wake-up each 10 ms: after 10 instructions. The area is advised after
    // its pages exist; the first wake-up collapses them.
    Program program;
    program.map(0, 2 * mb);
    for (uint64_t i = 0; i < 4; ++i) program.store(i * 4096);
    program.call(EventKind::advise, 0, 2 * mb, 0, 14);
    for (uint64_t i = 0; i < 20; ++i) program.load(0);
    const Ran found = ran(
        program, scenario({{"thp.enabled", "madvise"}, {"thp.khugepaged.scan_sleep_milliseconds", "10"}, {"time.frequency_hz", "1000"}}));
    ASSERT_EQ(found.changes.size(), 5u);
    const os::Record &last = found.changes.back();
    EXPECT_EQ(last.kind, Kind::collapse);
    EXPECT_EQ(last.block, 10u);
    EXPECT_EQ(last.pages, 512u);
    EXPECT_EQ(last.frame % 512, 0u);
    EXPECT_EQ(found.result.counts.collapses, 1u);
}

TEST(Run, OutOfMemoryNamesPageAndBlock) {
    Program program(pools_of());
    program.map(0, 64 * mb);
    for (uint64_t page = 0; page < 64 * mb / 4096; ++page) program.store(page * 4096);
    const std::string found = refused([&] { ran(program, scenario({{"memory_bytes", "33554432"}, {"thp.enabled", "never"}})); });
    expect_parts(found, {"1 ", "os/out-of-memory", "memory_bytes", "pool mmap"});
    // 32MB have at most 8192 frames, and each page is one block: page and block are equal.
    const size_t block = found.find("block "), page = found.find("page ", found.find("pool mmap"));
    ASSERT_NE(block, std::string::npos);
    ASSERT_NE(page, std::string::npos);
    const int at_block = std::stoi(found.substr(block + 6)), at_page = std::stoi(found.substr(page + 5));
    EXPECT_EQ(at_block, at_page);
    EXPECT_GT(at_block, 6000);
    EXPECT_LT(at_block, 8192);
}

TEST(Run, AFragmentedMachineFallsBack) {
    Program program;
    program.map(0, 512 * mb);
    for (uint64_t region = 0; region < 256; ++region) program.store(region * 2 * mb);
    const Ran whole = ran(program, scenario());
    const Ran broken = ran(program, scenario({{"fragmentation.index", "unusable-index"}, {"fragmentation.target_thousandths", "900"}}));
    const auto large = [](const Ran &of) {
        return std::count_if(of.changes.begin(), of.changes.end(), [](const os::Record &r) { return r.large; });
    };
    EXPECT_EQ(large(whole), 256);
    EXPECT_EQ(large(broken) + static_cast<int64_t>(broken.result.counts.fallbacks), 256);
    // A tenth of 1GB is left in blocks of 2MB: about 51 of 512; and the zone DMA, 16MB, is whole.
    EXPECT_LE(large(broken), 52 + 8);
    EXPECT_GE(large(broken), 30);
}

TEST(Run, TheSameRunWritesTheSameBytes) {
    Program program;
    program.map(0, 64 * mb);
    for (uint64_t i = 0; i < 3000; ++i) program.access(anon_base + (i * 0x9e3779b1 % (64 * mb)), i % 3 == 0);
    const std::string trace = program.write(), first = scratch("log"), second = scratch("log");
    os::run(trace, scenario(), first);
    os::run(trace, scenario(), second);
    std::ifstream a(first, std::ios::binary), b(second, std::ios::binary);
    EXPECT_TRUE(std::equal(std::istreambuf_iterator<char>(a), {}, std::istreambuf_iterator<char>(b), {}));
    for (const std::string &path : {trace, first, second}) std::filesystem::remove(path);
}

TEST(Run, BadInputIsNamed) {
    const std::string trace = Program().store(0).write(false), log = scratch("log");
    expect_parts(refused([&] { os::run(trace, scenario(), log); }), {"2 ", trace, "os/no-events", "--events --roi whole"});
    EXPECT_FALSE(std::filesystem::exists(log));
    std::filesystem::remove(trace);
    expect_parts(refused([] { ran(Program().store(0), scenario()); }), {"1 ", "os/no-area", "block 0", "pool mmap", "page 0"});
    expect_parts(refused([] { ran(Program().call(EventKind::map, 0, 4096, 1, 0x22).store(0), scenario()); }), {"os/no-area"});
    expect_parts(refused([] { ran(Program().map(0, 2 * mb, 0x40022), scenario()); }), {"os/hugetlb", "1 huge pages", "hugetlb.pages_2mb"});
    expect_parts(refused([] { scenario({{"memory_bytes", "1000000"}}); }), {"memory_bytes", "16777216"});
    expect_parts(refused([] { scenario({{"thp.enabled", "often"}}); }), {"thp.enabled", "often", "always, madvise, never"});
    expect_parts(refused([] { scenario({{"fragmentation.index", "fmfi"}}); }), {"fmfi", "extfrag-index, unusable-index"});
    expect_parts(refused([] { scenario({{"policy", "eager"}}); }), {"policy", "linux-6.12"});
    expect_parts(refused([] { scenario({{"swap.bytes", "1"}}); }), {"swap.bytes", "1048576"});
    expect_parts(refused([] { scenario({{"fork.every_milliseconds", "1"}}); }), {"fork.every_milliseconds", "no such key"});
    expect_parts(refused([] { scenario({{"thp.defrag", "-"}}); }), {"thp.defrag"});
    expect_parts(
        refused([] { ran(Program(), scenario({{"fragmentation.index", "extfrag-index"}, {"fragmentation.target_thousandths", "100"}})); }),
        {"os/fragmentation", "test"});
}

TEST(Run, PagesOutsideThePoolsAreNotModelled) {
    EXPECT_TRUE(ran(Program().access(0x7ffdeadbeef0, 1).access(0x400000, 0), scenario()).changes.empty());
}

}  // namespace
}  // namespace tests
