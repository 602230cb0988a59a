// Areas of a process under a log: against areas kept page by page, what the log's records say, and a design that holds whole areas.
#include <gtest/gtest.h>

#include "base/error.h"
#include "os/address_space.h"
#include "os/os_log.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_log.h"
#include "support/woven.h"

namespace tessera::sim::testing {
namespace {

VirtRange pages(uint64_t begin, uint64_t end) { return {VirtAddr(begin << 12), VirtAddr(end << 12)}; }

/// Of each page, the number of the area that has it; 0: none.
TEST(LiveAreas, FollowAreasKeptPageByPage) {
    constexpr uint64_t end = 60;
    for (uint64_t seed = 0; seed < 20; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<uint32_t> page_by_page(end);
        LiveAreas areas;
        for (uint32_t number = 1; number < 300; ++number) {
            const uint64_t first = random() % end, last = first + 1 + random() % (end - first);
            const bool live = random() % 3 != 0;
            areas.apply({{pages(first, last), number}, live, {}});
            for (uint64_t page = first; page < last; ++page) page_by_page[page] = live ? number : 0;
            for (uint64_t page = 0; page < end; ++page) {
                const LiveArea* const found = areas.at(VirtAddr(page << 12 | 5));
                ASSERT_EQ(found != nullptr ? found->flags : 0, page_by_page[page]) << seed << " " << number << " " << page;
            }
            for (size_t i = 0; i < areas.all().size(); ++i) {
                ASSERT_LT(areas.all()[i].range.begin, areas.all()[i].range.end);
                ASSERT_TRUE(i == 0 || areas.all()[i - 1].range.end <= areas.all()[i].range.begin);
            }
        }
    }
}

os::Record record(uint64_t access, os::Kind kind, trace::EventKind call, uint64_t page, uint64_t count, uint64_t flags) {
    os::Record made{access, access, kind, static_cast<uint8_t>(call), 1};
    made.page = page, made.pages = count, made.frame = flags;
    return made;
}
void add_call(os::Writer& writer, uint64_t access, trace::EventKind call, const std::vector<os::Record>& records) {
    writer.add(record(access, os::Kind::call_begin, call, 0, 1, 1));
    for (const os::Record& one : records) writer.add(one);
    writer.add(record(access, os::Kind::call, call, 0, 1, 1));
}

/// mmap of ten pages, a fault, then mprotect of three of them and munmap of one, before the second and third access.
void ten_pages(os::Writer& writer) {
    using enum trace::EventKind;
    add_call(writer, 0, map, {record(0, os::Kind::area_live, {}, 0, 10, 3)});
    writer.add({0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {9, 20, 30, 1000}});
    add_call(writer, 1, protect, {record(1, os::Kind::area_live, {}, 7, 3, 3), record(1, os::Kind::area_live, {}, 7, 2, 1)});
    add_call(writer, 2, unmap, {record(2, os::Kind::area_gone, {}, 1, 1, 0)});
    writer.add({2, 2, os::Kind::map, 1, 1, false, false, true, 6, 1, 78, {}});
    writer.add(record(3, os::Kind::area, {}, 0, 1, 3));
}

TEST(LiveAreas, AreThoseOfTheLogAtEachAccess) {
    TwoFaults made(ten_pages);
    AddressSpace space(made.stream->header().pools, made.layout);
    const auto area = [](uint64_t begin, uint64_t end, uint32_t flags) {
        return LiveArea{pages((anon_base >> 12) + begin, (anon_base >> 12) + end), flags};
    };
    ASSERT_NE(space.live_areas(), nullptr);
    EXPECT_TRUE(space.live_areas()->all().empty());
    EXPECT_EQ(space.mapping()->next_change(), 0u);
    EXPECT_EQ(space.mapping()->change().size(), 1u);
    EXPECT_EQ(space.live_areas()->all(), (std::vector{area(0, 10, 3)}));
    EXPECT_EQ(space.mapping()->next_change(), 1u);
    EXPECT_TRUE(space.mapping()->change().empty());  // no page changed
    EXPECT_EQ(space.live_areas()->all(), (std::vector{area(0, 7, 3), area(7, 9, 1), area(9, 10, 3)}));
    const std::span<const AreaChange> changes = space.mapping()->area_changes();
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[1], (AreaChange{area(7, 9, 1), true, trace::EventKind::protect}));
    space.mapping()->change();
    EXPECT_EQ(space.live_areas()->all(), (std::vector{area(0, 1, 3), area(2, 7, 3), area(7, 9, 1), area(9, 10, 3)}));
    EXPECT_EQ(space.mapping()->area_changes()[0], (AreaChange{area(1, 2, 0), false, trace::EventKind::unmap}));
    EXPECT_EQ(space.mapping()->next_change(), ~uint64_t{0});
    EXPECT_EQ(AddressSpace(made.stream->header().pools, all_4kb()).live_areas(), nullptr);
}

/// Pages 5 and 6 are in one area, which the second access finds in L1 and the third in the buffer: the call between left it as it is. Then with
/// calls that change it.
TEST(AreaBuffer, MissesAnAreaOnceAndAfterEachChange) {
    Platform platform = haswell();
    platform.mmu_design = "example-area-buffer";
    TwoFaults kept([](os::Writer& writer) {
        add_call(writer, 0, trace::EventKind::map, {record(0, os::Kind::area_live, {}, 0, 10, 3)});
        writer.add({0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {9, 20, 30, 1000}});
        writer.add({2, 2, os::Kind::map, 1, 1, false, false, true, 6, 1, 78, {}});
    });
    const LayoutCounts once = on_all_engines(platform, *kept.stream, {kept.layout})[0];
    EXPECT_EQ(once.stlb_misses, 1u);
    EXPECT_EQ(once.stlb_hits, 1u);
    EXPECT_EQ(once.walker[0] + once.walker[1] + once.walker[2] + once.walker[3], 1u);  // the table has one area
    TwoFaults changed(ten_pages);
    const LayoutCounts twice = on_all_engines(platform, *changed.stream, {changed.layout})[0];
    EXPECT_EQ(twice.stlb_misses, 2u);
    EXPECT_EQ(twice.stlb_hits, 0u);
    EXPECT_EQ(twice.walker[0] + twice.walker[1] + twice.walker[2] + twice.walker[3], 1u + 2);  // areas 2 and 1 of four
    EXPECT_THROW(on_all_engines(platform, *changed.stream, {all_4kb()}), Refusal);
}

/// The buffer compares each entry that it uses with the area of the moment.
TEST(AreaBuffer, EnginesAgreeOnRandomPrograms) {
    Platform platform = haswell();
    platform.mmu_design = {"example-area-buffer", {{"entries", 4}}};
    for (uint64_t seed = 0; seed < 6; ++seed) {
        RandomLog random(seed + 70);
        random.make(4000);
        MemoryStream stream = random.stream();
        const Layout layout = random.layout(stream.header());
        if (seed % 2) platform.allocator = "mapped";
        const Sampling sampling = seed % 3 == 2 ? Sampling{false, 3, 300, 200} : Sampling{};
        const LayoutCounts counts = on_all_engines(platform, stream, {layout}, sampling)[0];
        EXPECT_GT(counts.stlb_misses, 20u);
        EXPECT_GT(counts.stlb_hits, 20u);
        const LayoutCounts tlbs = simulate("partial", platform, stream, {layout}, Sampling{false, 0, 0, 0})[0];
        EXPECT_EQ(tlbs.stlb_misses, counts.stlb_misses);
    }
}

}  // namespace
}  // namespace tessera::sim::testing
