// fork and copy on write: what is copied, who copies, who reuses. Derived by hand from mm/memory.c, mm/huge_memory.c and mm/rmap.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

extern "C" {
#include "file/read.h"
#include "vm/fork.h"
#include "vm/khugepaged.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 1000;

struct Family : Process {
    explicit Family(thp settings = settings_of(THP_NEVER)) : Process(settings) {}
    ~Family() {
        for (::process *one : children)
            if (one) leave(one);
    }
    ::process *fork(::process *parent = nullptr) {
        auto *child = new ::process;
        last = process_fork(child, parent ? parent : &process, 0);
        if (last.outcome != PHYS_GOT_FRAMES || last.has_swap) {
            delete child;
            return nullptr;
        }
        children.push_back(child);
        return child;
    }
    void leave(::process *child) {
        process_exit(child, 0);
        for (::process *&one : children)
            if (one == child) one = nullptr;
        delete child;
    }
    fault access(::process *who, uint64_t page, bool write = true) { return fault_access(who, page, write, 0, FAULT_FIRST); }
    static pt_entry entry_in(const ::process *who, uint64_t page) {
        unsigned level;
        const pt_entry *slot = pt_find(&who->pt, page, &level);
        return slot ? *slot : 0;
    }
    const char *all_broken() {
        std::vector<::process *> all = {&process};
        for (::process *one : children)
            if (one) all.push_back(one);
        if (const char *rule = phys_check(&memory.p)) return rule;
        return vm_check(&system, all.data(), all.size());
    }
    std::vector<::process *> children;
    fork_result last{};
};

TEST(Fork, BothLoseTheRightToWrite) {
    Family f;
    f.map(at, 10);
    f.touch(at);
    f.touch(at + 1, false);  // a zero page
    const uint32_t frame = pt_value(f.entry(at));
    ::process *child = f.fork();
    ASSERT_NE(child, nullptr);
    EXPECT_EQ(f.last.pages, 2u);
    EXPECT_EQ(f.last.tables, 4u);
    EXPECT_EQ(f.entry(at), pt_make(frame, PT_PRESENT | PT_YOUNG | PT_DIRTY | PT_SHARED));
    EXPECT_EQ(f.entry_in(child, at), pt_make(frame, PT_PRESENT | PT_DIRTY | PT_SHARED));
    EXPECT_EQ(f.entry_in(child, at + 1), pt_make(0, PT_PRESENT | PT_ZERO));
    EXPECT_EQ(child->anonymous_pages, 1u);
    EXPECT_EQ(f.access(child, at, false).kind, FAULT_NONE);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, TheFirstWriterCopiesTheLastOneReuses) {
    Family f;
    f.map(at, 10);
    f.touch(at);
    const uint32_t frame = pt_value(f.entry(at));
    ::process *child = f.fork();
    const uint64_t drains = f.system.lru.counts.drains;
    // Two mappings and the batch are 3 references: the batch is drained, and two remain.
    const fault copy = f.access(child, at);
    EXPECT_EQ(copy.kind, FAULT_COPY);
    EXPECT_NE(copy.frame, frame);
    EXPECT_EQ(f.system.lru.counts.drains, drains + 1);
    EXPECT_EQ(f.entry_in(child, at), pt_make(copy.frame, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY));
    EXPECT_EQ(f.all_broken(), nullptr);
    const fault reuse = f.touch(at);
    EXPECT_EQ(reuse.kind, FAULT_REUSE);
    EXPECT_EQ(reuse.frame, frame);
    EXPECT_FALSE(f.entry(at) & PT_SHARED);
    EXPECT_EQ(child->anonymous_pages, 1u);
    EXPECT_EQ(f.process.anonymous_pages, 1u);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, ThreeMappingsAndABatchAreTooManyToTry) {
    Family f;
    f.map(at, 10);
    f.touch(at);
    ::process *one = f.fork(), *two = f.fork();
    const uint64_t drains = f.system.lru.counts.drains;
    EXPECT_EQ(f.access(one, at).kind, FAULT_COPY);  // 4 references: no drain
    EXPECT_EQ(f.system.lru.counts.drains, drains);
    EXPECT_EQ(f.access(two, at).kind, FAULT_COPY);  // 3: drained, 2 remain
    EXPECT_EQ(f.system.lru.counts.drains, drains + 1);
    EXPECT_EQ(f.touch(at).kind, FAULT_REUSE);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, APageOfItsOwnAfterTheOtherEndedIsReusedOnce) {
    Family f;
    f.map(at, 10);
    f.touch(at);
    f.leave(f.fork());
    EXPECT_FALSE(f.entry(at) & PT_WRITE);
    EXPECT_EQ(f.touch(at).kind, FAULT_REUSE);
    EXPECT_EQ(f.touch(at).kind, FAULT_NONE);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, ProtectGivesNoRightsToSharedPages) {
    Family f;
    f.map(at, 2);
    f.touch(at);
    f.fork();
    f.touch(at + 1);
    process_protect(&f.process, at, 2, AREA_READ);
    process_protect(&f.process, at, 2, rw);
    EXPECT_FALSE(f.entry(at) & PT_WRITE);
    EXPECT_TRUE(f.entry(at + 1) & PT_WRITE);
}

TEST(Fork, OnlyAreasWithAnonymousPagesAreCopied) {
    Family f;
    ASSERT_EQ(file_open(&f.system.files, 3, 4096000, false), nullptr);
    f.map(at, 100, rw, 3);
    f.map(at + 512, 10);
    f.touch(at, false);
    f.touch(at + 512, false);  // a zero page alone gives no anon
    ::process *child = f.fork();
    EXPECT_EQ(f.last.pages, 0u);
    EXPECT_EQ(f.last.tables, 1u);
    EXPECT_EQ(child->areas.count, 2u);
    const fault again = f.access(child, at, false);
    EXPECT_EQ(again.kind, FAULT_FILE);
    EXPECT_FALSE(again.major);
    f.leave(child);
    f.touch(at + 1);  // a copy: the area has an anon now
    child = f.fork();
    EXPECT_EQ(f.last.pages, 16u);  // all 16 of the first fault-around: one of them is a copy now
    EXPECT_EQ(child->file_pages, 15u);
    EXPECT_EQ(child->anonymous_pages, 1u);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, SharedAreasStayWritable) {
    Family f;
    ASSERT_EQ(file_open(&f.system.files, 3, 4096000, false), nullptr);
    f.map(at, 100, rw | AREA_SHARED, 3);
    f.touch(at);
    ::process *child = f.fork();
    EXPECT_EQ(f.last.pages, 0u);
    EXPECT_TRUE(f.entry(at) & PT_WRITE);
    const fault write = f.access(child, at);
    EXPECT_EQ(write.kind, FAULT_FILE);
    EXPECT_EQ(write.frame, pt_value(f.entry(at)));
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, TablesAsFarAsTheParentHasThem) {
    Family f;
    f.map(at, 2048);
    f.touch(at);
    f.touch(at + 1024);
    process_advise(&f.process, at + 1024, 512, ADVICE_DONTNEED, 0);  // the table stays, empty
    ::process *child = f.fork();
    EXPECT_EQ(child->pt.tables[0], 2u);
    EXPECT_EQ(child->pt.tables[1], 1u);
    EXPECT_EQ(f.last.pages, 1u);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(Fork, AChildsAreaDoesNotMergeWithAnUntouchedOne) {
    Family f;
    f.map(at, 10);
    f.touch(at);
    ::process *child = f.fork();
    EXPECT_EQ(child->areas.item[0].chain, 2u);
    f.map(at + 10, 10);
    EXPECT_EQ(f.process.areas.count, 1u);
    ASSERT_EQ(process_map(child, at + 10, 10, rw, 0, 0, 0), nullptr);
    EXPECT_EQ(child->areas.count, 2u);
}

TEST(Fork, HeapAndKhugepagedFollow) {
    Family f(settings_of(THP_ALWAYS));
    process_heap(&f.process, 4096);
    process_brk(&f.process, 4096 + 1024, 0);
    f.touch(4096);
    ASSERT_TRUE(f.process.registered);
    ::process *child = f.fork();
    EXPECT_TRUE(child->registered);
    EXPECT_EQ(child->heap_end, 4096u + 1024);
    EXPECT_EQ(f.system.scanned_count, 2u);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(ForkHuge, TheMappingIsSharedThenSplit) {
    Family f(settings_of(THP_ALWAYS));
    f.map(at, 512);
    f.touch(at);
    const uint32_t frame = pt_value(f.entry(at)), block = frame / 512;
    ::process *child = f.fork();
    EXPECT_EQ(f.last.pages, 1u);
    EXPECT_EQ(child->pt.deposited, 1u);
    EXPECT_EQ(f.system.mappings[block], 2u);
    EXPECT_EQ(f.entry(at), pt_make(frame, PT_PRESENT | PT_YOUNG | PT_DIRTY | PT_SHARED));
    EXPECT_EQ(f.entry_in(child, at), pt_make(frame, PT_PRESENT | PT_DIRTY | PT_SHARED));
    EXPECT_EQ(f.all_broken(), nullptr);
    const fault write = f.access(child, at + 7);
    EXPECT_EQ(write.kind, FAULT_COPY);
    EXPECT_EQ(write.order, 0u);
    EXPECT_TRUE(write.split);
    EXPECT_EQ(f.system.mappings[block], 512u);  // 1 + 512, less the copied one
    EXPECT_EQ(f.entry_in(child, at + 8), pt_make(frame + 8, PT_PRESENT | PT_DIRTY | PT_SHARED));
    EXPECT_EQ(f.all_broken(), nullptr);
    EXPECT_TRUE(f.touch(at).split);
    EXPECT_EQ(f.system.mappings[block], 1022u);
    EXPECT_EQ(f.all_broken(), nullptr);
    f.leave(child);
    EXPECT_EQ(f.system.mappings[block], 511u);
    EXPECT_EQ(f.touch(at + 9).kind, FAULT_COPY);  // a part of a block is never reused
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(ForkHuge, TheLastMappingIsReused) {
    Family f(settings_of(THP_ALWAYS));
    f.map(at, 512);
    f.touch(at);
    f.leave(f.fork());
    const fault write = f.touch(at + 3);
    EXPECT_EQ(write.kind, FAULT_REUSE);
    EXPECT_EQ(write.order, 9u);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(ForkHuge, ZerosHaveOneMoreUser) {
    Family f(settings_of(THP_ALWAYS));
    f.map(at, 512);
    f.touch(at, false);
    ::process *child = f.fork();
    EXPECT_EQ(f.system.huge_zero_users, 2u);
    EXPECT_EQ(f.access(child, at).kind, FAULT_COPY);
    EXPECT_EQ(f.all_broken(), nullptr);
}

TEST(ForkHuge, KhugepagedCountsSharedPages) {
    thp settings = settings_of(THP_ALWAYS);
    Family f(settings);
    f.system.thp.enabled = THP_NEVER;
    f.map(at, 512);
    for (uint64_t i = 0; i < 512; ++i) f.touch(at + i);
    ::process *child = f.fork();
    f.system.thp.enabled = THP_ALWAYS;
    phys_outcome outcome;
    for (uint64_t i = 0; i < 255; ++i) f.touch(at + i);  // copies: 257 stay shared
    EXPECT_EQ(collapse_range(&f.process, at, 0, &outcome), COLLAPSE_MANY_SHARED);
    f.touch(at + 255);  // 256
    EXPECT_EQ(collapse_range(&f.process, at, 0, &outcome), COLLAPSE_DONE);
    EXPECT_EQ(f.all_broken(), nullptr);
    EXPECT_EQ(collapse_range(child, at, 0, &outcome), COLLAPSE_READ_ONLY);
    EXPECT_EQ(child->anonymous_pages, 512u);
}

TEST(Fork, WithoutMemoryThereIsNoChild) {
    Family f;
    f.map(at, 100);
    for (int i = 0; i < 100; ++i) f.touch(at + i);
    std::vector<uint32_t> taken;
    for (uint32_t frame; (frame = f.memory.alloc(0, PHYS_UNMOVABLE)) != PHYS_NO_FRAME;) taken.push_back(frame);
    for (int i = 0; i < 2; ++i) {  // two frames: the root and one table
        ASSERT_TRUE(f.memory.release(taken.back()));
        taken.pop_back();
    }
    EXPECT_EQ(f.fork(), nullptr);
    EXPECT_NE(f.last.outcome, PHYS_GOT_FRAMES);
    EXPECT_EQ(f.all_broken(), nullptr);
    f.end();
    EXPECT_EQ(f.broken(), nullptr);
}

}  // namespace
