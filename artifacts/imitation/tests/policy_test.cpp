// Policies: the seam, with eager paging as an example (tests/policies/eager.c).
#include <gtest/gtest.h>

#include "vm_support.h"

extern "C" {
#include "vm/policy.h"
#include "vm/slow_path.h"
extern const vm_policy eager;
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

/// What the seam tells a policy.
struct Asked {
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
    for (uint64_t i = 512 * 2; i < 512 * 40 && p.touch(at + i).kind != FAULT_NEEDS;) ++i;
    EXPECT_GT(asked.pressures, 0u);
}

}  // namespace
