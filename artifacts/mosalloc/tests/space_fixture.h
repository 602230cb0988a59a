// space_fixture.h - pools in the test's own address space. Windows are backed with 4KB pages here but take the same
// code paths (zeroing by software, united protections), so the tests need no huge pages and can run under sanitizers.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "core/later.h"
#include "core/space.h"
#include "core/sys.h"

namespace mosalloc {

inline constexpr int kRW = PROT_READ | PROT_WRITE;

/// Space without a lock: each call makes its later calls at once, as the hooks do.
class WholeSpace : public Space {
public:
    long map(uint64_t bytes, const Request& request) {
        return settled(bytes, [&](Later* later) { return Space::map(bytes, request, later); });
    }
    long map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset) {
        return settled(bytes, [&](Later* later) { return Space::map_file(bytes, prot, flags, fd, offset, later); });
    }
    long map_fixed(Range addresses, const Request& request) {
        return settled(addresses.bytes(), [&](Later* later) { return Space::map_fixed(addresses, request, later); });
    }
    long map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset) {
        return settled(addresses.bytes(), [&](Later* later) { return Space::map_foreign(addresses, prot, flags, fd, offset, later); });
    }
    long advise(Range addresses, int advice) {
        Later later;
        const long planned = Space::advise(addresses, advice, &later), made = later.run();
        return sys::failed(made) ? made : planned;
    }

private:
    template <class Map>
    long settled(uint64_t bytes, Map map) {
        Later later;
        const long address = map(&later);
        return sys::failed(address) || !sys::failed(later.run()) ? address : take_back(address, bytes);
    }
};

class SpaceFixture : public testing::Test {
protected:
    static constexpr uint64_t kHeapBytes = 8 * kPage2M, kAnonBytes = 16 * kPage2M, kFileBytes = 4 * kPage2M, kReserved = 4 * kPage1G;

    void build(bool windows, const Policy& policy = {}) {
        auto layout = std::make_unique<Layout>();
        layout->pool_bytes[MOSALLOC_POOL_HEAP] = kHeapBytes;
        layout->pool_bytes[MOSALLOC_POOL_ANON] = kAnonBytes;
        layout->pool_bytes[MOSALLOC_POOL_FILE] = kFileBytes;
        const long at = sys::mmap(0, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        ASSERT_FALSE(sys::failed(at));
        reserved_ = static_cast<uint64_t>(at);
        const uint64_t heap = align_up(reserved_, kPage1G), anon = heap + kPage1G, file = anon + kPage1G;
        ASSERT_EQ(reserve_span(heap, kHeapBytes), 0);
        ASSERT_EQ(reserve_span(anon, kAnonBytes), 0);
        ASSERT_EQ(reserve_span(file, kFileBytes), 0);
        ASSERT_TRUE(space.init({heap, anon, file}, *layout, policy, &map));
        if (!windows) return;
        add_window(space.pool(MOSALLOC_POOL_HEAP), {kPage2M, 3 * kPage2M});
        add_window(space.pool(MOSALLOC_POOL_ANON), {0, kPage2M});
        add_window(space.pool(MOSALLOC_POOL_ANON), {3 * kPage2M, 6 * kPage2M});
    }
    void TearDown() override { sys::munmap(reserved_, kReserved); }

    uint64_t offset(long address) { return static_cast<uint64_t>(address) - anon_base(); }
    uint64_t anon_base() { return space.pool(MOSALLOC_POOL_ANON).base(); }
    long map_pages(uint64_t pages, int prot = PROT_READ | PROT_WRITE) { return space.map(pages * kPage4K, {prot}); }
    long unmap_pages(long address, uint64_t pages) {
        return space.unmap({static_cast<uint64_t>(address), static_cast<uint64_t>(address) + pages * kPage4K});
    }

    WholeSpace space;
    mosalloc_pool_map map = {};

private:
    static void add_window(Pool& pool, Range range) {
        ASSERT_EQ(sys::mprotect(pool.base() + range.start, range.bytes(), PROT_READ | PROT_WRITE), 0);
        pool.add_window(range, kPage2M);
    }
    uint64_t reserved_ = 0;
};

}  // namespace mosalloc
