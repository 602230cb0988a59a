// What libmosalloc tells becomes events at pool offsets: pools, borders, files, the begin and the end of a recording.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include "mosalloc/pool_map.h"
#include "plugin/program_events.h"

namespace tessera::tracer {
namespace {

using trace::Event;
using trace::EventKind;
using trace::EventPool;

constexpr uint64_t page = 4096, heap = 0x4000000000, anon = 0x4040000000, file = 0x4080000000;
constexpr ProgramEvents::Spans spans{{heap, anon, file}, {1 << 20, 1 << 30, 1 << 20}};

mosalloc_event told(mosalloc_call call, uint64_t address, uint64_t bytes) {
    mosalloc_event event = {};
    event.call = call;
    event.address = address;
    event.bytes = bytes;
    event.fd = -1;
    return event;
}

TEST(ProgramEvents, EachCallHasAKindAndAPlace) {
    ProgramEvents events(spans);
    const struct {
        mosalloc_call call;
        uint64_t address;
        EventKind kind;
        EventPool pool;
        uint64_t offset;
    } rows[] = {
        {MOSALLOC_CALL_MMAP, anon, EventKind::map, EventPool::anon, 0},
        {MOSALLOC_CALL_MUNMAP, anon + 5 * page, EventKind::unmap, EventPool::anon, 5 * page},
        {MOSALLOC_CALL_MPROTECT, heap + page, EventKind::protect, EventPool::heap, page},
        {MOSALLOC_CALL_PKEY_MPROTECT, file, EventKind::protect, EventPool::file, 0},
        {MOSALLOC_CALL_MADVISE, 0x10000, EventKind::advise, EventPool::outside, 0x10000},
        {MOSALLOC_CALL_POSIX_MADVISE, file + (1 << 20) - 2 * page, EventKind::advise, EventPool::file, (1 << 20) - 2 * page},
        {MOSALLOC_CALL_MLOCK, heap - 2 * page, EventKind::lock, EventPool::outside, heap - 2 * page},
        {MOSALLOC_CALL_MLOCK2, heap, EventKind::lock, EventPool::heap, 0},
        {MOSALLOC_CALL_MUNLOCK, file + (1 << 20), EventKind::unlock, EventPool::outside, file + (1 << 20)},
    };
    for (const auto& row : rows) {
        const std::vector<Event> made = events.of(told(row.call, row.address, 2 * page), "");
        ASSERT_EQ(made.size(), 1u) << row.call;
        EXPECT_EQ(made[0], (Event{0, row.kind, row.pool, EventPool::heap, row.offset, 2 * page, 0, 0, 0, 0, 0, 0})) << row.call;
    }
}

TEST(ProgramEvents, ABreakIsAByteNumber) {
    const std::vector<Event> made = ProgramEvents(spans).of(told(MOSALLOC_CALL_SBRK, heap, 12345), "");
    EXPECT_EQ(made, (std::vector<Event>{{0, EventKind::brk, EventPool::heap, EventPool::heap, 0, 12345, 0, 0, 0, 0, 0, 0}}));
}

TEST(ProgramEvents, ARangeOverBordersIsOneEventForEachPool) {
    // From the page before the heap over its 1 MB to the page behind it.
    const std::vector<Event> made = ProgramEvents(spans).of(told(MOSALLOC_CALL_MUNMAP, heap - page, (1 << 20) + 2 * page), "");
    const auto part = [](EventPool pool, uint64_t offset, uint64_t bytes) {
        return Event{0, EventKind::unmap, pool, EventPool::heap, offset, bytes, 0, 0, 0, 0, 0, 0};
    };
    EXPECT_EQ(made, (std::vector<Event>{part(EventPool::outside, heap - page, page), part(EventPool::heap, 0, 1 << 20),
                                        part(EventPool::outside, heap + (1 << 20), page)}));
    EXPECT_TRUE(ProgramEvents(spans).of(told(MOSALLOC_CALL_MPROTECT, anon, 0), "").empty());
}

TEST(ProgramEvents, ARemapHasTwoRanges) {
    mosalloc_event moved = told(MOSALLOC_CALL_MREMAP, anon + page, 2 * page);
    moved.new_address = 0x7000;
    moved.new_bytes = 3 * page;
    moved.flags = MREMAP_MAYMOVE;
    EXPECT_EQ(ProgramEvents(spans).of(moved, ""), (std::vector<Event>{{0, EventKind::remap, EventPool::anon, EventPool::outside, page,
                                                                       2 * page, 0x7000, 3 * page, 0, MREMAP_MAYMOVE, 0, 0}}));
}

TEST(ProgramEvents, AFileIsItsInode) {
    const FindFile find = [](int64_t fd, const std::string& path) {
        return FoundFile{1, fd >= 0 ? static_cast<uint64_t>(fd / 10) : path == "/gone" ? 0 : 3, {fd >= 0 ? "fd" : path, 100}};
    };
    ProgramEvents events(spans, find);
    const auto number = [&](int64_t fd, const std::string& path) {
        mosalloc_event mapped = told(MOSALLOC_CALL_MMAP, file, page);
        mapped.fd = fd;
        return events.of(mapped, path)[0].file;
    };
    EXPECT_EQ(number(10, ""), 1u);
    EXPECT_EQ(number(21, ""), 2u);
    EXPECT_EQ(number(19, ""), 1u) << "another descriptor of the same inode";
    EXPECT_EQ(number(-1, "/a"), 3u);
    EXPECT_EQ(number(30, ""), 3u);
    EXPECT_EQ(number(-1, "/gone"), 4u);
    EXPECT_EQ(number(-1, ""), 0u);
    const trace::Events section = events.section({}, 0);
    ASSERT_EQ(section.files.size(), 4u);
    EXPECT_EQ(section.files[2].name, "/a");
    EXPECT_EQ(section.files[0].size_bytes, 100u);
}

TEST(ProgramEvents, TheSectionBeginsWithAreasAndEndsWithTheTrace) {
    ProgramEvents events(spans);
    const auto one = [&](mosalloc_call call, uint64_t address, uint64_t bytes) { return events.of(told(call, address, bytes), "")[0]; };
    one(MOSALLOC_CALL_MMAP, anon, 4 * page);
    one(MOSALLOC_CALL_MUNMAP, anon, page);
    events.end_start();
    Event early = one(MOSALLOC_CALL_MMAP, anon + 9 * page, page), late = early;
    early.block = 99;
    late.block = 100;
    const trace::Events section = events.section({early, late}, 100);
    const Event area{0, EventKind::map, EventPool::anon, EventPool::heap, page, 3 * page, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(section.list, (std::vector<Event>{area, early}));
    EXPECT_EQ(section.at_start, 1u);
    EXPECT_EQ(ProgramEvents(spans).section({early}, 100).list, std::vector<Event>{early}) << "nothing was mapped before";
    EXPECT_EQ(section.file_pool_base, file);
    EXPECT_EQ(section.file_pool_bytes, 1u << 20);
}

/// Pages 1, 2, 4 and 5 are mapped. A call that fails at a hole changes what lies before it; advice also what lies behind.
TEST(ProgramEvents, ACallThatReachesAHoleHasItsEffectUpToThere) {
    ProgramEvents events(spans);
    events.of(told(MOSALLOC_CALL_MMAP, anon + page, page), "");
    events.of(told(MOSALLOC_CALL_MMAP, anon + 2 * page, page), "");
    events.of(told(MOSALLOC_CALL_MMAP, anon + 4 * page, 2 * page), "");
    const auto ranges = [&](mosalloc_call call, uint64_t first, uint64_t count) {
        mosalloc_event failed = told(call, anon + first * page, count * page);
        failed.at_hole = 1;
        std::vector<std::pair<uint64_t, uint64_t>> out;
        for (const Event& event : events.of(failed, "")) out.emplace_back(event.offset_bytes / page, event.length_bytes / page);
        return out;
    };
    using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;
    EXPECT_EQ(ranges(MOSALLOC_CALL_MPROTECT, 1, 5), (Ranges{{1, 2}}));
    EXPECT_EQ(ranges(MOSALLOC_CALL_MPROTECT, 2, 3), (Ranges{{2, 1}}));
    EXPECT_EQ(ranges(MOSALLOC_CALL_MPROTECT, 0, 3), Ranges{});
    EXPECT_EQ(ranges(MOSALLOC_CALL_MPROTECT, 3, 2), Ranges{});
    EXPECT_EQ(ranges(MOSALLOC_CALL_MLOCK, 4, 4), (Ranges{{4, 2}}));
    EXPECT_EQ(ranges(MOSALLOC_CALL_MADVISE, 0, 9), (Ranges{{1, 2}, {4, 2}}));
    EXPECT_EQ(ranges(MOSALLOC_CALL_MADVISE, 5, 2), (Ranges{{5, 1}}));
}

TEST(ProgramEvents, AnUnknownCallIsRefused) {
    EXPECT_THROW(ProgramEvents(spans).of(told(MOSALLOC_CALL_MSYNC, anon, page), ""), std::runtime_error);
    EXPECT_THROW(ProgramEvents::read_spans("/nonexistent"), std::runtime_error);
}

}  // namespace
}  // namespace tessera::tracer
