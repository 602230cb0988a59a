// Readahead. Windows, marks and requests are derived by hand from mm/readahead.c of 6.12.
#include "file_support.h"

using namespace tests;

namespace {

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
    const std::vector<Event> windows = {{FILE_READAHEAD, 0, 4, 3},    {FILE_READAHEAD, 4, 8, 8},    {FILE_READAHEAD, 12, 16, 16},
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

}  // namespace
