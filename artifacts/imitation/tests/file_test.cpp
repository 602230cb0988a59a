// The page cache and readahead. Windows, marks and requests are derived by hand from mm/readahead.c and mm/filemap.c of 6.12.
#include <gtest/gtest.h>

#include <set>

#include "support.h"

extern "C" {
#include "base/random.h"
#include "file/read.h"
}

using namespace tests;

namespace {

constexpr uint64_t kb4 = 4096;

struct Event {
    int kind;
    uint64_t index;
    uint32_t pages, more;
    bool operator==(const Event &) const = default;
};

void PrintTo(const Event &e, std::ostream *out) { *out << e.kind << "@" << e.index << "+" << e.pages << "/" << e.more; }

struct Cache {
    explicit Cache(uint64_t bytes = 256 * mib) : memory(Memory::pc(bytes)) {
        lru_create(&lru, &memory.p);
        file_cache_create(&cache, &memory.p, &lru);
        cache.log = [](void *self, const file_event *event) {
            static_cast<Cache *>(self)->events.push_back({event->kind, event->index, event->pages, event->more});
        };
        cache.log_context = this;
        cache.disk = [](void *self, uint32_t, uint64_t index, uint32_t pages) {
            auto *of = static_cast<Cache *>(self);
            for (uint64_t i = 0; i < pages; ++i) of->disk.push_back(index + i);
        };
        cache.disk_context = this;
    }
    Cache(const Cache &) = delete;
    ~Cache() {
        lru_drain_all(&lru);
        file_cache_destroy(&cache, 0);
        lru_destroy(&lru);
    }
    file *open(uint64_t pages, bool large = false) {
        if (file_open(&cache, ++last, pages * kb4, large) != nullptr) std::abort();
        return file_named(&cache, last);
    }
    uint64_t read(file *of, uint64_t page, uint64_t pages = 1) { return file_read(&cache, of, page * kb4, pages * kb4, 0).bytes; }
    std::vector<Event> of_kind(int kind) const {
        std::vector<Event> found;
        for (const Event &event : events)
            if (event.kind == kind) found.push_back(event);
        return found;
    }
    std::vector<Event> windows() const { return of_kind(FILE_READAHEAD); }
    std::vector<Event> requests() const { return of_kind(FILE_READ); }

    Memory memory;
    ::lru lru{};
    file_cache cache{};
    std::vector<Event> events;
    std::vector<uint64_t> disk;
    uint32_t last = 0;
};

TEST(Readahead, SizesOfTheFirstAndTheNextWindow) {
    // Up to 1 page x 4, up to 8 x 2, above the whole 32; the comment of 6.12 says the same for 128KB but for 2 pages.
    const uint32_t first[][2] = {{1, 4}, {2, 4}, {3, 8}, {4, 8}, {5, 16}, {8, 16}, {9, 32}, {16, 32}, {32, 32}, {200, 32}};
    for (const auto &row : first) EXPECT_EQ(file_first_window(row[0], 32), row[1]) << row[0];
    EXPECT_EQ(file_first_window(100, 256), 256u);
    EXPECT_EQ(file_first_window(64, 256), 128u);
    EXPECT_EQ(file_first_window(8, 256), 32u);
    const uint32_t next[][2] = {{1, 4}, {2, 4}, {3, 6}, {4, 8}, {16, 32}, {17, 32}, {32, 32}};
    for (const auto &row : next) EXPECT_EQ(file_next_window(row[0], 32), row[1]) << row[0];
}

TEST(Readahead, PageByPageTheWindowGrowsTo128Kb) {
    Cache c;
    file *f = c.open(1000);
    for (uint64_t page = 0; page < 61; ++page) EXPECT_EQ(c.read(f, page), kb4);
    // 4 pages, mark at 1; each mark asks for the next window, whose first page has the mark.
    const std::vector<Event> windows = {{FILE_READAHEAD, 0, 4, 3},    {FILE_READAHEAD, 4, 8, 8},   {FILE_READAHEAD, 12, 16, 16},
                                        {FILE_READAHEAD, 28, 32, 32}, {FILE_READAHEAD, 60, 32, 32}, {FILE_READAHEAD, 92, 32, 32}};
    EXPECT_EQ(c.windows(), windows);
    const std::vector<Event> requests = {{FILE_READ, 0, 4, 0},   {FILE_READ, 4, 8, 0},   {FILE_READ, 12, 16, 0},
                                         {FILE_READ, 28, 32, 0}, {FILE_READ, 60, 32, 0}, {FILE_READ, 92, 32, 0}};
    EXPECT_EQ(c.requests(), requests);
    std::vector<uint64_t> marks;
    for (const Event &mark : c.of_kind(FILE_MARK)) marks.push_back(mark.index);
    EXPECT_EQ(marks, (std::vector<uint64_t>{1, 4, 12, 28, 60, 92}));
    EXPECT_EQ(f->cached, 124u);
}

TEST(Readahead, A64KbReadAtTheStartTakesTheWholeWindow) {
    Cache c;
    file *f = c.open(1000);
    EXPECT_EQ(c.read(f, 0, 16), 16 * kb4);
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 0, 32, 16}}));
    EXPECT_EQ(c.read(f, 16, 16), 16 * kb4);   // meets the mark at 16
    EXPECT_EQ(c.windows().back(), (Event{FILE_READAHEAD, 32, 32, 32}));
}

TEST(Readahead, ALargeReadMayBeAsLargeAsTheDisksRequest) {
    Cache c;
    file *f = c.open(4000);
    EXPECT_EQ(c.read(f, 0, 256), 256 * kb4);
    // 256 pages: at most 320 and no more than asked; 256 > 256/4, so the whole; async = half. The read meets the mark at 128 in a batch of
    // its own end: the window moves on to 256.
    EXPECT_EQ(c.windows()[0], (Event{FILE_READAHEAD, 0, 256, 128}));
    EXPECT_EQ(c.windows()[1], (Event{FILE_READAHEAD, 256, 256, 256}));
    EXPECT_EQ(c.windows().size(), 2u);
}

TEST(Readahead, ALonelyPageIsReadAlone) {
    Cache c;
    file *f = c.open(1000);
    c.read(f, 500);
    EXPECT_TRUE(c.windows().empty());
    EXPECT_EQ(c.requests(), (std::vector<Event>{{FILE_READ, 500, 1, 0}}));
    c.read(f, 501);      // behind the page that was read last: a stream
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 501, 4, 3}}));
    EXPECT_EQ(c.of_kind(FILE_MARK).back().index, 502u);
}

TEST(Readahead, CachedPagesBelowCountAsAStream) {
    Cache c;
    file *f = c.open(1000);
    uint32_t frame;
    phys_outcome outcome;
    for (uint64_t page = 100; page < 106; ++page) ASSERT_EQ(file_add(&c.cache, f, page, 0, 0, false, 0, &frame, &outcome), FILE_ADDED);
    c.events.clear();
    c.read(f, 106);     // six cached pages below, more than the request of 1: size 7, mark on the last
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 106, 7, 1}}));
    EXPECT_EQ(c.of_kind(FILE_MARK).back().index, 112u);
}

TEST(Readahead, CachedFromTheStartCountsTwice) {
    Cache c;
    file *f = c.open(1000);
    c.read(f, 0, 16);                       // 32 pages
    f->ra.prev_pos = 5000 * int64_t{kb4};
    c.events.clear();
    c.read(f, 32);      // only 32 pages are looked at; the last one is there: 31 below, not from the start
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 32, 32, 1}}));
    Cache d;
    file *g = d.open(1000);
    d.read(g, 0, 2);                        // window [0, 4)
    g->ra.prev_pos = 5000 * int64_t{kb4};
    d.events.clear();
    d.read(g, 4);       // 4 pages down to index 0: 8 + 1
    EXPECT_EQ(d.windows(), (std::vector<Event>{{FILE_READAHEAD, 4, 9, 1}}));
}

TEST(Readahead, AMarkOfAnotherStreamStartsBehindTheCachedPages) {
    Cache c;
    file *f = c.open(1000);
    c.read(f, 0);
    c.read(f, 1);        // [4, 12), mark at 4
    c.read(f, 900);
    c.read(f, 901);      // another stream's window
    c.events.clear();
    c.read(f, 4);        // the next page that is missing is 12, 8 behind; 8 + 1, doubled
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 12, 18, 18}}));
}

TEST(Readahead, AroundAFault) {
    Cache c;
    file *f = c.open(1000);
    EXPECT_TRUE(file_mmap_readahead(&c.cache, f, 100, false, 0));
    file_io_done(&c.cache);
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 84, 32, 8}}));
    EXPECT_EQ(c.of_kind(FILE_MARK).back().index, 108u);
    EXPECT_TRUE(file_mmap_readahead(&c.cache, f, 5, false, 0));
    file_io_done(&c.cache);
    EXPECT_EQ(c.windows().back(), (Event{FILE_READAHEAD, 0, 32, 8}));
    EXPECT_EQ(f->ra.mmap_miss, 2u);
    EXPECT_TRUE(file_mmap_readahead_more(&c.cache, f, file_frame(f, 24), 24, 0));
    file_io_done(&c.cache);
    EXPECT_EQ(c.windows().back(), (Event{FILE_READAHEAD, 32, 32, 32}));
    EXPECT_EQ(f->ra.mmap_miss, 1u);
    EXPECT_FALSE(file_mmap_readahead_more(&c.cache, f, file_frame(f, 24), 24, 0));   // the mark is gone
}

TEST(Readahead, TheWindowEndsWithTheFile) {
    Cache c;
    file *f = c.open(90);
    file_mmap_readahead(&c.cache, f, 85, false, 0);
    file_io_done(&c.cache);
    EXPECT_EQ(c.requests(), (std::vector<Event>{{FILE_READ, 69, 21, 0}}));
    EXPECT_EQ(c.of_kind(FILE_MARK).back().index, 82u);   // 8 before the end of what is read; page 93 would be the window's
    EXPECT_EQ(c.read(f, 80, 20), 10 * kb4);
    EXPECT_EQ(c.read(f, 90), 0u);
}

TEST(Readahead, CachedPagesSplitTheRequest) {
    Cache c;
    file *f = c.open(1000);
    c.read(f, 3);
    file_mmap_readahead(&c.cache, f, 16, false, 0);
    file_io_done(&c.cache);
    EXPECT_EQ(c.requests(), (std::vector<Event>{{FILE_READ, 3, 1, 0}, {FILE_READ, 0, 3, 0}, {FILE_READ, 4, 28, 0}}));
}

TEST(Readahead, AfterTooManyMissesOnlyThePageIsRead) {
    Cache c;
    file *f = c.open(100000);
    for (uint64_t i = 0; i < 100; ++i) {
        EXPECT_TRUE(file_mmap_readahead(&c.cache, f, 100 + i * 50, false, 0));
        file_io_done(&c.cache);
    }
    EXPECT_FALSE(file_mmap_readahead(&c.cache, f, 90000, false, 0));
}

TEST(Readahead, LargeFilesGetAlignedFolios) {
    Cache c;
    file *f = c.open(1000, true);
    c.read(f, 0);
    // One folio of 4 pages with the mark (page 1 rounded down), which the same read meets: [4, 12) as 4 + 4, because 4 is aligned to 4
    // only and 8 + 8 exceeds the window.
    struct Folio {
        uint64_t index;
        unsigned order;
    };
    for (const Folio &folio : {Folio{0, 2}, Folio{4, 2}, Folio{8, 2}}) {
        const uint32_t frame = file_frame(f, folio.index);
        ASSERT_NE(frame, PHYS_NO_FRAME);
        EXPECT_EQ(file_folio(&c.cache, frame), frame);
        EXPECT_EQ(frame_order(&c.memory.p.frames, frame), folio.order);
        EXPECT_EQ(file_frame(f, folio.index + 3), frame + 3);
        EXPECT_EQ(file_index_of(&c.cache, frame), folio.index);
    }
    EXPECT_EQ(c.windows(), (std::vector<Event>{{FILE_READAHEAD, 0, 4, 3}, {FILE_READAHEAD, 4, 8, 8}}));
    EXPECT_EQ(file_frame(f, 12), PHYS_NO_FRAME);
}

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
    struct Seen {
        phys *p;
        std::vector<bool> no_retry;
    };
    Cache c;
    file *f = c.open(100);
    Seen seen{&c.memory.p, {}};
    c.cache.alloc_context = &seen;
    c.cache.alloc = [](void *context, const phys_request *request) {
        auto *to = static_cast<Seen *>(context);
        to->no_retry.push_back(request->no_retry);
        return phys_alloc(to->p, request);
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
