// Pools of huge pages (hugetlbfs): promised at mmap, taken at the fault, given back at munmap; refused when they are empty.
#include "programs.h"

namespace tests {
namespace {

using os::Cause;
using os::Kind;

constexpr uint32_t anonymous = 0x22, hugetlb = 0x40000, noreserve = 0x4000, of_1gb = 30u << 26;

Program &map_outside(Program &program, uint64_t offset, uint64_t length, uint32_t flags = anonymous | hugetlb) {
    return program.call({0, EventKind::map, EventPool::outside, {}, outside_base + offset, length, 0, 0, 3, flags, 0, 0});
}
os::Scenario with(const char *pages_2mb, const char *pages_1gb = "0", const char *memory = "1073741824") {
    return scenario(
        {{"thp.enabled", "never"}, {"hugetlb.pages_2mb", pages_2mb}, {"hugetlb.pages_1gb", pages_1gb}, {"memory_bytes", memory}});
}

TEST(Pools, AFaultTakesTheWholePageOutsideThePools) {
    Program program;
    map_outside(program, 0, 3 * mb);  // Linux rounds up to 4MB
    program.store(5000, outside_base).load(mb, outside_base).load(2 * mb, outside_base).store(3 * mb, outside_base);
    const Ran found = ran(program, with("4"));
    expect_mapped(program, found);
    ASSERT_EQ(found.header.pools.size(), 3u);
    EXPECT_EQ(found.header.pools[2], (os::Pool{os::first_outside_pool, outside_base, 4 * mb}));
    ASSERT_EQ(found.changes.size(), 3u);  // the write to the page that a load mapped is a fault
    EXPECT_EQ(found.changes[0].cause, static_cast<uint8_t>(Cause::pool));
    EXPECT_TRUE(found.changes[0].large && !found.changes[0].gigantic);
    EXPECT_EQ(found.changes[0].page, 0u);
    EXPECT_EQ(found.changes[0].tables.size(), 3u);
    EXPECT_EQ(found.changes[1].page, 512u);
    EXPECT_EQ(found.changes[2].kind, Kind::upgrade);
    EXPECT_EQ(counter(found, "hugetlb_2mb_free"), 2u);
    EXPECT_EQ(found.header.notes.front(), std::make_pair(std::string("hugetlb.pages_2mb"), std::string("4")));
}

TEST(Pools, GivenBackPagesAreTakenAgain) {
    Program program;
    for (int i = 0; i < 3; ++i) {
        map_outside(program, 0, 4 * mb);
        program.store(0, outside_base).store(2 * mb, outside_base).call(EventKind::unmap, outside_base, 4 * mb, 0, 0, EventPool::outside);
    }
    program.load(0, outside_base);  // not modelled any more
    const Ran found = ran(program, with("2"));
    EXPECT_EQ(count_of(found, Kind::map, Cause::pool), 6u);
    EXPECT_EQ(counter(found, "hugetlb_2mb_free"), 2u);
}

TEST(Pools, AnEmptyPoolIsNamed) {
    expect_parts(refused([] {
                     Program program;
                     map_outside(program, 0, 8 * mb);
                     ran(program, with("3"));
                 }),
                 {"1 ", "asks for 4 huge pages", "has 3 that are free", "hugetlb.pages_2mb", "os/hugetlb"});
    // Without a promise, the fault finds the pool empty: SIGBUS.
    expect_parts(refused([] {
                     Program program;
                     map_outside(program, 0, 8 * mb, anonymous | hugetlb | noreserve);
                     program.store(0, outside_base).store(2 * mb, outside_base);
                     ran(program, with("1"));
                 }),
                 {"1 ", "SIGBUS", "pool outside, page 512", "os/hugetlb"});
    expect_parts(refused([] { ran(Program(), with("600")); }), {"hugetlb.pages_2mb = 600", "room for", "os/hugetlb"});
}

TEST(Pools, APageOf1GBHasTwoTables) {
    Program program;
    map_outside(program, 0, gb, anonymous | hugetlb | of_1gb);
    program.store(17 * mb, outside_base).load(900 * mb, outside_base);
    const Ran found = ran(program, with("0", "1", "4294967296"));
    expect_mapped(program, found);
    ASSERT_EQ(found.changes.size(), 1u);
    EXPECT_TRUE(found.changes[0].large && found.changes[0].gigantic);
    EXPECT_EQ(found.changes[0].pages, uint64_t{1} << 18);
    EXPECT_EQ(found.changes[0].frame % (1 << 18), 0u);
    EXPECT_EQ(found.changes[0].tables.size(), 2u);
}

TEST(Pools, APoolTakesItsMemoryFromTheRest) {
    const Ran without = ran(Program(), with("0")), with_pool = ran(Program(), with("64"));
    const uint64_t less = without.result.free_frames_before - with_pool.result.free_frames_before;
    EXPECT_GE(less, 64u * 512);
    EXPECT_LT(less, 64u * 512 + 64);  // per-CPU lists
}

TEST(Pools, HugePagesInAPoolOfTheTraceAreAligned) {
    const Ran found = ran(Program().map(2 * mb, 2 * mb, anonymous | hugetlb).store(2 * mb), with("1"));
    ASSERT_EQ(found.changes.size(), 1u);
    EXPECT_EQ(found.changes[0].cause, static_cast<uint8_t>(Cause::pool));
}

}  // namespace
}  // namespace tests
