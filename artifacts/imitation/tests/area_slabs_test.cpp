// Kernel objects of areas: how many each call takes and gives back. Derived by hand from kernel/fork.c and mm/rmap.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

extern "C" {
#include "vm/fork.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 1000;

struct Costly : testing::Test {
    Costly() : p(settings_of(THP_NEVER)) {
        area_slabs_create(&slabs, &p.memory.p, 0);
        p.system.slabs = &slabs;
        p.process.areas.slabs = &slabs;
    }
    ~Costly() override {
        p.end();
        for (int i = 0; i < SLAB_MAPLE_NODE; ++i) EXPECT_EQ(used(i), 0u) << slabs.cache[i].name;
        area_slabs_destroy(&slabs);
        p.system.slabs = nullptr;
    }
    uint64_t used(int kind) const { return slabs.cache[kind].counts.allocs - slabs.cache[kind].counts.frees; }
    /// "areas locks anon_vmas links".
    std::string all() const {
        std::string text;
        for (int i = 0; i < SLAB_MAPLE_NODE; ++i) text += (i ? " " : "") + std::to_string(used(i));
        return text;
    }
    Process p;
    area_slabs slabs{};
};

TEST_F(Costly, AnAreaThenItsAnonVma) {
    p.map(at, 10);
    EXPECT_EQ(all(), "1 1 0 0");
    p.touch(at, false);
    EXPECT_EQ(all(), "1 1 0 0");      // a zero page needs none
    p.touch(at);
    p.touch(at + 1);
    EXPECT_EQ(all(), "1 1 1 1");
    p.map(at + 10, 10);               // merges
    EXPECT_EQ(all(), "1 1 1 1");
    EXPECT_EQ(p.broken(), nullptr);
    process_unmap(&p.process, at, 20, 0);
    EXPECT_EQ(all(), "0 0 0 0");
}

TEST_F(Costly, ASplitCopiesTheLinks) {
    p.map(at, 30);
    p.touch(at);
    process_unmap(&p.process, at + 10, 10, 0);
    EXPECT_EQ(all(), "2 2 1 2");      // both name the same anon_vma
    process_unmap(&p.process, at, 10, 0);
    EXPECT_EQ(all(), "1 1 1 1");
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Costly, ProtectSplitsAndMerges) {
    p.map(at, 30);
    p.touch(at);
    process_protect(&p.process, at + 10, 10, AREA_READ);
    EXPECT_EQ(all(), "3 3 1 3");
    process_protect(&p.process, at + 10, 10, rw);
    EXPECT_EQ(all(), "1 1 1 1");
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Costly, ANeighboursAnonVmaIsShared) {
    p.map(at, 10);
    p.map(at + 10, 10, AREA_READ);
    p.touch(at);
    process_protect(&p.process, at + 10, 10, AREA_READ | AREA_WRITE | AREA_EXEC);
    p.touch(at + 10);
    EXPECT_EQ(all(), "2 2 1 2");
    EXPECT_EQ(p.broken(), nullptr);
}

TEST_F(Costly, ForkLinksToTheParentsAndAddsOne) {
    p.map(at, 10);
    p.map(at + 100, 10);
    p.touch(at);
    process child, grandchild;
    ASSERT_EQ(process_fork(&child, &p.process, 0).outcome, PHYS_GOT_FRAMES);
    EXPECT_EQ(all(), "4 4 2 3");      // the child: two areas; one anon_vma, and two links
    ASSERT_EQ(process_fork(&grandchild, &child, 0).outcome, PHYS_GOT_FRAMES);
    EXPECT_EQ(all(), "6 6 3 6");
    process *processes[] = {&p.process, &child, &grandchild};
    EXPECT_STREQ(vm_check(&p.system, processes, 3), nullptr);
    process_exit(&child, 0);
    EXPECT_EQ(all(), "4 4 3 4");      // the grandchild still names the child's anon_vma
    process_exit(&grandchild, 0);
    EXPECT_EQ(all(), "2 2 1 1");
}

TEST_F(Costly, TheRootStaysUntilItsFamilyIsGone) {
    p.map(at, 10);
    p.touch(at);
    process child;
    ASSERT_EQ(process_fork(&child, &p.process, 0).outcome, PHYS_GOT_FRAMES);
    process_unmap(&p.process, at, 10, 0);
    EXPECT_EQ(all(), "1 1 2 2");
    process_exit(&child, 0);
    EXPECT_EQ(all(), "0 0 0 0");
}

TEST_F(Costly, TheTwentySixthAreaTakesAnotherFrame) {
    p.memory.record();
    for (uint64_t i = 0; i < 26; ++i) p.map(at + 2 * i, 1);
    const auto allocs = p.memory.of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 3u);     // 25 areas, 102 locks in a frame
    for (const auto &alloc : allocs) EXPECT_EQ(alloc.type, PHYS_UNMOVABLE);
}

}  // namespace
