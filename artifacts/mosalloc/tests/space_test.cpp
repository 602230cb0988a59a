// The pools call by call: offsets, zero fill, protections, borders; with windows and without.
#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "tests/space_fixture.h"

using namespace mosalloc;

namespace {

class SpaceTest : public SpaceFixture, public testing::WithParamInterface<bool> {
    void SetUp() override { build(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Windows, SpaceTest, testing::Bool(), [](const auto& p) { return p.param ? "mosaic" : "plain"; });

bool all_bytes(long address, uint64_t bytes, char value) {
    const char* at = reinterpret_cast<const char*>(address);
    for (uint64_t i = 0; i < bytes; ++i)
        if (at[i] != value) return false;
    return true;
}

TEST_P(SpaceTest, TakesTheLowestRangeThatFits) {
    const long a = map_pages(4), b = map_pages(2), c = map_pages(4);
    EXPECT_EQ(offset(a), 0u);
    EXPECT_EQ(offset(b), 4 * kPage4K);
    EXPECT_EQ(unmap_pages(a, 4), 0);
    EXPECT_EQ(map_pages(5), c + static_cast<long>(4 * kPage4K));  // does not fit into the hole
    EXPECT_EQ(map_pages(3), a);
    EXPECT_EQ(map_pages(1), a + static_cast<long>(3 * kPage4K));
}

TEST_P(SpaceTest, ReusedMemoryReadsZero) {
    const long a = map_pages(600);  // across the end of the first window
    memset(reinterpret_cast<void*>(a), 'x', 600 * kPage4K);
    EXPECT_EQ(unmap_pages(a + static_cast<long>(100 * kPage4K), 450), 0);
    EXPECT_TRUE(all_bytes(a, 100 * kPage4K, 'x'));
    EXPECT_EQ(map_pages(450), a + static_cast<long>(100 * kPage4K));
    EXPECT_TRUE(all_bytes(a + static_cast<long>(100 * kPage4K), 450 * kPage4K, 0));
    EXPECT_TRUE(all_bytes(a + static_cast<long>(550 * kPage4K), 50 * kPage4K, 'x'));
}

TEST_P(SpaceTest, FillsToTheLastPageThenSaysENOMEM) {
    EXPECT_EQ(space.map(kAnonBytes + kPage4K, {kRW}), -ENOMEM);
    const long a = space.map(kAnonBytes, {kRW});
    EXPECT_EQ(offset(a), 0u);
    EXPECT_EQ(map_pages(1), -ENOMEM);
    EXPECT_EQ(unmap_pages(a, 1), 0);
    EXPECT_EQ(map_pages(1), a);
    EXPECT_EQ(map.pools[MOSALLOC_POOL_ANON].used_bytes, kAnonBytes);
    EXPECT_EQ(map.pools[MOSALLOC_POOL_ANON].live_bytes, kAnonBytes);
}

TEST_P(SpaceTest, BreakMovesInsideItsPoolOnly) {
    const uint64_t base = space.pool(MOSALLOC_POOL_HEAP).base();
    EXPECT_EQ(space.current_break(), base);
    EXPECT_EQ(space.set_break(base + kHeapBytes), 0);
    EXPECT_EQ(space.set_break(base + kHeapBytes + 1), -ENOMEM);
    EXPECT_EQ(space.set_break(base - 1), -ENOMEM);
    memset(reinterpret_cast<void*>(base), 'x', kHeapBytes);
    EXPECT_EQ(space.set_break(base + 5), 0);
    EXPECT_EQ(map.pools[MOSALLOC_POOL_HEAP].live_bytes, 5u);
    EXPECT_EQ(space.set_break(base + kHeapBytes), 0);
    EXPECT_TRUE(all_bytes(static_cast<long>(base), kPage4K, 'x'));  // the page of the break stayed
    EXPECT_TRUE(all_bytes(static_cast<long>(base + kPage4K), kHeapBytes - kPage4K, 0));
}

TEST_P(SpaceTest, RemapGrowsInPlaceElseMovesElseFails) {
    const long a = map_pages(2);
    memset(reinterpret_cast<void*>(a), 'a', 2 * kPage4K);
    const uint64_t at = static_cast<uint64_t>(a);
    EXPECT_EQ(space.remap(at, 2 * kPage4K, 3 * kPage4K, 0, 0), a);
    const long wall = map_pages(1);
    EXPECT_EQ(space.remap(at, 3 * kPage4K, 4 * kPage4K, 0, 0), -ENOMEM);
    const long moved = space.remap(at, 3 * kPage4K, 700 * kPage4K, MREMAP_MAYMOVE, 0);
    EXPECT_GT(moved, wall);
    EXPECT_TRUE(all_bytes(moved, 2 * kPage4K, 'a'));
    EXPECT_TRUE(all_bytes(moved + static_cast<long>(2 * kPage4K), 698 * kPage4K, 0));
    EXPECT_EQ(map_pages(3), a);  // the old place is free again
    EXPECT_TRUE(all_bytes(a, 3 * kPage4K, 0));
    EXPECT_EQ(space.remap(static_cast<uint64_t>(moved), 700 * kPage4K, kPage4K, 0, 0), moved);
    EXPECT_EQ(space.remap(static_cast<uint64_t>(moved) + kPage4K, kPage4K, kPage4K, 0, 0), -EFAULT);
}

TEST_P(SpaceTest, RemapFixedReplacesWhatIsThere) {
    const long a = map_pages(4), b = map_pages(4);
    memset(reinterpret_cast<void*>(a), 'a', 4 * kPage4K);
    memset(reinterpret_cast<void*>(b), 'b', 4 * kPage4K);
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    const uint64_t from = static_cast<uint64_t>(a), to = static_cast<uint64_t>(b);
    EXPECT_EQ(space.remap(from, 4 * kPage4K, 4 * kPage4K, flags, from + kPage4K), -EINVAL);  // overlaps itself
    EXPECT_EQ(space.remap(from, 4 * kPage4K, 2 * kPage4K, flags, to + kPage4K), static_cast<long>(to + kPage4K));
    EXPECT_TRUE(all_bytes(b, kPage4K, 'b'));
    EXPECT_TRUE(all_bytes(b + static_cast<long>(kPage4K), 2 * kPage4K, 'a'));
    EXPECT_TRUE(all_bytes(b + static_cast<long>(3 * kPage4K), kPage4K, 'b'));
    EXPECT_EQ(map_pages(4), a);
}

TEST_P(SpaceTest, MapFixedGivesZeroedMemoryAtItsPlace) {
    const long a = map_pages(8);
    memset(reinterpret_cast<void*>(a), 'x', 8 * kPage4K);
    const uint64_t at = static_cast<uint64_t>(a) + 2 * kPage4K;
    EXPECT_EQ(space.map_fixed({at, at + 3 * kPage4K}, {kRW}), static_cast<long>(at));
    EXPECT_TRUE(all_bytes(a + static_cast<long>(2 * kPage4K), 3 * kPage4K, 0));
    EXPECT_TRUE(all_bytes(a + static_cast<long>(5 * kPage4K), 3 * kPage4K, 'x'));
    const uint64_t far = anon_base() + 1000 * kPage4K;
    EXPECT_EQ(space.map_fixed({far, far + kPage4K}, {kRW}), static_cast<long>(far));
    EXPECT_EQ(map_pages(993), static_cast<long>(far + kPage4K));  // 992 pages are left below
    const uint64_t end = anon_base() + kAnonBytes;
    EXPECT_EQ(space.map_fixed({end - kPage4K, end + kPage4K}, {kRW}), -EINVAL);
    EXPECT_EQ(map.refused_calls, 1u);
}

TEST_P(SpaceTest, ProtectionsSurviveAndHolesAreENOMEM) {
    const long a = map_pages(4);
    const uint64_t at = static_cast<uint64_t>(a);
    EXPECT_EQ(space.protect({at + kPage4K, at + 2 * kPage4K}, PROT_NONE), 0);
    EXPECT_EQ(space.pool(MOSALLOC_POOL_ANON).pages().protection_at(kPage4K), PROT_NONE);
    EXPECT_EQ(map.split_pages, GetParam() ? 1u : 0u);  // one huge page held both
    EXPECT_EQ(map.softened_protections, 0u);
    memset(reinterpret_cast<void*>(a), 'x', kPage4K);
    const long moved = space.remap(at, 4 * kPage4K, 1500 * kPage4K, MREMAP_MAYMOVE, 0);
    EXPECT_EQ(space.pool(MOSALLOC_POOL_ANON).pages().protection_at(offset(moved) + kPage4K), PROT_NONE);
    EXPECT_TRUE(all_bytes(moved, kPage4K, 'x'));
}

TEST_P(SpaceTest, ProtectGoesUpToTheFirstHole) {  // as mprotect(2) of Linux does
    const long a = map_pages(4);
    const uint64_t at = static_cast<uint64_t>(a);
    EXPECT_EQ(unmap_pages(a + static_cast<long>(2 * kPage4K), 1), 0);
    EXPECT_EQ(space.protect({at, at + 4 * kPage4K}, PROT_READ), -ENOMEM);
    EXPECT_EQ(space.pool(MOSALLOC_POOL_ANON).pages().protection_at(kPage4K), PROT_READ);
    EXPECT_EQ(space.pool(MOSALLOC_POOL_ANON).pages().protection_at(3 * kPage4K), kRW);
    EXPECT_EQ(space.protect({at + 2 * kPage4K, at + 4 * kPage4K}, PROT_READ), -ENOMEM);
    EXPECT_EQ(space.pool(MOSALLOC_POOL_ANON).pages().protection_at(3 * kPage4K), kRW);
    EXPECT_EQ(space.check_mapped({at, at + 2 * kPage4K}), 0);
    EXPECT_EQ(space.check_mapped({at + kPage4K, at + 3 * kPage4K}), -ENOMEM);
}

TEST_P(SpaceTest, MemoryLeftBehindByDontunmapReadsZero) {
    const long a = map_pages(600);
    const uint64_t at = static_cast<uint64_t>(a);
    memset(reinterpret_cast<void*>(a), 'x', 600 * kPage4K);
    constexpr int flags = MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */;
    EXPECT_EQ(space.remap(at, 600 * kPage4K, 601 * kPage4K, flags, 0), -EINVAL);
    const long moved = space.remap(at, 600 * kPage4K, 600 * kPage4K, flags, 0);
    EXPECT_EQ(offset(moved), 600 * kPage4K);
    EXPECT_TRUE(all_bytes(moved, 600 * kPage4K, 'x') && all_bytes(a, 600 * kPage4K, 0));
    memset(reinterpret_cast<void*>(a), 'y', 600 * kPage4K);
    EXPECT_TRUE(all_bytes(moved, 600 * kPage4K, 'x'));
    EXPECT_EQ(offset(map_pages(1)), 1200 * kPage4K);
}

TEST_P(SpaceTest, MemoryThatLeavesThePoolsIsOneMapping) {
    const long a = map_pages(4);
    const uint64_t at = static_cast<uint64_t>(a);
    // The second half has been writable before, the first has not: two mappings for the kernel, one for the program.
    EXPECT_EQ(unmap_pages(a, 4), 0);
    EXPECT_EQ(space.map(2 * kPage4K, {PROT_READ}), a);
    EXPECT_EQ(space.map(2 * kPage4K, {kRW}), a + static_cast<long>(2 * kPage4K));
    EXPECT_EQ(space.protect({at, at + 4 * kPage4K}, PROT_READ), 0);
    const long room = sys::mmap(0, 8 * kPage4K, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
    const uint64_t to = static_cast<uint64_t>(room);
    constexpr int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    EXPECT_EQ(space.remap(at, 4 * kPage4K, 4 * kPage4K, flags, to), room);
    sys::munmap(to + 4 * kPage4K, 4 * kPage4K);
    EXPECT_EQ(sys::mremap(to, 4 * kPage4K, 6 * kPage4K, 0, 0), room);
    sys::munmap(to, 6 * kPage4K);
    EXPECT_TRUE(space.vacant({at, at + 4 * kPage4K}));
}

TEST_P(SpaceTest, KnowsWhatIsVacant) {
    const long a = map_pages(8);
    const uint64_t at = static_cast<uint64_t>(a);
    EXPECT_EQ(unmap_pages(a + static_cast<long>(2 * kPage4K), 3), 0);
    EXPECT_TRUE(space.vacant({at + 2 * kPage4K, at + 5 * kPage4K}));
    EXPECT_FALSE(space.vacant({at + 2 * kPage4K, at + 6 * kPage4K}));
    EXPECT_FALSE(space.vacant({at - kPage4K, at}));
    EXPECT_TRUE(space.vacant({at + 8 * kPage4K, anon_base() + kAnonBytes}));
    const uint64_t heap = space.pool(MOSALLOC_POOL_HEAP).base();
    EXPECT_FALSE(space.vacant({heap, heap + kPage4K}));  // the break will come along
}

TEST_P(SpaceTest, MemoryThatGrowsElsewhereIsLikeItsLastPage) {
    const long a = map_pages(3), wall = map_pages(1);
    const uint64_t at = static_cast<uint64_t>(a);
    memset(reinterpret_cast<void*>(a), 'x', 3 * kPage4K);
    EXPECT_EQ(space.protect({at, at + 3 * kPage4K}, PROT_READ), 0);
    const long moved = space.remap(at, 3 * kPage4K, 900 * kPage4K, MREMAP_MAYMOVE, 0);
    EXPECT_GT(moved, wall);
    for (const uint64_t page : {0, 2, 3, 899})
        EXPECT_EQ(space.pool(MOSALLOC_POOL_ANON).pages().protection_at(offset(moved) + page * kPage4K), PROT_READ) << page;
    EXPECT_TRUE(all_bytes(moved, 3 * kPage4K, 'x') && all_bytes(moved + static_cast<long>(3 * kPage4K), 897 * kPage4K, 0));
    EXPECT_TRUE(space.vacant({at, at + 3 * kPage4K}));
}

TEST_P(SpaceTest, SharedMemoryHasAPoolOfItsOwn) {
    const long a = space.map_file(3 * kPage4K, kRW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Pool& pool = space.pool(MOSALLOC_POOL_FILE);
    EXPECT_EQ(static_cast<uint64_t>(a), pool.base());
    const uint64_t at = static_cast<uint64_t>(a);
    memset(reinterpret_cast<void*>(a), 's', 3 * kPage4K);
    const long grown = space.remap(at, 3 * kPage4K, 6 * kPage4K, 0, 0);
    EXPECT_EQ(grown, a);
    EXPECT_TRUE(all_bytes(a, 3 * kPage4K, 's'));
    const long twin = space.remap(at, 0, 2 * kPage4K, MREMAP_MAYMOVE, 0);  // the same memory twice
    memset(reinterpret_cast<void*>(a), 't', kPage4K);
    EXPECT_TRUE(all_bytes(twin, kPage4K, 't'));
    EXPECT_EQ(unmap_pages(a, 6), 0);
    EXPECT_EQ(map.file_pool.live_bytes, 2 * kPage4K);
    EXPECT_EQ(space.map_file(kFileBytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), -ENOMEM);
    EXPECT_EQ(map.full_calls[MOSALLOC_POOL_FILE], 1u);
    EXPECT_EQ(space.map_file(kPage4K, PROT_READ, MAP_PRIVATE, -1, 0), -EBADF);
    EXPECT_EQ(space.map_file(kPage4K, kRW, MAP_SHARED | MAP_ANONYMOUS, -1, 0), a);  // nothing was lost
}

TEST_P(SpaceTest, DontneedMeansZero) {
    const long a = map_pages(520);
    const uint64_t at = static_cast<uint64_t>(a);
    for (const int how : {MADV_DONTNEED, advice::kDontneedLocked}) {
        memset(reinterpret_cast<void*>(a), 'x', 520 * kPage4K);
        EXPECT_EQ(space.advise({at + kPage4K, at + 515 * kPage4K}, how), 0);
        EXPECT_TRUE(all_bytes(a, kPage4K, 'x'));
        EXPECT_TRUE(all_bytes(a + static_cast<long>(kPage4K), 514 * kPage4K, 0));
        EXPECT_TRUE(all_bytes(a + static_cast<long>(515 * kPage4K), 5 * kPage4K, 'x'));
    }
    EXPECT_EQ(space.advise({at, at + 520 * kPage4K}, MADV_HUGEPAGE), 0);
    EXPECT_GT(map.ignored_advice + space.pool(MOSALLOC_POOL_ANON).counters().ignored_advice, 0u);
}

TEST_P(SpaceTest, UnmapAcrossThePoolsBordersTouchesOnlyWhatIsMapped) {
    const uint64_t end = anon_base() + kAnonBytes;
    const long a = space.map(kAnonBytes, {kRW});
    memset(reinterpret_cast<void*>(end - kPage4K), 'x', kPage4K);
    EXPECT_EQ(space.unmap({end - kPage4K, end + kPage4K}), 0);
    EXPECT_EQ(map.pools[MOSALLOC_POOL_ANON].live_bytes, kAnonBytes - kPage4K);
    EXPECT_NE(a, 0);
}

}  // namespace
