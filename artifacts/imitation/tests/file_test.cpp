// The page cache: reads, writes, refaults, limits. Expected values are derived by hand from mm/filemap.c and mm/workingset.c of 6.12.
#include <set>

#include "file_support.h"

using namespace tests;

namespace {

TEST(FileRead, MarksEachFolioAccessedOnce) {
    Cache c;
    file *f = c.open(100);
    file_read(&c.cache, f, 0, 100, 0);
    const uint32_t frame = file_frame(f, 0);
    EXPECT_TRUE(lru_has(&c.lru, frame, LRU_REFERENCED));
    EXPECT_FALSE(lru_has(&c.lru, frame, LRU_ACTIVE));
    file_read(&c.cache, f, 100, 100, 0);             // the last read ended here
    EXPECT_FALSE(lru_has(&c.lru, frame, LRU_ACTIVE));
    file_read(&c.cache, f, 50 * kb4, 1, 0);
    file_read(&c.cache, f, 0, 1, 0);                 // now it counts
    lru_drain_all(&c.lru);
    EXPECT_TRUE(lru_has(&c.lru, frame, LRU_ACTIVE));
}

TEST(FileRead, LastPageOfAnOddSize) {
    Cache c;
    ASSERT_EQ(file_open(&c.cache, 9, 2 * kb4 + 10, false), nullptr);
    EXPECT_EQ(file_read(&c.cache, file_named(&c.cache, 9), kb4, 100000, 0).bytes, kb4 + 10);
    EXPECT_EQ(file_read(&c.cache, file_named(&c.cache, 9), 2 * kb4 + 10, 5, 0).bytes, 0u);
}

TEST(FileWrite, ReadsOnlyWhatItKeeps) {
    Cache c;
    file *f = c.open(4);
    EXPECT_EQ(file_write(&c.cache, f, 0, kb4, 0).bytes, kb4);
    EXPECT_TRUE(c.disk.empty());
    EXPECT_EQ(file_write(&c.cache, f, kb4 + 1, 10, 0).bytes, 10u);
    EXPECT_EQ(c.disk, (std::vector<uint64_t>{1}));
    EXPECT_EQ(file_write(&c.cache, f, 4 * kb4, 10, 0).bytes, 10u);      // behind the end: nothing to read
    EXPECT_EQ(c.disk.size(), 1u);
    EXPECT_EQ(f->bytes, 4 * kb4 + 10);
    EXPECT_TRUE(lru_has(&c.lru, file_frame(f, 4), LRU_DIRTY));
    EXPECT_EQ(file_drop_caches(&c.cache, 0), 0u);                       // all are dirty
}

TEST(FileCache, OnlyReadaheadGoesWithoutRetries) {
    // Memory is used up, so each request asks for help, which hands a frame on.
    struct Seen {
        std::vector<uint32_t> frames;
        std::vector<bool> no_retry;
    };
    Cache c(16 * mib);
    file *f = c.open(100);
    Seen seen;
    for (uint32_t frame; (frame = c.memory.alloc()) != PHYS_NO_FRAME;) seen.frames.push_back(frame);
    c.memory.p.help.context = &seen;
    c.memory.p.help.go_on = [](void *context, const phys_request *request, const phys_result *) {
        auto *to = static_cast<Seen *>(context);
        to->no_retry.push_back(request->no_retry);
        const uint32_t frame = to->frames.back();
        to->frames.pop_back();
        return phys_result{PHYS_GOT_FRAMES, frame};
    };
    EXPECT_EQ(c.read(f, 0), 4096u);
    ASSERT_EQ(seen.no_retry.size(), 4u);          // a first window of one page has four
    EXPECT_TRUE(seen.no_retry[0] && seen.no_retry[3]);
    file_write(&c.cache, f, 90 * kb4, kb4, 0);
    ASSERT_EQ(seen.no_retry.size(), 5u);
    EXPECT_FALSE(seen.no_retry[4]);
}

TEST(FileCache, RefusesWhatItCannotHold) {
    Cache c;
    EXPECT_NE(file_open(&c.cache, 0, 1, false), nullptr);
    EXPECT_NE(file_open(&c.cache, 1, FILE_MOST_BYTES + 1, false), nullptr);
    EXPECT_EQ(file_open(&c.cache, 1, 1, false), nullptr);
    EXPECT_NE(file_open(&c.cache, 1, 1, false), nullptr);
    EXPECT_EQ(file_named(&c.cache, 2), nullptr);
}

TEST(FileCache, ADroppedPageThatReturnsInTimeIsActive) {
    Cache c;
    file *f = c.open(100);
    c.read(f, 50);
    lru_drain_all(&c.lru);
    const uint32_t frame = file_frame(f, 50);
    file_remove(&c.cache, frame, 4);        // a shadow of age 0 (workingset.h)
    lru_forget(&c.lru, frame);
    ASSERT_TRUE(c.memory.release(frame));
    EXPECT_EQ(file_frame(f, 50), PHYS_NO_FRAME);
    c.read(f, 50);
    EXPECT_EQ(c.lru.counts.workingset_refault[1], 1u);
}

TEST(FileCache, AnonymousPagesCountOnlyWhileSwapHasFreeSlots) {
    // The age is 1 after one eviction, and the file lists are empty: recent only if 8 anonymous pages count.
    for (const int64_t slots : {8, 0}) {
        Cache c;
        c.cache.free_swap = &slots;
        file *f = c.open(1);
        c.lru.size[LRU_INACTIVE_ANON] = 8;
        c.lru.nonresident_age = 1;
        uint32_t frame;
        phys_outcome outcome;
        ASSERT_EQ(file_add(&c.cache, f, 0, 0, 0, false, 0, &frame, &outcome), FILE_ADDED);
        lru_drain_all(&c.lru);
        file_remove(&c.cache, frame, 1);              // a shadow of age 0
        lru_forget(&c.lru, frame);
        error ignored;
        ASSERT_TRUE(phys_free(&c.memory.p, frame, 0, 0, &ignored));
        ASSERT_EQ(file_add(&c.cache, f, 0, 0, 0, false, 0, &frame, &outcome), FILE_ADDED);
        EXPECT_EQ(lru_has(&c.lru, frame, LRU_ACTIVE), slots > 0);
        c.lru.size[LRU_INACTIVE_ANON] = 0;
    }
}

TEST(FileCache, FullMemoryEndsTheWindow) {
    Cache c(16 * mib);
    file *f = c.open(100000);
    uint64_t got = 0, page = 0;
    for (; page < 100000 && (got = c.read(f, page)) == kb4; ++page) continue;
    EXPECT_EQ(got, 0u);
    EXPECT_GT(page, 1000u);
    EXPECT_NE(file_read(&c.cache, f, page * kb4, 1, 0).outcome, PHYS_GOT_FRAMES);
    EXPECT_GT(file_drop_caches(&c.cache, 0), 1000u);
    EXPECT_EQ(c.read(f, page), kb4);
}

struct FileRandom : testing::TestWithParam<uint64_t> {};

// A page that the cache has is never read again; after the drop it is read again; at the end every frame is back.
TEST_P(FileRandom, EachPageIsReadOnceWhileItIsCached) {
    const Memory fresh = Memory::pc(64 * mib);
    Cache c(64 * mib);
    uint64_t random = GetParam();
    file *f = c.open(3000, GetParam() % 2);
    std::set<uint64_t> cached;
    for (int step = 0; step < 600; ++step) {
        const uint64_t page = random_below(&random, 3000), pages = 1 + random_below(&random, random_below(&random, 8) ? 4 : 80);
        const bool follows = random_below(&random, 2);
        const uint64_t at = follows ? static_cast<uint64_t>(std::max<int64_t>(f->ra.prev_pos, 0)) / kb4 % 3000 : page;
        c.disk.clear();
        switch (random_below(&random, 20)) {
            case 0:
                file_drop_caches(&c.cache, 0);
                for (uint64_t i = 0; i < 3000; ++i) {
                    const uint32_t frame = file_frame(f, i);
                    EXPECT_TRUE(frame == PHYS_NO_FRAME || lru_has(&c.lru, file_folio(&c.cache, frame), LRU_DIRTY));
                }
                cached.clear();
                break;
            case 1:
                file_mmap_readahead(&c.cache, f, at, random_below(&random, 10) == 0 && !f->large, 0);
                file_io_done(&c.cache);
                break;
            case 2:
                if (!f->large && pages < 4) file_write(&c.cache, f, at * kb4 + 5, 20, 0);
                break;
            default: EXPECT_EQ(c.read(f, at, pages), std::min(pages, 3000 - at) * kb4);
        }
        for (const uint64_t one : c.disk) EXPECT_FALSE(cached.count(one)) << "step " << step << " page " << one;
        cached.clear();
        for (uint64_t i = 0; i < 3000; ++i)
            if (file_frame(f, i) != PHYS_NO_FRAME) cached.insert(i);
        ASSERT_EQ(cached.size(), f->cached);
        for (const uint64_t one : c.disk) EXPECT_TRUE(cached.count(one));
        ASSERT_EQ(c.cache.flights, 0u);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_EQ(c.cache.counts.added - c.cache.counts.removed, f->cached);
    lru_drain_all(&c.lru);
    file_cache_destroy(&c.cache, 0);
    percpu_drain_all(&c.memory.p, 0);
    for (int i = 0; i < PHYS_ZONES; ++i) EXPECT_EQ(blocks_of(c.memory.p.zones[i]), blocks_of(fresh.p.zones[i]));
}

INSTANTIATE_TEST_SUITE_P(Seeds, FileRandom, testing::Range(uint64_t{1}, uint64_t{7}));

}  // namespace
