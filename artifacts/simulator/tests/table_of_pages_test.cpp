// table_of_pages_test.cpp - page-table formats with contents, levels of their own and parallel reads.
//
// The example is tests/examples/elastic_cuckoo.cpp. What it inserts is compared with a page table kept page by page, and its addresses with
// those that the number of its lines alone gives.
#include "pagetable/table_of_pages.h"

#include <set>

#include "base/error.h"
#include "engine/functional.h"
#include "mmu/walker.h"
#include "os/os_log.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_inputs.h"
#include "support/random_log.h"
#include "support/random_mappings.h"
#include "support/stepped_design.h"

namespace tessera::sim::testing {
namespace {

/// What a table was told to hold.
class Told final : public TableOfPages {
public:
    using TableOfPages::TableOfPages;
    void entries(VirtAddr, PageSize, WalkPath&) override {}
    std::set<PageNumber> pages;
    uint64_t last_inserted = 0, last_removed = 0;  ///< first addresses
    size_t disorder = 0;
    void begin() { last_inserted = last_removed = 0; }
    bool has(PageNumber page) const { return holds(page); }

private:
    void note(PageNumber page, uint64_t& last) {
        const uint64_t begin = page.number << shift_of(page.size);
        disorder += begin < last;
        last = begin;
    }
    void insert(PageNumber page) override {
        ASSERT_TRUE(pages.insert(page).second) << "twice";
        note(page, last_inserted);
    }
    void remove(PageNumber page) override {
        ASSERT_EQ(pages.erase(page), 1u) << "never inserted";
        ASSERT_EQ(last_inserted, 0u) << "removed behind an insertion";
        note(page, last_removed);
    }
};

TEST(TableOfPages, HoldsTheMappedPagesOfTouchedRegionsUnderALog) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const bool only_4kb = seed % 2;
        RandomLog random(seed);
        std::map<size_t, RandomLog::State> states;
        random.make(4000, [&](size_t access, const RandomLog::State& state) {
            if (access % 200 == 199) states[access] = state;
        });
        const MemoryStream stream = random.stream();
        AddressSpace space(stream.header().pools, random.layout(stream.header()));
        const Platform platform = haswell();
        Told table(DesignContext{platform, space, only_4kb});
        std::mt19937_64 choose(seed);
        std::set<std::pair<unsigned, uint64_t>> touched;  // pool, 2MB
        for (const auto& [access, state] : states) {
            while (space.mapping()->next_change() <= access) {
                for (const VirtRange range : space.mapping()->change()) table.begin(), table.changed(range);
                if (choose() % 8) continue;
                const unsigned pool = choose() % 2;
                const uint64_t page = choose() % RandomLog::pages;
                table.begin();
                table.touch(VirtAddr((pool == 0 ? heap_base : anon_base) + page * 4096));
                touched.insert({pool, page / 512});
            }
            std::set<PageNumber> expected;
            for (const auto& [key, page] : state) {
                if (!touched.contains({key.first, key.second / 512})) continue;
                const uint64_t number = ((key.first == 0 ? heap_base : anon_base) >> 12) + key.second;
                expected.insert(page.large && !only_4kb ? PageNumber{number / 512, PageSize::large_2mb}
                                                        : PageNumber{number, PageSize::small_4kb});
            }
            ASSERT_EQ(table.pages, expected) << access;
            for (const PageNumber page : expected) ASSERT_TRUE(table.has(page));
        }
        EXPECT_GT(touched.size(), 8u);
        EXPECT_EQ(table.disorder, 0u);
    }
}

/// By hand: a page of 1GB is inserted once, whichever of its regions is touched; under a layout, all pages of a touched region are mapped.
TEST(TableOfPages, UnderALayoutARegionIsFull) {
    const Platform platform = haswell();
    const AddressSpace small(synthetic_pools(), all_4kb()), large(synthetic_pools(), all_of(PageSize::large_2mb, uint64_t{4} << 30)),
        huge(synthetic_pools(), all_of(PageSize::huge_1gb, uint64_t{4} << 30));
    const VirtAddr first(heap_base), second(heap_base + (2 << 20));
    for (const auto& [space, of_first, of_both] : {std::tuple{&small, 512, 1024}, std::tuple{&large, 1, 2}, std::tuple{&huge, 1, 1}}) {
        Told table(DesignContext{platform, *space});
        for (int round = 0; round < 2; ++round) table.begin(), table.touch(first);
        EXPECT_EQ(table.pages.size(), size_t(of_first));
        table.begin(), table.touch(second);
        EXPECT_EQ(table.pages.size(), size_t(of_both));
        table.begin(), table.changed({first, VirtAddr(first.value + 4096)});  // it is there again
        EXPECT_EQ(table.pages.size(), size_t(of_both));
    }
}

Platform cuckoo(uint64_t lines = 8192) {
    Platform p = haswell();
    p.page_table_format = {"example-elastic-cuckoo", {{"lines", lines}}};
    return p;
}

uint64_t hash(uint64_t line, uint64_t way) {
    uint64_t x = line + (way + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/// Where the four ways have a line after `inserted` lines, by counting: 60% full, four times as many lines, ten moved by each insertion.
std::set<uint64_t> places(uint64_t line, uint64_t inserted, uint64_t lines) {
    uint64_t size = lines, room = physical::of_format.begin + 3 * 4 * 64 * lines, first = physical::of_format.begin, next = 0, moved = 0;
    for (uint64_t n = 1; n <= inserted; ++n) {
        for (int i = 0; next != 0 && i < 10; ++i)
            if (++moved == 4 * size) first = next, next = 0, moved = 0, size *= 4;
        if (next == 0 && double(n) > 0.6 * double(4 * size)) next = room, room += 4 * 64 * 4 * size;
    }
    std::set<uint64_t> found;
    for (uint64_t way = 0; way < 4; ++way) {
        const uint64_t moved_here = moved / 4 + (way < moved % 4), number = hash(line, way);
        const bool in_new = next != 0 && number % size < moved_here;
        found.insert(in_new ? next + way * 64 * 4 * size + number % (4 * size) * 64 : first + way * 64 * size + number % size * 64);
    }
    return found;
}

/// Each region of 2MB has 64 lines: the 308th brings the 19,661st line, and with it the new arrays.
TEST(ElasticCuckoo, PlacesFollowFromTheNumberOfLines) {
    for (const uint64_t lines : {16, 8192}) {
        const Platform p = cuckoo(lines);
        const AddressSpace space(synthetic_pools(), all_4kb());
        const auto table = page_table_formats().make(p.page_table_format, DesignContext{p, space});
        std::mt19937_64 choose(lines);
        size_t beyond = 0;
        for (uint64_t region = 0; region < 400; ++region) {
            table->touch(VirtAddr(heap_base + (region << 21)));
            if (lines == 8192 && region < 306) continue;
            for (int i = 0; i < 20; ++i) {
                const VirtAddr address(heap_base + choose() % ((region + 1) << 21));
                WalkPath path;
                table->entries(address, PageSize::small_4kb, path);
                std::set<uint64_t> found;
                for (const EntryRead& read : path) {
                    EXPECT_EQ(read.step, 0);
                    EXPECT_EQ(read.address.value % 64, (address.value >> 12) % 8 * 8);
                    found.insert(read.address.value & ~uint64_t{63});
                }
                ASSERT_EQ(found, places(address.value >> 15, 64 * (region + 1), lines)) << region;
                beyond += *found.rbegin() >= physical::of_format.begin + 3 * 4 * 64 * lines;
                ASSERT_TRUE(beyond == 0 || lines == 16 || region >= 307);
            }
        }
        EXPECT_GT(beyond, 0u);
    }
}

/// `rounds` passes over `pages` pages, one load each.
MemoryStream cycle(uint64_t pages, uint64_t rounds) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t r = 0; r < rounds; ++r)
        for (uint64_t page = 0; page < pages; ++page) builder.load(block, heap_base + page * 4096);
    return builder.finish();
}

/// All levels take 50 cycles: a walk takes 50, with four loads.
TEST(ElasticCuckoo, AWalkLoadsAllWaysTogether) {
    Platform p = cuckoo();
    p.l1d.load_cycles = p.l2.load_cycles = p.l3.load_cycles = p.memory_load_cycles = 50;
    MemoryStream stream = cycle(3000, 4);  // more than the STLB holds
    const auto counts = on_all_engines(p, stream, {all_4kb(), all_of(PageSize::large_2mb, uint64_t{4} << 30)});
    for (const auto& [layout, misses] : {std::pair{0, 12000u}, std::pair{1, 6u}}) {
        const LayoutCounts& of = counts[size_t(layout)];
        EXPECT_EQ(of.stlb_misses, misses);
        EXPECT_EQ(of.units[0].walk_cycles, 50 * misses);
        EXPECT_EQ(of.walker[0] + of.walker[1] + of.walker[2] + of.walker[3], 4 * misses);
    }
}

TEST(ElasticCuckoo, TheLanesRefuseItByName) { EXPECT_EQ(lanes_lack(cuckoo()), "page_table.format = example-elastic-cuckoo"); }

/// Small tables, so that they are resized often: random layouts, mappings of two epochs, and logs. A lost page is an error.
TEST(ElasticCuckoo, EnginesAgree) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 700);
        RandomMappings mappings(seed + 700);
        Platform p = random.platform();
        p.page_table_format = {"example-elastic-cuckoo", {{"lines", uint64_t{8} << seed % 3}, {"ways", 3 + seed % 4}}};
        p.mmu_design = std::array{"conventional", "baseline", "rmm", "anchor"}[seed % 4];
        p.allocator = "identity";
        MemoryStream stream = random.stream(3000);
        const Sampling sampling = seed % 3 == 2 ? Sampling{false, 3, 300, 200} : Sampling{};
        on_all_engines(p, stream, {mappings.mapping("two", 2, stream.header().accesses)}, sampling);
        if (seed % 4 < 2) on_all_engines(p, stream, {all_4kb(), random.layout(1)}, sampling);
        RandomLog logged(seed + 80);
        logged.make(2000);
        MemoryStream of_log = logged.stream();
        const auto counts = on_all_engines(p, of_log, {logged.layout(of_log.header())}, sampling);
        EXPECT_GT(counts[0].stlb_misses, 20u);
        if (HasFailure()) return;
    }
}

/// A root whose entries map 32MB, and tables of 8,192 entries.
class TwoLevels final : public PageTableFormat {
public:
    void touch(VirtAddr) override {}
    void entries(VirtAddr address, PageSize, WalkPath& path) override {
        const uint64_t begin = physical::of_format.begin;
        path = {{PhysAddr(begin + (address.value >> 25) * 8), 0, true, 0},
                {PhysAddr(begin + (uint64_t{1} << 30) + (address.value >> 12) * 8), 1, false, 0}};
    }
    TableLevels levels() const override { return {{"root", 25}}; }
};
const Registered two_levels(page_table_formats(), "example-two-levels", "a root whose entries map 32MB, for tests",
                            [](const DesignContext&) { return std::make_unique<TwoLevels>(); });

TEST(WalkCaches, KeepTheLevelsOfTheFormat) {
    Platform p = haswell();
    p.page_table_format = "example-two-levels", p.walk_cache = "example-last-root";
    MemoryStream stream = cycle(3 * 8192, 1);  // 96MB, aligned
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(counts.stlb_misses, 3u * 8192);
    EXPECT_EQ(counts.walker[0] + counts.walker[1] + counts.walker[2] + counts.walker[3], 3u * 8192 + 3);
}

TEST(WalkCaches, PagingStructureRefusesOtherLevelsByName) {
    Platform p = haswell();
    p.page_table_format = "example-two-levels";
    const AddressSpace space(synthetic_pools(), all_4kb());
    try {
        Walker walker(DesignContext{p, space});
        FAIL();
    } catch (const Refusal& refusal) {
        for (const char* word : {"pwc.kind = paging-structure", "example-two-levels", "root", "2^25"})
            EXPECT_NE(std::string(refusal.what()).find(word), std::string::npos) << refusal.what();
    }
}

}  // namespace
}  // namespace tessera::sim::testing
