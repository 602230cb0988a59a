// Areas against a plain model: one record for each page. The list of areas must give the model's pages again.
#include <gtest/gtest.h>

#include "random_events.h"
#include "tessera/trace/areas.h"

namespace tessera::trace::testing {
namespace {

constexpr uint64_t pages = 40;

struct Page {
    bool is_mapped = false;
    uint32_t protection = 0, flags = 0, file = 0, lock_flags = 0;
    uint64_t file_offset = 0;
    bool is_locked = false, by_brk = false;
    std::set<uint32_t> advice;
    bool operator==(const Page&) const = default;
};

/// Linux's rules as far as events.h says them, page by page.
struct Model {
    Page page_of[event_pools][pages * 2];
    uint64_t break_bytes = 0;

    Page& at(EventPool pool, uint64_t number) { return page_of[static_cast<int>(pool)][number]; }
    static void advise(std::set<uint32_t>& held, uint32_t advice) {
        static const std::set<uint32_t> groups[] = {{0, 1, 2}, {14, 15}, {12, 13}, {10, 11}, {16, 17}, {18, 19}};
        static const std::set<uint32_t> first = {0, 13, 11, 17, 19};
        for (const auto& group : groups) {
            if (!group.contains(advice)) continue;
            for (const uint32_t number : group) held.erase(number);
            if (!first.contains(advice)) held.insert(advice);
        }
    }
    void apply(const Event& e) {
        const uint64_t first = e.offset_bytes / page, count = e.length_bytes / page;
        if (e.kind == EventKind::brk) {
            const uint64_t before = (break_bytes + page - 1) / page, now = (e.length_bytes + page - 1) / page;
            for (uint64_t n = now; n < before; ++n) at(EventPool::heap, n) = {};
            for (uint64_t n = before; n < now; ++n) {
                Page fresh;
                fresh.is_mapped = fresh.by_brk = true;
                fresh.protection = PROT_READ | PROT_WRITE;
                fresh.flags = MAP_PRIVATE | MAP_ANONYMOUS;
                at(EventPool::heap, n) = fresh;
            }
            break_bytes = e.length_bytes;
            return;
        }
        if (e.kind == EventKind::remap) {
            const uint64_t to = e.new_offset_bytes / page, wanted = e.new_length_bytes / page;
            std::vector<Page> moved;
            for (uint64_t n = 0; n < count; ++n) moved.push_back(at(e.pool, first + n));
            if (e.flags != 4)
                for (uint64_t n = 0; n < count; ++n) at(e.pool, first + n) = {};
            while (moved.size() < wanted) {
                Page more = moved.back();
                if (more.is_mapped && more.file != 0) more.file_offset += page;
                moved.push_back(more);
            }
            for (uint64_t n = 0; n < wanted; ++n) {
                moved[n].by_brk = false;
                at(e.new_pool, to + n) = moved[n];
            }
            return;
        }
        for (uint64_t n = first; n < first + count; ++n) {
            Page& p = at(e.pool, n);
            if (e.kind == EventKind::map) {
                p = {};
                p.is_mapped = true;
                p.protection = e.protection;
                p.flags = e.flags;
                p.file = e.file;
                p.file_offset = e.file == 0 ? 0 : e.file_offset_bytes + (n - first) * page;
                p.is_locked = (e.flags & MAP_LOCKED) != 0;
            } else if (e.kind == EventKind::unmap) {
                p = {};
            } else if (p.is_mapped) {
                if (e.kind == EventKind::protect) p.protection = e.protection;
                if (e.kind == EventKind::advise) advise(p.advice, e.flags);
                if (e.kind == EventKind::lock) p.is_locked = true, p.lock_flags = e.flags;
                if (e.kind == EventKind::unlock) p.is_locked = false, p.lock_flags = 0;
            }
        }
    }
    bool operator==(const Model& other) const {
        for (int pool = 0; pool < event_pools; ++pool)
            for (uint64_t n = 0; n < pages * 2; ++n)
                if (page_of[pool][n] != other.page_of[pool][n]) return false;
        return break_bytes == other.break_bytes;
    }
};

TEST(Areas, GiveThePagesOfThePlainModelAgain) {
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        std::mt19937_64 random(seed);
        Areas areas;
        Model model, again;
        for (uint64_t i = 1 + random() % 40; i > 0; --i) {
            const Event e = random_event(random, pages, 2);
            areas.apply(e);
            model.apply(e);
        }
        for (const Event& e : areas.events()) {
            EXPECT_EQ(e.block, 0u);
            again.apply(e);
        }
        ASSERT_TRUE(model == again) << "seed " << seed;
    }
}

TEST(Areas, AreTheirOwnShortestList) {
    for (uint64_t seed = 0; seed < 500; ++seed) {
        std::mt19937_64 random(seed);
        Areas areas, again;
        for (int i = 0; i < 30; ++i) areas.apply(random_event(random, pages, 2));
        for (const Event& e : areas.events()) again.apply(e);
        ASSERT_EQ(areas.events(), again.events()) << "seed " << seed;
    }
}

/// mremap of 0 bytes makes a second view of shared memory.
TEST(Areas, ARemapOfNothingCopies) {
    Areas areas;
    const Event map{0, EventKind::map, EventPool::file, EventPool::heap, 0, 2 * page, 0, 0, 3, MAP_SHARED, 1, 5 * page};
    areas.apply(map);
    areas.apply({3, EventKind::remap, EventPool::file, EventPool::file, page, 0, 8 * page, 2 * page, 0, MREMAP_MAYMOVE, 0, 0});
    const Event second{0, EventKind::map, EventPool::file, EventPool::heap, 8 * page, 2 * page, 0, 0, 3, MAP_SHARED, 1, 6 * page};
    EXPECT_EQ(areas.events(), (std::vector<Event>{map, second}));
}

/// By hand: a heap of 3 pages and a bit, its second page without access; 4 pages that became one read-only and one hole.
TEST(Areas, ByHand) {
    Areas areas;
    const auto event = [](EventKind kind, EventPool pool, uint64_t first, uint64_t count, uint32_t protection = 0, uint32_t flags = 0) {
        return Event{99, kind, pool, EventPool::heap, first * page, count * page, 0, 0, protection, flags, 0, 0};
    };
    Event brk = event(EventKind::brk, EventPool::heap, 0, 0);
    brk.length_bytes = 3 * page + 16;
    areas.apply(brk);
    areas.apply(event(EventKind::protect, EventPool::heap, 1, 1, PROT_NONE));
    areas.apply(event(EventKind::map, EventPool::anon, 10, 4, 3, 0x22));
    areas.apply(event(EventKind::advise, EventPool::anon, 10, 4, 0, MADV_HUGEPAGE));
    areas.apply(event(EventKind::protect, EventPool::anon, 12, 1, PROT_READ));
    areas.apply(event(EventKind::unmap, EventPool::anon, 13, 1));
    areas.apply(event(EventKind::advise, EventPool::anon, 10, 2, 0, MADV_DONTNEED));
    std::vector<Event> expected = {brk,
                                   event(EventKind::protect, EventPool::heap, 1, 1, PROT_NONE),
                                   event(EventKind::map, EventPool::anon, 10, 2, 3, 0x22),
                                   event(EventKind::advise, EventPool::anon, 10, 2, 0, MADV_HUGEPAGE),
                                   event(EventKind::map, EventPool::anon, 12, 1, 1, 0x22),
                                   event(EventKind::advise, EventPool::anon, 12, 1, 0, MADV_HUGEPAGE)};
    for (Event& e : expected) e.block = 0;
    EXPECT_EQ(areas.events(), expected);
}

}  // namespace
}  // namespace tessera::trace::testing
