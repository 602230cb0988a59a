// Tests what each policy does when the program sets different protections inside one huge page. The windows of the fixture
// have 4KB pages underneath, so the tests read the hardware protection from the pool's state.
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "core/advice.h"
#include "tests/space_fixture.h"

using namespace mosalloc;

namespace {

class ProtectionsTest : public SpaceFixture {
protected:
    void build(Protections how) {
        Policy policy;
        policy.protections = how;
        SpaceFixture::build(true, policy);
        start_ = static_cast<uint64_t>(map_pages(512));  // the first window: one page of 2MB
        memset(reinterpret_cast<void*>(start_), 'x', kPage2M);
    }
    Range pages(uint64_t from, uint64_t to) const { return {start_ + from * kPage4K, start_ + to * kPage4K}; }
    Pool& pool() { return space.pool(MOSALLOC_POOL_ANON); }
    bool is_huge() { return pool().touches_window({0, kPage2M}); }
    bool keeps_contents() const {
        const char* at = reinterpret_cast<const char*>(start_);
        for (uint64_t i = 0; i < kPage2M; ++i)
            if (at[i] != 'x') return false;
        return true;
    }
    uint64_t start_ = 0;
};

TEST_F(ProtectionsTest, SoftNeverSplits) {
    build(Protections::soft);
    EXPECT_EQ(space.protect(pages(3, 5), PROT_NONE), 0);
    EXPECT_TRUE(is_huge());
    EXPECT_EQ(map.softened_protections, 1u);
    EXPECT_EQ(map.split_pages, 0u);
    EXPECT_TRUE(keeps_contents());
}

TEST_F(ProtectionsTest, GuardsSplitWhereAccessIsTakenAway) {
    build(Protections::guards);
    EXPECT_EQ(space.protect(pages(3, 5), PROT_READ), 0);
    EXPECT_FALSE(is_huge());
    EXPECT_EQ(map.split_pages, 1u);
    EXPECT_EQ(map.split_offset, 0u);
    EXPECT_TRUE(keeps_contents());
    EXPECT_TRUE(pool().touches_window({3 * kPage2M, 4 * kPage2M}));  // other windows stay
    EXPECT_EQ(space.protect(pages(10, 20), PROT_READ), 0);           // it is split already
    EXPECT_EQ(map.split_pages, 1u);
}

TEST_F(ProtectionsTest, GuardsDoNotSplitAWholePageNorMemoryThatGainsAccess) {
    build(Protections::guards);
    EXPECT_EQ(space.protect(pages(0, 512), PROT_READ), 0);  // the hardware can do that
    EXPECT_EQ(space.protect(pages(0, 512), PROT_NONE), 0);
    EXPECT_EQ(space.protect(pages(7, 9), kRW), 0);  // as an allocator that commits what it had reserved
    EXPECT_TRUE(is_huge());
    EXPECT_EQ(map.split_pages, 0u);
    EXPECT_EQ(space.protect(pages(0, 512), kRW), 0);
    EXPECT_TRUE(keeps_contents());
}

TEST_F(ProtectionsTest, ExactSplitsAtAnyDifference) {
    build(Protections::exact);
    EXPECT_EQ(space.protect(pages(0, 512), PROT_NONE), 0);
    EXPECT_TRUE(is_huge());
    EXPECT_EQ(space.protect(pages(7, 9), kRW), 0);
    EXPECT_FALSE(is_huge());
    EXPECT_EQ(map.softened_protections, 0u);
    EXPECT_EQ(space.protect(pages(0, 512), PROT_READ), 0);
    EXPECT_TRUE(keeps_contents());
}

TEST_F(ProtectionsTest, MemoryWithoutAccessBehindAHoleKeepsItsContentsInASplit) {
    build(Protections::exact);
    EXPECT_EQ(space.unmap(pages(0, 3)), 0);
    EXPECT_EQ(space.protect(pages(3, 512), PROT_NONE), 0);  // all that is used: the page itself has no access now
    EXPECT_TRUE(is_huge());
    EXPECT_EQ(space.protect(pages(7, 9), kRW), 0);
    EXPECT_FALSE(is_huge());
    EXPECT_EQ(space.protect(pages(3, 512), PROT_READ), 0);
    const char* at = reinterpret_cast<const char*>(start_);
    for (uint64_t i = 3 * kPage4K; i < kPage2M; ++i) ASSERT_EQ(at[i], 'x');
}

TEST_F(ProtectionsTest, MemoryThatWasNeverWritableIsNotCleared) {
    build(Protections::soft);
    const auto zeroed = [&] { return pool().counters().zeroed_bytes; };
    start_ = anon_base() + 3 * kPage2M;  // a window without memory in use
    EXPECT_EQ(space.map_fixed(pages(0, 1024), {PROT_NONE}), static_cast<long>(start_));
    EXPECT_EQ(space.protect(pages(0, 10), PROT_READ), 0);
    EXPECT_EQ(space.unmap(pages(0, 1024)), 0);
    EXPECT_EQ(space.map_fixed(pages(0, 1024), {PROT_NONE}), static_cast<long>(start_));
    EXPECT_EQ(zeroed(), 0u);
    // A part gains access: the whole huge page is writable now, with all parts that are in use.
    EXPECT_EQ(space.protect(pages(5, 6), kRW), 0);
    memset(reinterpret_cast<void*>(pages(4, 7).start), 'x', 3 * kPage4K);
    EXPECT_EQ(space.unmap(pages(0, 1024)), 0);
    EXPECT_EQ(space.map_fixed(pages(0, 1024), {PROT_READ}), static_cast<long>(start_));
    EXPECT_EQ(zeroed(), kPage2M);  // the first huge page only
    for (uint64_t i = 0; i < 2 * kPage2M; ++i) ASSERT_EQ(reinterpret_cast<char*>(start_)[i], 0);
}

TEST_F(ProtectionsTest, MemoryWithoutAccessBesideWritableMemoryIsCleared) {
    build(Protections::soft);
    start_ = anon_base() + 3 * kPage2M;
    EXPECT_EQ(space.map_fixed(pages(0, 8), {kRW}), static_cast<long>(start_));
    EXPECT_EQ(space.map_fixed(pages(8, 16), {PROT_NONE}), static_cast<long>(pages(8, 16).start));
    memset(reinterpret_cast<void*>(start_), 'x', 16 * kPage4K);  // soft: the huge page grants it
    EXPECT_EQ(space.unmap(pages(8, 16)), 0);
    EXPECT_EQ(space.map_fixed(pages(8, 16), {PROT_READ}), static_cast<long>(pages(8, 16).start));
    for (uint64_t i = 0; i < 16 * kPage4K; ++i) ASSERT_EQ(reinterpret_cast<char*>(start_)[i], i < 8 * kPage4K ? 'x' : 0);
}

/// How often another thread could read the page at `address` until `done`; it counts its attempts.
uint64_t reads(uint64_t address, std::atomic<uint64_t>* attempts, const std::atomic<bool>* done) {
    uint64_t count = 0;
    char byte;
    const iovec to = {&byte, 1}, from = {reinterpret_cast<void*>(address), 1};
    for (; !done->load(); attempts->fetch_add(1)) count += process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 ? 1 : 0;
    return count;
}

TEST_F(ProtectionsTest, NoThreadPassesAGuardWhileItsHugePageIsSplit) {
    build(Protections::exact);
    for (const uint64_t window : {0, 3, 4, 5}) {  // the windows of the fixture
        start_ = anon_base() + window * kPage2M;
        ASSERT_FALSE(sys::failed(space.map_fixed(pages(0, 512), {kRW})));
        memset(reinterpret_cast<void*>(start_), 'x', kPage2M);
        ASSERT_EQ(space.protect(pages(0, 512), PROT_NONE), 0);
        std::atomic<uint64_t> attempts{0};
        std::atomic<bool> done{false};
        uint64_t passed = 0;
        std::thread other([&] { passed = reads(pages(500, 501).start, &attempts, &done); });
        while (attempts.load() < 100) std::this_thread::yield();
        EXPECT_EQ(space.protect(pages(7, 9), kRW), 0);
        const bool split = map.unsplit_pages == 0;
        const uint64_t during = attempts.load();
        while (attempts.load() < during + 100) std::this_thread::yield();
        done = true;
        other.join();
        if (!split) GTEST_SKIP() << "no userfaultfd here, so a program with threads keeps its huge pages";
        EXPECT_EQ(passed, 0u) << "of " << attempts.load() << " reads in window " << window;
        EXPECT_EQ(space.protect(pages(0, 512), PROT_READ), 0);
        EXPECT_TRUE(keeps_contents());
    }
    EXPECT_EQ(map.split_pages, 4u);
}

TEST_F(ProtectionsTest, ClearingReusedMemoryOpensNoGuardBesideIt) {
    build(Protections::exact);
    ASSERT_EQ(space.unmap(pages(8, 512)), 0);  // reused below, so it must be cleared
    ASSERT_EQ(space.protect(pages(0, 8), PROT_NONE), 0);
    EXPECT_TRUE(is_huge());
    EXPECT_EQ(map_pages(4, PROT_NONE), static_cast<long>(pages(8, 12).start));
    EXPECT_FALSE(is_huge());  // 4KB pages need no clearing
    EXPECT_EQ(space.protect(pages(0, 12), kRW), 0);
    for (uint64_t i = 0; i < 12 * kPage4K; ++i) ASSERT_EQ(reinterpret_cast<char*>(start_)[i], i < 8 * kPage4K ? 'x' : 0);
}

TEST_F(ProtectionsTest, PopulatingNeedsTheAccessThatTheProgramAskedFor) {
    build(Protections::soft);
    EXPECT_EQ(space.protect(pages(3, 5), PROT_READ), 0);
    EXPECT_EQ(space.protect(pages(5, 6), PROT_WRITE), 0);
    EXPECT_EQ(space.advise(pages(0, 5), advice::kPopulateRead), 0);
    EXPECT_EQ(space.advise(pages(0, 6), advice::kPopulateRead), -EINVAL);
    EXPECT_EQ(space.advise(pages(0, 3), advice::kPopulateWrite), 0);
    EXPECT_EQ(space.advise(pages(0, 4), advice::kPopulateWrite), -EINVAL);
    EXPECT_EQ(space.advise(pages(5, 6), advice::kPopulateWrite), 0);
    EXPECT_TRUE(is_huge());
}

unsigned resident(Range pages) {
    unsigned char in_memory[512] = {};
    if (mincore(reinterpret_cast<void*>(pages.start), pages.bytes(), in_memory) != 0) return ~0u;
    return static_cast<unsigned>(std::count_if(in_memory, std::end(in_memory), [](unsigned char page) { return (page & 1) != 0; }));
}

// The call comes after the lock is released, so another thread may split the page before it.
TEST_F(ProtectionsTest, PopulatingAPartIsNotRefusedForTheRestOfItsPage) {
    build(Protections::exact);
    for (const int advice : {advice::kPopulateRead, advice::kPopulateWrite}) {
        const uint64_t window = advice == advice::kPopulateRead ? 0 : 3;
        start_ = anon_base() + window * kPage2M;
        ASSERT_FALSE(sys::failed(space.map_fixed(pages(0, 512), {kRW})));
        Later later;
        EXPECT_EQ(space.Space::advise(pages(3, 5), advice, &later), 0);
        EXPECT_EQ(space.protect(pages(100, 101), PROT_NONE), 0);
        EXPECT_EQ(resident(pages(3, 5)), 0u);  // the split makes no page of an unwritten one
        EXPECT_EQ(later.run(), 0);
        EXPECT_EQ(resident(pages(3, 5)), 2u);
        EXPECT_EQ(resident(pages(5, 100)), 0u);
    }
    EXPECT_EQ(map.split_pages, 2u);
}

TEST_F(ProtectionsTest, AGuardIsRefusedOrHolds) {
    build(Protections::guards);
    const long known = sys::madvise(start_, 0, advice::kGuardInstall);
    if (sys::failed(known)) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL (Linux 6.13)";
    EXPECT_EQ(space.advise(pages(3, 4), advice::kGuardInstall), 0);
    EXPECT_FALSE(is_huge());
    EXPECT_EQ(space.advise(pages(3, 4), advice::kGuardRemove), 0);
    EXPECT_EQ(*reinterpret_cast<char*>(pages(3, 4).start), 0);
    EXPECT_EQ(*reinterpret_cast<char*>(pages(4, 5).start), 'x');
}

TEST_F(ProtectionsTest, AGuardInASoftPageIsRefused) {
    build(Protections::soft);
    EXPECT_EQ(space.advise(pages(3, 4), advice::kGuardInstall), -EINVAL);  // known to this kernel or not
    EXPECT_EQ(space.advise(pages(0, 512), advice::kGuardInstall), -EINVAL);
    EXPECT_TRUE(keeps_contents());
}

TEST_F(ProtectionsTest, AFileOverAPartSplitsAndTheRestKeepsItsContents) {
    build(Protections::guards);
    const Range middle = pages(100, 102);
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    EXPECT_EQ(space.map_foreign(middle, kRW, flags, -1, 0), static_cast<long>(middle.start));
    EXPECT_EQ(*reinterpret_cast<char*>(middle.start), 0);
    memset(reinterpret_cast<void*>(middle.start), 'x', middle.bytes());
    EXPECT_TRUE(keeps_contents());
    EXPECT_EQ(map.split_pages, 1u);
    EXPECT_EQ(space.unmap(pages(0, 512)), 0);
    EXPECT_EQ(map_pages(512), static_cast<long>(start_));
    for (uint64_t i = 0; i < kPage2M; ++i) ASSERT_EQ(reinterpret_cast<char*>(start_)[i], 0);
}

TEST_F(ProtectionsTest, WipeOnForkSplitsBecauseHugePagesCannot) {
    build(Protections::guards);
    EXPECT_EQ(space.advise(pages(1, 2), MADV_WIPEONFORK), 0);
    EXPECT_FALSE(is_huge());
    EXPECT_EQ(space.advise(pages(1, 2), 12345), -EINVAL);
}

TEST_F(ProtectionsTest, FreedPartsOfASplitPageReadZeroWhenReused) {
    build(Protections::guards);
    EXPECT_EQ(space.unmap(pages(50, 60)), 0);
    EXPECT_EQ(space.protect(pages(3, 4), PROT_READ), 0);
    EXPECT_EQ(map_pages(10), static_cast<long>(pages(50, 60).start));
    for (uint64_t i = 0; i < 10 * kPage4K; ++i) ASSERT_EQ(reinterpret_cast<char*>(pages(50, 60).start)[i], 0);
}

TEST_F(ProtectionsTest, ASplitThatCannotBeDoneSafelyIsSoftenedAndCounted) {
    build(Protections::guards);
    rlimit limit = {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none = {0, limit.rlim_max};  // neither the count of threads nor userfaultfd can be had
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const long result = space.protect(pages(3, 4), PROT_NONE);  // both edges are the same page
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(result, 0);
    EXPECT_TRUE(is_huge());
    EXPECT_EQ(map.unsplit_pages, 1u);
    EXPECT_EQ(map.softened_protections, 1u);
    EXPECT_EQ(map.split_pages, 0u);
    EXPECT_TRUE(keeps_contents());
}

}  // namespace
