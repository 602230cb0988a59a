// Pools of huge pages and the areas that use them. Derived by hand from mm/hugetlb.c of 6.12.
#include <gtest/gtest.h>

#include <memory>

#include "vm_support.h"

extern "C" {
#include "phys/range.h"
#include "vm/fork.h"
#include "vm/hugetlb.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 512 * 10;     // a border of 1GB
constexpr uint32_t noreserve = AREA_NORESERVE;

struct Huge : Process {
    explicit Huge(uint64_t pages = 8, uint64_t bytes = 256 * mib) : Process(settings_of(THP_NEVER), bytes) {
        EXPECT_EQ(hugetlb_resize(&system.hugetlb, HUGETLB_2MB, pages, 0), pages);
    }
    const char *map_huge(uint64_t page, uint64_t pages, uint32_t flags = rw, hugetlb_size size = HUGETLB_2MB) {
        return hugetlb_map(&process, page, pages, flags, size, 0);
    }
    hugetlb_pool &pool() { return system.hugetlb.pool[HUGETLB_2MB]; }
};

TEST(Pool, IsTakenFromTheAllocatorAndGivenBack) {
    Process p(settings_of(THP_NEVER));
    percpu_drain_all(&p.memory.p, 0);
    const int64_t before = free_everywhere(p.memory.p);
    p.memory.record();
    EXPECT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 5, 0), 5u);
    const auto allocs = p.memory.of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 5u);
    for (const auto &alloc : allocs) {
        EXPECT_EQ(alloc.order, 9);
        EXPECT_EQ(alloc.type, PHYS_MOVABLE);
    }
    hugetlb_pool &pool = p.system.hugetlb.pool[HUGETLB_2MB];
    EXPECT_EQ(pool.free[4], allocs[0].frame);          // the first one is given out first
    EXPECT_EQ(pool.free[0], allocs[4].frame);
    EXPECT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 3, 0), 3u);
    const auto frees = p.memory.of_kind(PHYS_FREE);
    ASSERT_EQ(frees.size(), 2u);
    EXPECT_EQ(frees[0].frame, allocs[0].frame);        // in the order in which they left the pool: the guest does so, too
    EXPECT_EQ(frees[1].frame, allocs[1].frame);
    EXPECT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 0, 0), 0u);
    percpu_drain_all(&p.memory.p, 0);
    EXPECT_EQ(free_everywhere(p.memory.p), before);
}

// Found by a run of 6.12: an area that takes the place of a part of another one has promises of its own.
TEST(Promises, EndWhereTheirAreaIsReplaced) {
    Huge p(6);
    ASSERT_EQ(p.map_huge(at, 512 * 6), nullptr);
    for (uint64_t i = 0; i < 6; ++i) ASSERT_EQ(p.touch(at + 512 * i).kind, FAULT_PAGE);
    ASSERT_EQ(process_unmap(&p.process, at + 512 * 2, 512 * 3, 0), nullptr);       // the middle
    EXPECT_EQ(p.pool().count, 3u);
    EXPECT_EQ(p.pool().reserved, 0u);
    ASSERT_EQ(p.map_huge(at + 512 * 2, 512 * 3), nullptr);
    EXPECT_EQ(p.pool().reserved, 3u);
    ASSERT_EQ(p.touch(at + 512 * 3).kind, FAULT_PAGE);
    EXPECT_EQ(p.pool().reserved, 2u);                                              // its own promise was used
    ASSERT_EQ(process_unmap(&p.process, at, 512 * 6, 0), nullptr);
    EXPECT_EQ(p.pool().reserved, 0u);
    EXPECT_EQ(p.pool().count, 6u);
    ASSERT_EQ(p.map_huge(at, 512 * 6), nullptr);                                   // so all six can be promised again
}

TEST(Pool, HasWhatMemoryHas) {
    Process p(settings_of(THP_NEVER), 64 * mib);
    const uint64_t got = hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 1000, 0);
    EXPECT_GT(got, 10u);
    EXPECT_LT(got, 32u);
    EXPECT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_1GB, 1, 0), 0u);
    EXPECT_EQ(phys_check(&p.memory.p), nullptr);
}

// Virtuoso (8188baf) gives its pool frames from 0x100000 on without asking its buddy allocator, so that both hand out the same memory.
TEST(VirtuosoDefect4, PoolAndTablesComeFromTheAllocator) {
    Process p(settings_of(THP_NEVER), 8 * gib);
    ASSERT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_1GB, 2, 0), 2u);
    ASSERT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 1000, 0), 1000u);
    ASSERT_EQ(hugetlb_map(&p.process, at, 512 * 1000, rw, HUGETLB_2MB, 0), nullptr);
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
    for (int size = 0; size < HUGETLB_SIZES; ++size)
        for (size_t i = 0; i < p.system.hugetlb.pool[size].count; ++i)
            ranges.push_back({p.system.hugetlb.pool[size].free[i], 1u << hugetlb_order(static_cast<hugetlb_size>(size))});
    for (uint64_t i = 0; i < 1000; ++i) {
        const fault fault = p.touch(at + i * 512);
        ASSERT_EQ(fault.kind, FAULT_PAGE);
        for (uint32_t t = 0; t < fault.tables.count; ++t) ranges.push_back({fault.tables.frame[t], 1});
    }
    EXPECT_EQ(p.process.pt.tables[0], 0u);
    for (int i = 0; i < 3000; ++i) ranges.push_back({p.memory.alloc(9), 512});       // the rest of memory
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 0; i < ranges.size(); ++i) {
        if (ranges[i].first == PHYS_NO_FRAME) break;
        for (uint32_t j = 0; j < ranges[i].second; j += 512)
            ASSERT_NE(frames_block_of(&p.memory.p.frames, ranges[i].first + j), PHYS_NO_FRAME);
        ASSERT_TRUE(i == 0 || ranges[i].first >= ranges[i - 1].first + ranges[i - 1].second);
    }
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(Range, AlignedAscendingFromTheHighestZone) {
    Memory memory = Memory::pc(8 * gib);        // Normal: 4GB to 9GB
    EXPECT_EQ(phys_take_range(&memory.p, 18, 0).frame, 4u << 18);
    const uint32_t page = 5u << 18;
    EXPECT_EQ(phys_take_range(&memory.p, 18, 0).frame, page);
    EXPECT_EQ(memory.p.frames.state[page], FRAME_USED << 4 | 10);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
    for (uint32_t i = 0; i < 256; ++i) ASSERT_TRUE(memory.release((4u << 18) + i * 1024, 10));
    const uint32_t one = memory.alloc();        // a frame in use rules its range out
    ASSERT_NE(one, PHYS_NO_FRAME);
    const phys_range next = phys_take_range(&memory.p, 18, 0);
    EXPECT_GE(next.busy, 1u);                   // the second one, at least
    EXPECT_NE(next.frame >> 18, one >> 18);
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

TEST(Range, HolesAreNoRange) {
    Memory memory = Memory::pc(2 * gib);        // DMA32 ends at 2GB; its first whole gigabyte is the second one
    EXPECT_EQ(phys_take_range(&memory.p, 18, 0).frame, 1u << 18);
    EXPECT_EQ(phys_take_range(&memory.p, 18, 0).frame, PHYS_NO_FRAME);
}

TEST(HugeArea, PromisedAtMmapTakenAtTheFault) {
    Huge p(8);
    ASSERT_EQ(p.map_huge(at, 512 * 5), nullptr);
    EXPECT_EQ(p.pool().reserved, 5u);
    EXPECT_EQ(p.pool().count, 8u);
    EXPECT_NE(p.map_huge(at + 512 * 100, 512 * 4), nullptr);      // 3 are left
    const uint32_t next = p.pool().free[7];
    const fault first = p.touch(at + 700);
    EXPECT_EQ(first.kind, FAULT_PAGE);
    EXPECT_EQ(first.order, 9u);
    EXPECT_EQ(first.frame, next);
    EXPECT_EQ(first.tables.count, 2u);
    EXPECT_EQ(p.pool().reserved, 4u);
    EXPECT_EQ(p.pool().count, 7u);
    EXPECT_EQ(p.entry(at + 512), pt_make(next, PT_PRESENT | PT_YOUNG | PT_DIRTY | PT_WRITE));
    EXPECT_EQ(p.process.hugetlb_pages, 512u);
    EXPECT_EQ(p.process.pt.deposited, 0u);
    EXPECT_EQ(p.broken(), nullptr);
    ASSERT_EQ(process_unmap(&p.process, at, 512 * 5, 0), nullptr);
    EXPECT_EQ(p.pool().count, 8u);
    EXPECT_EQ(p.pool().reserved, 0u);
    EXPECT_EQ(p.pool().free[7], next);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(HugeArea, AReadThenAWrite) {
    Huge p(2);
    p.map_huge(at, 512);
    EXPECT_EQ(p.touch(at, false).kind, FAULT_PAGE);
    EXPECT_FALSE(p.entry(at) & PT_WRITE);
    EXPECT_EQ(p.touch(at + 1).kind, FAULT_REUSE);
    EXPECT_EQ(p.touch(at + 2).kind, FAULT_NONE);
}

TEST(HugeArea, AnEmptyPoolIsABusError) {
    Huge p(2);
    ASSERT_EQ(p.map_huge(at, 512 * 3, rw | noreserve), nullptr);
    ASSERT_EQ(p.map_huge(at + 512 * 10, 512), nullptr);           // one of the two is promised
    EXPECT_EQ(p.touch(at).kind, FAULT_PAGE);
    EXPECT_EQ(p.touch(at + 512).kind, FAULT_BUS);
    EXPECT_EQ(p.touch(at + 512 * 10).kind, FAULT_PAGE);
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(HugeArea, BordersAreMultiples) {
    Huge p(8);
    EXPECT_NE(p.map_huge(at + 1, 512), nullptr);
    EXPECT_NE(p.map_huge(at, 500), nullptr);
    ASSERT_EQ(p.map_huge(at, 512 * 4), nullptr);
    ASSERT_EQ(p.map_huge(at + 512 * 4, 512), nullptr);
    EXPECT_EQ(p.process.areas.count, 2u);                         // they do not merge
    EXPECT_NE(process_unmap(&p.process, at + 512, 100, 0), nullptr);
    EXPECT_NE(p.map(at + 100, 10), nullptr);
    EXPECT_NE(process_protect(&p.process, at, 512, AREA_READ), nullptr);
    p.touch(at + 512);
    ASSERT_EQ(process_unmap(&p.process, at + 512, 512, 0), nullptr);
    EXPECT_EQ(p.process.areas.count, 3u);
    EXPECT_EQ(p.pool().reserved, 4u);                             // 5, less the unmapped one
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(HugeArea, AShrunkPoolHasSurplusUntilPagesReturn) {
    Huge p(4);
    p.map_huge(at, 512 * 2);
    p.touch(at);
    EXPECT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 0, 0), 0u);
    EXPECT_EQ(p.pool().total, 2u);            // one in use, one promised
    EXPECT_EQ(p.pool().surplus, 2u);
    ASSERT_EQ(process_unmap(&p.process, at, 512 * 2, 0), nullptr);
    EXPECT_EQ(p.pool().total, 1u);            // the used one went to the allocator
    EXPECT_EQ(p.broken(), nullptr);
}

TEST(HugeArea, OneGigabyte) {
    Process p(settings_of(THP_NEVER), 8 * gib);
    ASSERT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_1GB, 2, 0), 2u);
    const uint32_t top = p.system.hugetlb.pool[HUGETLB_1GB].free[1];
    EXPECT_EQ(top, 5u << 18);                   // tables lie in the first gigabyte of Normal
    ASSERT_EQ(hugetlb_map(&p.process, at, 2 << 18, rw, HUGETLB_1GB, 0), nullptr);
    const fault first = p.touch(at + 123456);
    EXPECT_EQ(first.kind, FAULT_PAGE);
    EXPECT_EQ(first.order, 18u);
    EXPECT_EQ(first.tables.count, 1u);
    EXPECT_EQ(first.frame, top);
    EXPECT_EQ(p.touch(at + 99).kind, FAULT_NONE);
    EXPECT_EQ(p.broken(), nullptr);
    ASSERT_EQ(process_unmap(&p.process, at, 2 << 18, 0), nullptr);
    EXPECT_EQ(p.process.pt.tables[2], 0u);
    EXPECT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_1GB, 0, 0), 0u);
    EXPECT_EQ(p.broken(), nullptr);
    EXPECT_EQ(frame_kind(&p.memory.p.frames, top), FRAME_FREE);
}

TEST(HugeFork, TheOwnerTakesItsPageBackFromTheChild) {
    Huge p(2);
    ASSERT_EQ(p.map_huge(at, 512), nullptr);
    p.touch(at);
    const uint32_t frame = pt_value(p.entry(at));
    ::process child, other;
    fork_result result = process_fork(&child, &p.process, 0);
    ASSERT_EQ(result.outcome, PHYS_GOT_FRAMES);
    EXPECT_EQ(result.pages, 1u);
    EXPECT_FALSE(p.entry(at) & PT_WRITE);
    // The child copies: one page is free and nobody has a promise for it.
    const fault copy = fault_access(&child, at, true, 0, FAULT_FIRST);
    EXPECT_EQ(copy.kind, FAULT_COPY);
    EXPECT_EQ(copy.from, frame);
    EXPECT_EQ(p.touch(at).kind, FAULT_REUSE);
    ASSERT_EQ(process_fork(&other, &p.process, 0).outcome, PHYS_GOT_FRAMES);
    // Nothing is free: the owner takes its page from the other child, which gets SIGBUS from now on.
    const fault owner = p.touch(at);
    EXPECT_EQ(owner.kind, FAULT_REUSE);
    EXPECT_EQ(owner.frame, frame);
    EXPECT_EQ(other.hugetlb_pages, 0u);
    EXPECT_EQ(fault_access(&other, at, false, 0, FAULT_FIRST).kind, FAULT_BUS);
    ::process *all[] = {&p.process, &child, &other};
    EXPECT_STREQ(vm_check(&p.system, all, 3), nullptr);
    process_exit(&child, 0);
    EXPECT_EQ(p.pool().count, 1u);
    process_exit(&other, 0);
    EXPECT_EQ(p.broken(), nullptr);
    p.end();
    EXPECT_EQ(p.pool().count, 2u);
    EXPECT_EQ(p.pool().reserved, 0u);
}

TEST(HugeFork, AChildWithoutAPageGetsABusError) {
    Huge p(1);
    ASSERT_EQ(p.map_huge(at, 512), nullptr);
    p.touch(at);
    ::process child;
    ASSERT_EQ(process_fork(&child, &p.process, 0).outcome, PHYS_GOT_FRAMES);
    EXPECT_EQ(fault_access(&child, at, true, 0, FAULT_FIRST).kind, FAULT_BUS);
    EXPECT_EQ(fault_access(&child, at, false, 0, FAULT_FIRST).kind, FAULT_NONE);
    process_exit(&child, 0);
    EXPECT_EQ(p.touch(at).kind, FAULT_REUSE);
    EXPECT_EQ(p.broken(), nullptr);
}

}  // namespace
