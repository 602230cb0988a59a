// Policies: the seam, with eager paging and reservations as examples (tests/policies).
#include <gtest/gtest.h>

#include "vm_support.h"

extern "C" {
#include "base/random.h"
#include "vm/policy.h"
#include "vm/slow_path.h"
extern const vm_policy eager, reservation;
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 6000;

TEST(Policy, IsFoundByName) {
    EXPECT_STREQ(policy_name(0), "linux-6.12");
    EXPECT_EQ(policy_name(1), nullptr);
    Process p;
    EXPECT_EQ(policy_named("linux-6.12"), p.system.policy);
    EXPECT_EQ(policy_named("linux"), nullptr);
}

struct Eager : testing::Test {
    Eager() { policy_use(&p.system, &eager); }
    Process p;
};

TEST_F(Eager, AnAreaOf1000PagesHasSixBlocks) {
    // 1000 = 512 + 256 + 128 + 64 + 32 + 8.
    p.memory.record();
    ASSERT_EQ(p.map(at, 1000), nullptr);
    std::vector<unsigned> orders;
    for (const phys_event &event : p.memory.of_kind(PHYS_ALLOC))
        if (event.type == PHYS_MOVABLE) orders.push_back(event.order);
    EXPECT_EQ(orders, (std::vector<unsigned>{9, 8, 7, 6, 5, 3}));
    uint64_t first = 0;
    for (const unsigned order : orders) {
        for (uint64_t i = 1; i < uint64_t{1} << order; ++i)
            EXPECT_EQ(pt_value(p.entry(at + first + i)), pt_value(p.entry(at + first)) + i) << first << " " << i;
        first += uint64_t{1} << order;
    }
    for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(p.touch(at + i, i % 2).kind, FAULT_NONE);
    EXPECT_EQ(p.process.anonymous_pages, 1000u);
    EXPECT_STREQ(p.broken(), nullptr);
    ASSERT_EQ(process_unmap(&p.process, at + 100, 300, 0), nullptr);
    EXPECT_EQ(p.process.anonymous_pages, 700u);
    EXPECT_STREQ(p.broken(), nullptr);
    p.end();
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST_F(Eager, BrkAndMremapAreSeenAndFilesAreNot) {
    ASSERT_EQ(process_heap(&p.process, at), nullptr);
    ASSERT_EQ(process_brk(&p.process, at + 10, 0), nullptr);
    EXPECT_EQ(p.process.anonymous_pages, 10u);
    ASSERT_EQ(process_brk(&p.process, at + 15, 0), nullptr);
    EXPECT_EQ(p.process.anonymous_pages, 15u);
    ASSERT_EQ(p.map(at + 512, 4), nullptr);
    ASSERT_EQ(process_remap(&p.process, at + 512, 4, 7, at + 1024, 0), nullptr);
    EXPECT_EQ(p.process.anonymous_pages, 22u);
    ASSERT_EQ(process_remap(&p.process, at + 1024, 7, 9, at + 1024, 0), nullptr);
    EXPECT_EQ(p.process.anonymous_pages, 24u);
    ASSERT_EQ(file_open(&p.system.files, 1, 1 << 20, false), nullptr);
    ASSERT_EQ(p.map(at + 2048, 4, rw, 1), nullptr);
    EXPECT_EQ(p.process.anonymous_pages, 24u);
    EXPECT_STREQ(p.broken(), nullptr);
}

struct Reservation : testing::Test {
    explicit Reservation(uint64_t bytes = 256 * mib) : p(settings_of(THP_NEVER), bytes) {
        policy_use(&p.system, &reservation);
        if (p.map(at, 1024) != nullptr) std::abort();
    }
    int64_t free_frames() {
        percpu_drain_all(&p.memory.p, 0);
        return free_everywhere(p.memory.p);
    }
    Process p;
};

TEST_F(Reservation, APageGetsItsFrameOfTheBlock) {
    const uint32_t frame = p.touch(at + 700).frame;
    EXPECT_EQ(frame % 512, 700u % 512);
    p.touch(at + 699, false);
    EXPECT_EQ(p.touch(at + 699).frame, frame - 1);  // a copy of the zero page
    EXPECT_EQ(p.touch(at + 1023).frame, frame + 323);
    EXPECT_NE(p.touch(at + 5).frame >> 9, frame >> 9);  // the 2MB below have a block of their own
    EXPECT_EQ(p.process.anonymous_pages, 4u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST_F(Reservation, AnAreaThatDoesNotHoldTheRegionGetsNone) {
    const int64_t before = free_frames();
    ASSERT_EQ(p.map(at + 512 * 8 + 1, 600), nullptr);
    p.touch(at + 512 * 8 + 1);
    EXPECT_GE(free_frames(), before - 6);  // the page, and tables
}

/// Three pages are placed: 509 frames are the policy's, and come back with whatever ends the reservation; a page that was unmapped, too.
TEST_F(Reservation, EndsWithEachWayToUnmap) {
    const std::vector<std::pair<const char *, std::function<const char *()>>> ways = {
        {"munmap", [&] { return process_unmap(&p.process, at + 300, 1, 0); }},
        {"munmap of placed pages", [&] { return process_unmap(&p.process, at + 7, 2, 0); }},
        {"dontneed", [&] { return process_advise(&p.process, at + 100, 200, ADVICE_DONTNEED, 0); }},
        {"mmap over it", [&] { return p.map(at + 500, 200); }},
        {"mremap away", [&] { return process_remap(&p.process, at, 512, 512, at + 512 * 20, 0); }},
        {"mremap, smaller", [&] { return process_remap(&p.process, at, 512, 511, at, 0); }}};
    for (const auto &[name, way] : ways) {
        ASSERT_EQ(process_unmap(&p.process, at, 512, 0), nullptr);
        ASSERT_EQ(p.map(at, 512), nullptr);
        for (const uint64_t page : {7, 8, 400}) p.touch(at + page);
        const uint64_t pages = p.process.anonymous_pages;
        const int64_t before = free_frames();
        ASSERT_EQ(way(), nullptr) << name;
        const int64_t gone = int64_t(pages) - int64_t(p.process.anonymous_pages);
        EXPECT_GE(free_frames() - before, 509 + gone - 3) << name;  // mremap made tables
        EXPECT_LE(free_frames() - before, 509 + gone + 3) << name;
        EXPECT_STREQ(p.broken(), nullptr) << name;
    }
}

TEST_F(Reservation, OtherRangesAndAreasOfFilesEndNone) {
    ASSERT_EQ(file_open(&p.system.files, 1, 1 << 20, false), nullptr);
    ASSERT_EQ(p.map(at + 2048, 4, rw, 1), nullptr);
    p.touch(at + 7);
    const int64_t before = free_frames();
    ASSERT_EQ(process_unmap(&p.process, at + 512, 512, 0), nullptr);
    ASSERT_EQ(process_unmap(&p.process, at + 2048, 4, 0), nullptr);
    EXPECT_LE(free_frames(), before + 3);
    EXPECT_EQ(p.touch(at + 8).frame % 512, 8u);
}

TEST_F(Reservation, RandomCallsLoseNoFrame) {
    uint64_t state = 5;
    const auto below = [&](uint64_t bound) { return random_below(&state, bound); };
    const int64_t before = free_frames();
    for (int i = 0; i < 3000; ++i) {
        const uint64_t page = at + below(4096), count = 1 + below(600);
        switch (below(12)) {
            case 0: p.map(page, count); break;
            case 1: process_unmap(&p.process, page, count, 0); break;
            case 2: process_advise(&p.process, page, count, ADVICE_DONTNEED, 0); break;
            case 3: process_remap(&p.process, page, 1 + count / 4, 1 + count / 2, at + below(4096), 0); break;
            default: p.touch(page, below(4) != 0);
        }
        if (i % 100 == 0) {
            ASSERT_STREQ(p.broken(), nullptr) << i;
        }
    }
    ASSERT_EQ(process_unmap(&p.process, at, 512 * 30, 0), nullptr);
    EXPECT_GE(free_frames(), before - 10);
    EXPECT_LE(free_frames(), before + 10);
    p.end();
    EXPECT_STREQ(p.broken(), nullptr);
}

struct SmallReservation : Reservation {
    SmallReservation() : Reservation(32 * mib) {}
};

/// One page of each 2MB, until no block is left; then many pages of one more: they get the frames that the others have not used.
TEST_F(SmallReservation, MemoryThatIsShortGetsTheUnusedFrames) {
    slow_path_start(&p.system);
    ASSERT_EQ(p.map(at, 512 * 40), nullptr);
    for (uint64_t i = 0; i < 20; ++i) ASSERT_NE(p.touch(at + 512 * i).kind, FAULT_NEEDS) << i;
    uint64_t pages = 0;
    for (uint64_t i = 0; i < 512 * 19 && p.touch(at + 512 * 20 + i).kind != FAULT_NEEDS; ++i) ++pages;
    EXPECT_GT(pages, 512u * 9);  // of 16 blocks, most frames
    EXPECT_STREQ(p.broken(), nullptr);
    p.end();
    EXPECT_STREQ(p.broken(), nullptr);
}

/// What the seam tells a policy.
struct Asked {
    std::vector<std::pair<uint64_t, uint64_t>> unmapped;  // page, end
    std::vector<std::pair<uint64_t, unsigned>> placed;  // page, order
    unsigned pressures = 0;
};
Asked asked;

TEST(Policy, PlacementKnowsThePageAndPressureComesFirst) {
    static vm_policy spy = *policy_named("linux-6.12");
    spy.placement = [](vm_system *system, const phys_request *request) {
        EXPECT_NE(request->process, 0u);
        asked.placed.emplace_back(request->page, request->order);
        return phys_obtain(system->phys, request);
    };
    spy.on_unmap = [](process *, uint64_t page, uint64_t end, uint32_t) { asked.unmapped.emplace_back(page, end); };
    spy.on_pressure = [](vm_system *, const phys_request *) { return ++asked.pressures == 0; };
    asked = {};
    Process p(settings_of(THP_ALWAYS), 32 * mib);
    slow_path_start(&p.system);
    policy_use(&p.system, &spy);
    p.map(at, 512 * 40);
    p.touch(at + 700);
    p.touch(at + 5, false);
    p.touch(at + 5);
    EXPECT_EQ(asked.placed, (std::vector<std::pair<uint64_t, unsigned>>{{at + 512, 9}, {at + 5, 0}}));
    EXPECT_EQ(asked.pressures, 0u);
    process_unmap(&p.process, at + 700, 1, 0);
    process_unmap(&p.process, at - 100, 101, 0);
    EXPECT_EQ(asked.unmapped, (std::vector<std::pair<uint64_t, uint64_t>>{{at + 700, at + 701}, {at, at + 1}}));  // areas that were there
    for (uint64_t i = 512 * 2; i < 512 * 40 && p.touch(at + i).kind != FAULT_NEEDS;) ++i;
    EXPECT_GT(asked.pressures, 0u);
}

}  // namespace
