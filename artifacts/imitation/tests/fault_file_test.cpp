// Faults of areas that map files: what the cache reads, what fault-around maps, and in which order frames are taken. Derived by hand from
// mm/memory.c and mm/filemap.c of 6.12.
#include <gtest/gtest.h>

#include "vm_support.h"

extern "C" {
#include "file/read.h"
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 1000;  // a border of 2MB
constexpr uint32_t shared = AREA_SHARED;

struct Mapped : Process {
    explicit Mapped(uint64_t file_pages = 1000, uint32_t flags = rw, uint64_t start = at, uint64_t pages = 1000, uint64_t offset = 0)
        : Process(settings_of(THP_NEVER)) {
        if (file_open(&system.files, 3, file_pages * 4096, false) || map(start, pages, flags, 3, offset)) std::abort();
        of = file_named(&system.files, 3);
    }
    uint32_t cached(uint64_t index) const { return file_frame(of, index); }
    /// Slots of the fault's table that are mapped, as text: "96-107 109-111".
    std::string mapped(uint64_t first = at, uint64_t end = at + 512) const {
        std::string text;
        for (uint64_t page = first; page < end; ++page) {
            if (!pt_present(entry(page))) continue;
            uint64_t last = page;
            while (last + 1 < end && pt_present(entry(last + 1))) ++last;
            text += (text.empty() ? "" : " ") + std::to_string(page - at) + "-" + std::to_string(last - at);
            page = last;
        }
        return text;
    }
    file *of;
};

TEST(FileFault, AMissReadsAroundAndMapsAround) {
    Mapped p;
    const fault first = p.touch(at + 100, false);
    EXPECT_EQ(first.kind, FAULT_FILE);
    EXPECT_TRUE(first.major);
    EXPECT_EQ(first.tables.count, 3u);
    EXPECT_EQ(first.frame, p.cached(100));
    // Window [84, 116), mark at 108; fault-around has [96, 112) and leaves the mark out.
    EXPECT_EQ(p.of->cached, 32u);
    EXPECT_NE(p.cached(84), PHYS_NO_FRAME);
    EXPECT_NE(p.cached(115), PHYS_NO_FRAME);
    EXPECT_EQ(p.mapped(), "96-107 109-111");
    EXPECT_EQ(first.around, 15u);
    EXPECT_EQ(p.process.file_pages, 15u);
    EXPECT_EQ(p.system.counts.pgmajfault, 1u);
    EXPECT_EQ(p.of->ra.mmap_miss, 0u);         // one miss, 15 hits
    EXPECT_EQ(p.entry(at + 99), pt_make(p.cached(99), PT_PRESENT | PT_YOUNG | PT_FILE));
    EXPECT_EQ(p.touch(at + 99, false).kind, FAULT_NONE);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, TheMarkAsksForTheNextWindow) {
    Mapped p;
    p.touch(at + 100, false);
    const fault mark = p.touch(at + 108, false);
    EXPECT_EQ(mark.kind, FAULT_FILE);
    EXPECT_FALSE(mark.major);
    EXPECT_EQ(mark.around, 1u);
    EXPECT_EQ(p.mapped(), "96-111");
    EXPECT_EQ(p.of->cached, 64u);              // [84, 148), the next mark at 116
    EXPECT_TRUE(lru_has(&p.system.lru, p.cached(116), LRU_RECLAIM));
    EXPECT_EQ(p.touch(at + 112, false).around, 15u);
    EXPECT_EQ(p.mapped(), "96-115 117-127");
    EXPECT_EQ(p.system.counts.pgmajfault, 1u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, TheTableIsTakenTwice) {
    Mapped p;
    p.memory.record();
    const fault first = p.touch(at + 100, false);
    std::vector<std::pair<int, int>> steps;    // kind, type
    std::vector<uint32_t> frames;
    for (const phys_event &event : p.memory.events)
        if (event.kind == PHYS_ALLOC || event.kind == PHYS_FREE) {
            steps.push_back({event.kind, event.type});
            frames.push_back(event.frame);
        }
    ASSERT_EQ(steps.size(), 37u);              // two tables, the third, 32 pages, the third back and again
    EXPECT_EQ(steps[2], std::make_pair(int{PHYS_ALLOC}, int{PHYS_UNMOVABLE}));
    for (int i = 3; i < 35; ++i) EXPECT_EQ(steps[i], std::make_pair(int{PHYS_ALLOC}, int{PHYS_MOVABLE})) << i;
    EXPECT_EQ(frames[3], p.cached(84));
    EXPECT_EQ(frames[34], p.cached(115));
    EXPECT_EQ(steps[35].first, PHYS_FREE);
    EXPECT_EQ(frames[35], frames[2]);
    EXPECT_EQ(steps[36], std::make_pair(int{PHYS_ALLOC}, int{PHYS_UNMOVABLE}));
    EXPECT_EQ(first.tables.frame[2], frames[36]);
    EXPECT_EQ(frames[36], frames[2]);          // the per-CPU list gives the last one back first
}

TEST(FileFault, APrivateWriteTakesItsPageFirstAndTwice) {
    Mapped p;
    p.memory.record();
    const fault write = p.touch(at + 100);
    EXPECT_EQ(write.kind, FAULT_COPY);
    EXPECT_TRUE(write.major);
    std::vector<std::pair<int, uint32_t>> steps;
    for (const phys_event &event : p.memory.events)
        if (event.kind == PHYS_ALLOC || event.kind == PHYS_FREE) steps.push_back({event.kind, event.frame});
    ASSERT_EQ(steps.size(), 2u + 2 + 32 + 2 + 2);
    EXPECT_EQ(steps[36], std::make_pair(int{PHYS_FREE}, steps[2].second));    // the page, then the table
    EXPECT_EQ(steps[37], std::make_pair(int{PHYS_FREE}, steps[3].second));
    EXPECT_EQ(write.frame, steps[38].second);
    EXPECT_NE(write.frame, p.cached(100));
    EXPECT_EQ(p.mapped(), "100-100");          // no fault-around
    EXPECT_EQ(p.process.anonymous_pages, 1u);
    EXPECT_EQ(p.process.file_pages, 0u);
    EXPECT_NE(p.process.areas.item[0].anon, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, AWriteAfterAReadCopies) {
    Mapped p;
    p.touch(at + 100, false);
    const uint32_t page = p.cached(100);
    const fault write = p.touch(at + 100);
    EXPECT_EQ(write.kind, FAULT_COPY);
    EXPECT_FALSE(write.major);
    EXPECT_NE(write.frame, page);
    EXPECT_EQ(p.cached(100), page);
    EXPECT_FALSE(rmap_mapped(&p.system.lru.rmap, page));
    EXPECT_EQ(p.process.file_pages, 14u);
    EXPECT_EQ(p.process.anonymous_pages, 1u);
    EXPECT_EQ(p.touch(at + 100).kind, FAULT_NONE);
    EXPECT_STREQ(p.broken(), nullptr);
    // mprotect does not make pages of the file writable.
    process_protect(&p.process, at, 1000, AREA_READ);
    process_protect(&p.process, at, 1000, rw);
    EXPECT_TRUE(p.entry(at + 100) & PT_WRITE);
    EXPECT_FALSE(p.entry(at + 99) & PT_WRITE);
}

TEST(FileFault, ASharedWriteMakesThePageDirty) {
    Mapped p(1000, rw | shared);
    const fault write = p.touch(at + 100);
    EXPECT_EQ(write.kind, FAULT_FILE);
    EXPECT_EQ(write.frame, p.cached(100));
    EXPECT_TRUE(p.entry(at + 100) & PT_WRITE);
    EXPECT_TRUE(lru_has(&p.system.lru, p.cached(100), LRU_DIRTY));
    EXPECT_EQ(p.mapped(), "100-100");
    EXPECT_EQ(p.touch(at + 101, false).around, 14u);     // 16 less the page that is there and the mark
    EXPECT_EQ(p.touch(at + 101).kind, FAULT_REUSE);
    EXPECT_TRUE(lru_has(&p.system.lru, p.cached(101), LRU_DIRTY));
    EXPECT_EQ(p.process.anonymous_pages, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
    process_protect(&p.process, at, 1000, AREA_READ | shared);
    process_protect(&p.process, at, 1000, rw);
    EXPECT_TRUE(p.entry(at + 101) & PT_WRITE);           // dirty: the file system knows
    EXPECT_FALSE(p.entry(at + 102) & PT_WRITE);
}

TEST(FileFault, AroundStartsWithTheAreaAndHas16Pages) {
    // The area starts at slot 3 of its table and at index 5. 16 pages from there, not up to the border of 64KB.
    Mapped p(1000, rw, at + 3, 900, 5);
    file_read(&p.system.files, p.of, 0, 64 * 4096, 0);
    for (uint64_t i = 0; i < 200; ++i)
        if (p.cached(i) != PHYS_NO_FRAME) lru_clear(&p.system.lru, p.cached(i), LRU_RECLAIM);
    EXPECT_EQ(p.touch(at + 4, false).around, 16u);
    EXPECT_EQ(p.mapped(), "3-18");
    EXPECT_EQ(p.entry(at + 3), pt_make(p.cached(5), PT_PRESENT | PT_YOUNG | PT_FILE));
    EXPECT_EQ(p.touch(at + 40, false).around, 16u);
    EXPECT_EQ(p.mapped(), "3-18 32-47");
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, AroundEndsWithTheAreaTheTableAndTheFile) {
    Mapped area(1000, rw, at, 10);
    file_read(&area.system.files, area.of, 0, 16 * 4096, 0);
    EXPECT_EQ(area.touch(at + 8, false).around, 10u);
    Mapped table(1000, rw, at + 509, 100);
    file_read(&table.system.files, table.of, 0, 16 * 4096, 0);
    EXPECT_EQ(table.touch(at + 509, false).around, 3u);
    Mapped end(7);
    file_read(&end.system.files, end.of, 0, 7 * 4096, 0);
    for (uint64_t i = 0; i < 7; ++i) lru_clear(&end.system.lru, end.cached(i), LRU_RECLAIM);
    EXPECT_EQ(end.touch(at + 6, false).around, 7u);
    const fault beyond = end.touch(at + 7, false);
    EXPECT_EQ(beyond.kind, FAULT_BUS);
    EXPECT_EQ(end.touch(at + 7).kind, FAULT_BUS);
    EXPECT_EQ(end.broken(), nullptr);
}

TEST(FileFault, AnEmptyFileHasNoPages) {
    Mapped p(0);
    EXPECT_EQ(p.touch(at, false).kind, FAULT_BUS);
    EXPECT_EQ(p.touch(at + 1).kind, FAULT_BUS);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, WithoutReadaheadThePageIsReadAlone) {
    Mapped p;
    p.of->ra.ra_pages = 0;
    const fault first = p.touch(at + 100, false);
    EXPECT_TRUE(first.major);
    EXPECT_EQ(first.around, 1u);
    EXPECT_EQ(p.of->cached, 1u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, HugeAdviceReads4Mb) {
    Mapped p(5000, rw, at, 5000);
    ASSERT_EQ(process_advise(&p.process, at, 5000, ADVICE_HUGEPAGE, 0), nullptr);
    p.touch(at + 700, false);
    EXPECT_EQ(p.of->cached, 1024u);
    EXPECT_NE(p.cached(512), PHYS_NO_FRAME);
    EXPECT_TRUE(lru_has(&p.system.lru, p.cached(1024), LRU_RECLAIM));
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, LargeFoliosAreMappedByPage) {
    Process p(settings_of(THP_NEVER));
    ASSERT_EQ(file_open(&p.system.files, 3, 4096000, true), nullptr);
    p.map(at, 1000, rw, 3);
    file *of = file_named(&p.system.files, 3);
    // Window [84, 116) in folios of order 2: it is the largest that 0 + 2 allows. The mark at 108 rounds to the folio of 108.
    EXPECT_EQ(p.touch(at + 100, false).around, 12u);
    EXPECT_EQ(frame_order(&p.memory.p.frames, file_frame(of, 84)), 2u);
    EXPECT_STREQ(p.broken(), nullptr);
    ASSERT_EQ(process_unmap(&p.process, at, 1000, 0), nullptr);
    EXPECT_EQ(file_drop_caches(&p.system.files, 0), 32u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, UnmapLeavesPagesCachedAndMarksThem) {
    Mapped p(1000, rw | shared);
    p.touch(at + 100, false);
    p.touch(at + 101);
    vm_lru_drain(&p.system);
    EXPECT_EQ(file_drop_caches(&p.system.files, 0), 32u - 15);        // the mapped ones stay
    ASSERT_EQ(process_unmap(&p.process, at, 1000, 0), nullptr);
    EXPECT_EQ(p.of->cached, 15u);
    EXPECT_TRUE(lru_has(&p.system.lru, p.cached(102), LRU_REFERENCED));
    EXPECT_EQ(p.process.file_pages, 0u);
    EXPECT_EQ(file_drop_caches(&p.system.files, 0), 14u);             // the dirty one stays
    EXPECT_TRUE(lru_has(&p.system.lru, p.cached(101), LRU_DIRTY));
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileFault, FullMemoryIsReported) {
    Mapped p(200000, rw, at, 200000);
    uint64_t page = 0;
    fault last{};
    for (; page < 200000 && (last = p.touch(at + page)).kind != FAULT_NEEDS; ++page) continue;
    EXPECT_EQ(last.kind, FAULT_NEEDS);
    EXPECT_EQ(last.needs_order, 0u);
    EXPECT_STREQ(p.broken(), nullptr);
}

// The owner of the lists: reclaim finds the mappings, takes them away and frees the page; the shadow makes a quick return a refault.
TEST(FileOwner, UnmapsAndRemoves) {
    Mapped p;
    p.touch(at + 100, false);
    const uint32_t frame = p.cached(100);
    const lru_owner *owner = p.system.lru.owner[LRU_OWNER_FILE];
    bool executable = true;
    EXPECT_TRUE(owner->mapped(owner->context, frame));
    EXPECT_EQ(owner->referenced(owner->context, frame, &executable), 1u);
    EXPECT_FALSE(executable);
    EXPECT_EQ(owner->referenced(owner->context, frame, &executable), 0u);
    EXPECT_TRUE(owner->unmap(owner->context, frame, 0));
    EXPECT_FALSE(owner->mapped(owner->context, frame));
    EXPECT_EQ(p.process.file_pages, 14u);
    EXPECT_TRUE(owner->remove(owner->context, frame, 4, 0));
    vm_free(&p.system, frame, 0, 0);
    EXPECT_STREQ(p.broken(), nullptr);
    EXPECT_TRUE(p.touch(at + 100, false).major);
    EXPECT_EQ(p.system.lru.counts.workingset_refault[1], 1u);
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST(FileOwner, AnAreaCountsOnceAndOnlyIfItIsYoung) {
    Process p(settings_of(THP_NEVER));
    constexpr uint64_t other = at + 4096;
    ASSERT_EQ(file_open(&p.system.files, 3, 4096000, true), nullptr);
    p.map(at, 1000, rw, 3);
    p.map(other, 1000, AREA_READ | AREA_EXEC, 3);
    p.touch(at + 100, false);
    const uint32_t folio = file_frame(file_named(&p.system.files, 3), 100);
    ASSERT_EQ(frame_order(&p.memory.p.frames, folio), 2u);   // four entries map it, all young
    const lru_owner *owner = p.system.lru.owner[LRU_OWNER_FILE];
    bool executable = true;
    EXPECT_EQ(owner->referenced(owner->context, folio, &executable), 1u);
    EXPECT_FALSE(executable);
    p.touch(other + 100, false);
    EXPECT_EQ(owner->referenced(owner->context, folio, &executable), 1u);
    EXPECT_TRUE(executable);
    p.touch(at + 101, false);                                // the executable area still maps it, but has not used it
    EXPECT_EQ(owner->referenced(owner->context, folio, &executable), 1u);
    EXPECT_FALSE(executable);
}

TEST(FileOwner, MovesAPage) {
    Mapped p;
    p.touch(at + 100, false);
    const uint32_t from = p.cached(100), to = p.memory.alloc();
    const lru_owner *owner = p.system.lru.owner[LRU_OWNER_FILE];
    vm_lru_drain(&p.system);
    ASSERT_TRUE(lru_isolate(&p.system.lru, from));
    lru_own(&p.system.lru, to, LRU_OWNER_FILE, LRU_ISOLATED);
    ASSERT_TRUE(owner->migrate(owner->context, from, to, 0));
    lru_forget(&p.system.lru, from);
    lru_putback(&p.system.lru, to, 0);
    vm_free(&p.system, from, 0, 0);
    EXPECT_EQ(p.cached(100), to);
    EXPECT_EQ(pt_value(p.entry(at + 100)), to);
    EXPECT_EQ(p.touch(at + 100, false).kind, FAULT_NONE);
    EXPECT_STREQ(p.broken(), nullptr);
}

}  // namespace
