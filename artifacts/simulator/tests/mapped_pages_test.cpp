// mapped_pages_test.cpp - pages of mappings: examples by hand, and random mappings against one page at a time.
#include "os/mapped_pages.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/mapping_oracle.h"

namespace tessera::sim::testing {
namespace {

constexpr auto brk = trace::PoolKind::heap, mmap = trace::PoolKind::anon;
constexpr PageSize small = PageSize::small_4kb, large = PageSize::large_2mb, huge = PageSize::huge_1gb;
constexpr uint64_t heap_page = gib / 4096, anon_page = 8 * gib / 4096;
const std::vector<trace::Pool> pools = {{brk, gib, 4 * gib, 0}, {mmap, 8 * gib, 4 * gib, 0}};

VirtAddr at(uint64_t page, uint64_t offset = 0) { return VirtAddr(page * 4096 + offset); }

MappedPages pages_of(std::vector<MappingEpoch> epochs, const std::vector<trace::Pool>& of = pools) {
    return MappedPages(std::make_shared<const Mapping>(Mapping{"m", std::move(epochs)}), of);
}

TEST(MappedPagesByHand, ChunksGoOnOverPageSizesAndEndAtGaps) {
    const MappedPages found = pages_of({{0,
                                         {{brk, 0, 100, 1, small},
                                          {mmap, 510, 1022, 1, small},
                                          {mmap, 511, 1023, 1, small},
                                          {mmap, 512, 1024, 512, large},
                                          {mmap, 1024, 1536, 3, small},
                                          {mmap, 1027, 1540, 3, small},
                                          {mmap, 1031, 1544, 1, small},
                                          {mmap, 262144, 524288, 262144, huge}}}});
    const std::vector<PageChunk> chunks = {{heap_page, 100, 1},
                                           {anon_page + 510, 1022, 517},
                                           {anon_page + 1027, 1540, 3},
                                           {anon_page + 1031, 1544, 1},
                                           {anon_page + 262144, 524288, 262144}};
    EXPECT_EQ(found.chunks(), chunks);
    EXPECT_EQ(found.rows().size(), 7u);  // pages 510 and 511 are one row
    EXPECT_EQ(found.chunk(at(anon_page + 1026, 5)), chunks[1]);
    EXPECT_EQ(found.row(at(anon_page + 1023)).size, large);
    EXPECT_EQ(found.physical(at(anon_page + 1023, 7)).value, 1535u * 4096 + 7);
    EXPECT_EQ(found.row(at(anon_page + 524287)).size, huge);
    EXPECT_EQ(found.physical(at(anon_page + 524287, 4095)).value, 786431u * 4096 + 4095);
    EXPECT_EQ(found.next_change(), ~uint64_t{0});
}

TEST(MappedPagesByHand, ChunksOfAdjacentPoolsStayApart) {
    // The heap is 16 pages long, and the next pool begins behind it with the next frame.
    const std::vector<trace::Pool> adjacent = {{mmap, gib + 16 * 4096, gib, 0}, {brk, gib, 16 * 4096, 0}};
    const MappedPages found = pages_of({{0, {{brk, 10, 100, 6, small}, {mmap, 0, 106, 4, small}}}}, adjacent);
    const std::vector<PageChunk> chunks = {{heap_page + 10, 100, 6}, {heap_page + 16, 106, 4}};
    EXPECT_EQ(found.chunks(), chunks);
    EXPECT_EQ(found.rows().size(), 2u);
    EXPECT_EQ(found.physical(at(heap_page + 16)).value, 106u * 4096);
}

TEST(MappedPagesByHand, APageOutsideThePoolsIsAChunk) {
    const MappedPages found = pages_of({{0, {{brk, 0, 100, 1, small}}}});
    for (const uint64_t page : {uint64_t{0}, heap_page - 1, heap_page + 4 * heap_page, (uint64_t{1} << 36) - 1}) {
        EXPECT_EQ(found.row(at(page, 9)).size, small);
        EXPECT_EQ(found.physical(at(page, 9)).value, (outside_frames + page) * 4096 + 9);
        EXPECT_EQ(found.chunk(at(page)), (PageChunk{page, outside_frames + page, 1}));
    }
}

TEST(MappedPagesByHand, APoolsPageWithoutARowIsNamed) {
    const MappedPages found = pages_of({{0, {{mmap, 16, 100, 1, small}, {mmap, 18, 200, 1, small}}}});
    for (const auto& [page, words] : {std::pair{anon_page + 17, "pool mmap, page 17 [mapping/touched]"},
                                      {anon_page + 15, "page 15 "},
                                      {anon_page + 600, "page 600 "},
                                      {heap_page, "pool brk, page 0 "}}) {
        (void)found.row(at(anon_page + 16));  // so that a row was found last
        try {
            (void)found.row(at(page));
            FAIL() << words;
        } catch (const Unmapped& unmapped) {
            EXPECT_NE(std::string(unmapped.what()).find(words), std::string::npos) << unmapped.what();
            EXPECT_NE(std::string(unmapped.what()).find("mapping m"), std::string::npos);
        }
    }
}

TEST(MappedPagesByHand, AnEpochCutsAndJoinsRows) {
    MappedPages found =
        pages_of({{0, {{brk, 0, 100, 8, small}, {mmap, 0, 512, 512, large}}},
                  {50, {{brk, 2, 0, 1, small, false}, {brk, 3, 300, 2, small}, {brk, 8, 108, 1, small}, {mmap, 0, 512, 512, small}}},
                  {90, {{brk, 2, 102, 3, small}}}});
    EXPECT_EQ(found.next_change(), 50u);
    EXPECT_EQ(found.physical(at(heap_page + 3)).value, 103u * 4096);
    EXPECT_EQ(found.change(),
              (std::vector<VirtRange>{
                  {at(heap_page + 2), at(heap_page + 5)}, {at(heap_page + 8), at(heap_page + 9)}, {at(anon_page), at(anon_page + 512)}}));
    const std::vector<PageChunk> chunks = {{heap_page, 100, 2}, {heap_page + 3, 300, 2}, {heap_page + 5, 105, 4}, {anon_page, 512, 512}};
    EXPECT_EQ(found.chunks(), chunks);
    EXPECT_EQ(found.physical(at(heap_page + 3)).value, 300u * 4096);  // not the row found last
    EXPECT_THROW((void)found.row(at(heap_page + 2)), Unmapped);
    EXPECT_EQ(found.row(at(anon_page + 9)).size, small);
    EXPECT_EQ(found.next_change(), 90u);
    EXPECT_EQ(found.change(), (std::vector<VirtRange>{{at(heap_page + 2), at(heap_page + 5)}}));
    EXPECT_EQ(found.rows().size(), 2u);  // the heap is one row again
    EXPECT_EQ(found.chunk(at(heap_page + 8)), (PageChunk{heap_page, 100, 9}));
    EXPECT_EQ(found.next_change(), ~uint64_t{0});
    EXPECT_TRUE(found.change().empty());
}

TEST(MappedPagesByHand, RowsThatDoNotFitThePoolsAreRefused) {
    const auto refusal = [](const MappingRow& row, const std::vector<trace::Pool>& of) -> std::string {
        try {
            pages_of({{0, {row}}}, of);
        } catch (const Refusal& refused) {
            return refused.what();
        }
        return "accepted";
    };
    const std::vector<trace::Pool> odd = {{mmap, 8 * gib + 2 * mib, 4 * gib, 0}};
    EXPECT_EQ(refusal({mmap, 512, 0, 512, large}, odd), "accepted");
    EXPECT_NE(refusal({mmap, 262144, 0, 262144, huge}, odd).find("[trace/pool-base]"), std::string::npos);
    EXPECT_NE(refusal({brk, 0, 0, 1, small}, odd).find("[trace/no-pool]"), std::string::npos);
    EXPECT_NE(refusal({mmap, 1048576, 0, 1, small}, odd).find("[trace/outside-pool]"), std::string::npos);
}

/// Random mappings over pools of 1 to 8 regions, adjacent in virtual memory or not, in either order.
class RandomMappedPages : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomMappedPages, AreThoseOfOnePageAtATime) {
    const uint64_t seed = GetParam(), count = seed % 5 ? 512 + seed * 379 % 3500 : 512 * (1 + seed / 5);
    const MappingOracle random(seed, count);
    std::vector<trace::Pool> places = {{brk, gib, count * 4096, 0}, {mmap, 8 * gib, count * 4096, 0}};
    if (seed % 3 == 0) std::swap(places[0].base, places[1].base);
    if (seed % 4 == 0) places[0].base = places[1].base + (count + 511) / 512 * 2 * mib;
    if (count % 512 == 0) places[1].base = places[0].base + count * 4096;
    const auto mapping = std::make_shared<const Mapping>(parse_mapping(random.text(), "m.csv", places));
    ASSERT_EQ(mapping->epochs.size(), random.epochs.size());
    const auto base_page = [&](trace::PoolKind pool) { return places[pool == brk ? 0 : 1].base / 4096; };

    MappedPages found(mapping, places);
    for (size_t e = 0; e < random.epochs.size(); ++e) {
        const MappingOracle::Epoch& epoch = random.epochs[e];
        EXPECT_EQ(mapping->epochs[e].access, epoch.access);
        EXPECT_EQ(mapping->epochs[e].rows, epoch.rows);
        if (e > 0) {
            std::set<uint64_t> changed, expected;
            ASSERT_EQ(found.next_change(), epoch.access);
            uint64_t end = 0;
            for (const VirtRange& range : found.change()) {
                EXPECT_TRUE(range.begin.value > end && range.begin < range.end) << "sorted, and not adjacent";
                end = range.end.value;
                for (uint64_t page = range.begin.value / 4096; page < end / 4096; ++page) changed.insert(page);
            }
            for (const auto& [pool, page] : epoch.changed) expected.insert(base_page(pool) + page);
            EXPECT_EQ(changed, expected);
        }
        std::vector<PageChunk> chunks;
        const std::vector<trace::PoolKind> order = base_page(brk) < base_page(mmap) ? std::vector{brk, mmap} : std::vector{mmap, brk};
        for (const trace::PoolKind pool : order) {
            bool may_go_on = false;
            for (uint64_t page = 0; page < count; ++page) {
                const auto expected = epoch.pages.find({pool, page});
                const uint64_t virtual_page = base_page(pool) + page;
                if (expected == epoch.pages.end()) {
                    ASSERT_THROW((void)found.row(at(virtual_page)), Unmapped) << page;
                    may_go_on = false;
                    continue;
                }
                ASSERT_EQ(found.physical(at(virtual_page, 17)).value, expected->second.frame * 4096 + 17) << page;
                ASSERT_EQ(found.row(at(virtual_page)).size, expected->second.size) << page;
                if (may_go_on && chunks.back().frame + chunks.back().pages == expected->second.frame) ++chunks.back().pages;
                else chunks.push_back({virtual_page, expected->second.frame, 1});
                may_go_on = true;
            }
        }
        ASSERT_EQ(found.chunks(), chunks);
        uint64_t x = seed;
        for (int i = 0; i < 2000; ++i) {  // in any order
            x = x * 6364136223846793005u + 1442695040888963407u;
            const PageChunk& chunk = chunks[(x >> 33) % chunks.size()];
            const uint64_t page = chunk.page + (x >> 20) % chunk.pages;
            ASSERT_EQ(found.chunk(at(page)), chunk);
            ASSERT_EQ(found.physical(at(page)).value, (chunk.frame + page - chunk.page) * 4096);
        }
    }
    EXPECT_EQ(found.next_change(), ~uint64_t{0});
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMappedPages, ::testing::Range<uint64_t>(1, 41));

}  // namespace
}  // namespace tessera::sim::testing
