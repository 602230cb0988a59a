// Tests the pools under limits of the kernel: holes that stay open, and calls that fail halfway.
#include <cerrno>
#include <cstring>
#include <sys/resource.h>

#include "tests/space_fixture.h"

using namespace mosalloc;

namespace {

class LimitsTest : public SpaceFixture {
protected:
    void build(uint64_t most_holes, bool windows = false, bool on_demand = false) {
        Policy policy;
        policy.most_holes = most_holes;
        policy.on_demand = on_demand;
        SpaceFixture::build(windows, policy);
    }
    char* page(long block, uint64_t i) { return reinterpret_cast<char*>(block) + i * kPage4K; }
    static bool accessible(const char* at) {
        unsigned char in_core;
        const long pagein = sys::madvise(reinterpret_cast<uint64_t>(at), kPage4K, 22 /* MADV_POPULATE_READ */);
        return !sys::failed(pagein) &&
               !sys::failed(sys::call(SYS_mincore, reinterpret_cast<long>(at), kPage4K, reinterpret_cast<long>(&in_core)));
    }
};

TEST_F(LimitsTest, HolesPastTheLimitStayOpenAndReadZero) {
    build(4);
    const long block = map_pages(64);
    memset(page(block, 0), 'x', 64 * kPage4K);
    for (uint64_t i = 0; i < 64; i += 2) EXPECT_EQ(unmap_pages(block + static_cast<long>(i * kPage4K), 1), 0);
    space.publish();
    EXPECT_EQ(map.open_holes, 30u);  // each of the three pools has a free end, too
    EXPECT_FALSE(accessible(page(block, 0)));
    EXPECT_TRUE(accessible(page(block, 62)));
    memset(page(block, 62), 'y', kPage4K);  // as a program with a fault does
    for (uint64_t i = 0; i < 64; i += 2) {
        const int prot = i % 4 == 0 ? PROT_NONE : kRW;
        ASSERT_EQ(map_pages(1, prot), block + static_cast<long>(i * kPage4K));
        EXPECT_EQ(accessible(page(block, i)), prot != PROT_NONE) << i;
        if (prot == kRW) {
            EXPECT_EQ(memcmp(page(block, i), page(block, 2), kPage4K), 0);
        }
    }
    EXPECT_EQ(*page(block, 62), 0);
    for (uint64_t i = 1; i < 64; i += 2) EXPECT_EQ(*page(block, i), 'x');
}

TEST_F(LimitsTest, ManyPagesAreClosedAlsoWhenThereAreManyHoles) {
    build(0);
    const long block = map_pages(1024);
    EXPECT_EQ(unmap_pages(block, 1024), 0);
    EXPECT_FALSE(accessible(page(block, 5)));
    space.publish();
    EXPECT_EQ(map.open_holes, 0u);
}

TEST_F(LimitsTest, ARefusedRequestLeavesItsPlaceWithoutAccess) {
    build(100);
    rlimit limit = {};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
    const long block = map_pages(8);
    memset(page(block, 0), 'x', 8 * kPage4K);
    EXPECT_EQ(space.protect({static_cast<uint64_t>(block), static_cast<uint64_t>(block) + 4 * kPage4K}, PROT_READ), 0);
    const rlimit none = {kPage4K, limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &none), 0);
    const uint64_t at = static_cast<uint64_t>(block);
    const long fixed = space.map_fixed({at, at + 8 * kPage4K}, {kRW});
    const long mapped = map_pages(8);
    const long grown = space.remap(at, 8 * kPage4K, 16 * kPage4K, 0, 0);
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    EXPECT_EQ(fixed, -ENOMEM);
    EXPECT_EQ(mapped, -ENOMEM);
    EXPECT_EQ(grown, -ENOMEM);
    for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(*page(block, i), 'x');
    EXPECT_EQ(map_pages(8, PROT_NONE), block + static_cast<long>(8 * kPage4K));
    EXPECT_FALSE(accessible(page(block, 8)));
}

TEST_F(LimitsTest, MapFixedKeepsWhatIsThereIfHugePagesAreMissing) {
    build(100, true, true);
    const uint64_t at = anon_base() + kPage2M, behind = anon_base() + 3 * kPage2M;  // behind it, an absent huge page
    EXPECT_EQ(space.map_fixed({at, behind}, {kRW}), static_cast<long>(at));
    memset(reinterpret_cast<void*>(at), 'x', behind - at);
    rlimit limit = {};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
    const rlimit none = {kPage4K, limit.rlim_max};  // also refuses to map a huge page
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &none), 0);
    const long result = space.map_fixed({at, behind + kPage4K}, {kRW});
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    EXPECT_EQ(result, -ENOMEM);
    for (uint64_t i = 0; i < behind - at; ++i) ASSERT_EQ(reinterpret_cast<char*>(at)[i], 'x');
    EXPECT_TRUE(space.vacant({behind, behind + kPage4K}));
}

TEST_F(LimitsTest, ClearingThatIsRefusedIsAnErrorAndNoFault) {
    build(100, true);
    const long block = map_pages(512);  // a window of one page
    const uint64_t at = static_cast<uint64_t>(block);
    memset(page(block, 0), 'x', kPage2M);
    EXPECT_EQ(unmap_pages(block, 256), 0);
    EXPECT_EQ(space.protect({at + 256 * kPage4K, at + 512 * kPage4K}, PROT_READ), 0);
    rlimit limit = {};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
    const rlimit none = {kPage4K, limit.rlim_max};  // mprotect may not make it writable
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &none), 0);
    const long result = space.map_fixed({at, at + 256 * kPage4K}, {PROT_READ});
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    EXPECT_EQ(result, -ENOMEM);
    EXPECT_EQ(space.map_fixed({at, at + 256 * kPage4K}, {PROT_READ}), block);
    for (uint64_t i = 0; i < kPage2M; ++i) ASSERT_EQ(page(block, 0)[i], i < kPage2M / 2 ? 0 : 'x');
}

TEST_F(LimitsTest, AFileThatCannotBeMappedLeavesItsPlaceAsItWas) {
    build(100);
    const long block = map_pages(8);
    memset(page(block, 0), 'x', 8 * kPage4K);
    const uint64_t at = static_cast<uint64_t>(block);
    EXPECT_EQ(space.map_foreign({at, at + 16 * kPage4K}, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0), -EBADF);
    for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(*page(block, i), 'x');
    EXPECT_TRUE(space.vacant({at + 8 * kPage4K, at + 16 * kPage4K}));
    EXPECT_EQ(map_pages(8), block + static_cast<long>(8 * kPage4K));
}

TEST_F(LimitsTest, MapFixedOverWindowsAndOtherPagesReadsZero) {
    build(100, true);
    const long block = map_pages(2048);  // a window of 2MB, then 4KB pages, then windows
    memset(page(block, 0), 'x', 2048 * kPage4K);
    const uint64_t at = static_cast<uint64_t>(block);
    EXPECT_EQ(space.map_fixed({at + 500 * kPage4K, at + 1600 * kPage4K}, {kRW}), static_cast<long>(at + 500 * kPage4K));
    for (uint64_t i = 0; i < 2048; ++i) ASSERT_EQ(*page(block, i), i < 500 || i >= 1600 ? 'x' : 0) << i;
}

}  // namespace
