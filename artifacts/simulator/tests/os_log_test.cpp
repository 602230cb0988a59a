// Logs of an operating system: pages and chunks against a page table kept page by page, tables by hand, engines against each other.
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "mmu/design.h"
#include "os/os_log.h"
#include "os/physical_map.h"
#include "pagetable/format.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_log.h"

namespace tessera::sim::testing {
namespace {

using State = RandomLog::State;

uint64_t first_page(unsigned pool) { return (pool == 0 ? heap_base : anon_base) >> 12; }

std::vector<PageChunk> chunks_of(const State& state) {
    std::vector<PageChunk> found;
    unsigned pool_before = 0;
    for (const auto& [key, page] : state) {
        const uint64_t number = first_page(key.first) + key.second;
        const bool goes_on = !found.empty() && pool_before == key.first && found.back().page + found.back().pages == number &&
                             found.back().frame + found.back().pages == page.frame;
        if (goes_on) ++found.back().pages;
        else found.push_back({number, page.frame, 1});
        pool_before = key.first;
    }
    return found;
}

/// The pages as the log has them at an access, compared with the state.
void expect_equal(const MappedPages& pages, const State& state, bool with_chunks) {
    for (unsigned pool = 0; pool < 2; ++pool)
        for (uint64_t page = 0; page < RandomLog::pages; ++page) {
            const VirtAddr address((first_page(pool) + page) << 12 | 8);
            const auto expected = state.find({pool, page});
            if (expected == state.end()) {
                ASSERT_THROW((void)pages.row(address), Unmapped) << pool << " " << page;
                continue;
            }
            ASSERT_EQ(pages.physical(address).value, expected->second.frame * 4096 + 8) << pool << " " << page;
            ASSERT_EQ(pages.row(address).size, expected->second.large ? PageSize::large_2mb : PageSize::small_4kb);
            if (!with_chunks) continue;
            const PageChunk chunk = pages.chunk(address);
            ASSERT_EQ(pages.chunks().at(pages.row(address).chunk), chunk);
            ASSERT_LT((address.value >> 12) - chunk.page, chunk.pages);
        }
    if (with_chunks) {
        ASSERT_EQ(pages.chunks(), chunks_of(state));
    }
}

TEST(LivePages, FollowAPageTableKeptPageByPage) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        RandomLog random(seed);
        std::map<size_t, State> states;
        random.make(4000, [&](size_t access, const State& state) {
            if (access % 400 == 399) states[access] = state;
        });
        const MemoryStream stream = random.stream();
        const Layout layout = random.layout(stream.header());
        MappedPages pages(layout.mapping, stream.header().pools);
        for (const auto& [access, state] : states) {
            while (pages.next_change() <= access) pages.change();
            expect_equal(pages, state, seed % 2 != 0);  // without chunks, nothing counts them until the end
            if (HasFatalFailure()) return;
        }
        EXPECT_EQ(pages.chunks(), chunks_of(states.rbegin()->second)) << seed;
    }
}

TEST(LivePages, ARowFoundBeforeChunksAreCountedGetsItsChunk) {
    RandomLog random(3);
    random.make(500);
    const MemoryStream stream = random.stream();
    MappedPages pages(random.layout(stream.header()).mapping, stream.header().pools);
    while (pages.next_change() != ~uint64_t{0}) pages.change();
    const auto& [key, page] = *random.state().rbegin();
    const MappedRow& row = pages.row(VirtAddr((first_page(key.first) + key.second) << 12));
    const std::vector<PageChunk>& chunks = pages.chunks();
    ASSERT_LT(row.chunk, chunks.size());
    EXPECT_EQ(row.chunk, chunks.size() - 1);
}

TEST(LivePages, ChangesAreSortedAndJoined) {
    os::Header header;
    header.pools = {{1, anon_base, uint64_t{4} << 30}};
    trace::Header of;
    of.pools = {{trace::PoolKind::anon, anon_base, uint64_t{4} << 30, 0}};
    const auto path = std::filesystem::temp_directory_path() / ("joined-" + std::to_string(getpid()) + ".oslog");
    os::Writer writer(path.string(), header);
    for (const uint64_t page : {7, 3, 4, 9}) writer.add({0, 5, os::Kind::map, 1, 1, false, false, true, page, 1, 100 + page, {}});
    writer.add({1, 6, os::Kind::upgrade, 4, 1, false, false, true, 9, 1, 109, {}});
    writer.finish();
    const Mapping mapping = read_os_log(path.string(), of);
    std::filesystem::remove(path);
    EXPECT_EQ(mapping.log->faults, 5u);
    MappedPages pages(std::make_shared<Mapping>(mapping), of.pools);
    EXPECT_EQ(pages.next_change(), 5u);
    const auto range = [](uint64_t page, uint64_t count) {
        return VirtRange{VirtAddr(anon_base + page * 4096), VirtAddr(anon_base + (page + count) * 4096)};
    };
    EXPECT_EQ(pages.change(), (std::vector{range(3, 2), range(7, 1), range(9, 1)}));
    EXPECT_EQ(pages.next_change(), 6u);
    EXPECT_EQ(pages.change(), (std::vector{range(9, 1)}));  // a fault that changes a right: the processor forgets the page, too
    EXPECT_EQ(pages.next_change(), ~uint64_t{0});
}

/// A log with the pool of files and a range of huge pages outside: what is not mapped there is outside, as without a log.
TEST(LivePages, PagesBesideThePoolsOfTheTrace) {
    constexpr uint64_t gb = uint64_t{1} << 30, file_base = 256 * gb, far_base = 512 * gb;
    os::Header header;
    header.pools = {{1, anon_base, 4 * gb}, {os::file_pool, file_base, gb}, {os::first_outside_pool, far_base, 2 * gb}};
    trace::Header of;
    of.pools = {{trace::PoolKind::anon, anon_base, 4 * gb, 0}};
    const auto path = std::filesystem::temp_directory_path() / ("beside-" + std::to_string(getpid()) + ".oslog");
    {
        os::Writer writer(path.string(), header);
        os::Record file{0, 0, os::Kind::map, static_cast<uint8_t>(os::Cause::file), os::file_pool}, far = file, gone = file;
        file.page = 3, file.frame = 77, file.tables = {9, 20, 30, 1000};
        far.pool = os::first_outside_pool, far.large = far.gigantic = true;
        far.page = 1 << 18, far.pages = 1 << 18, far.frame = 5 << 18, far.tables = {9, 21};
        gone.kind = os::Kind::unmap, gone.cause = static_cast<uint8_t>(os::Loss::reclaimed), gone.access = 8, gone.page = 3;
        for (const os::Record& record : {file, far, gone}) writer.add(record);
        writer.finish();
    }
    MappedPages pages(std::make_shared<Mapping>(read_os_log(path.string(), of)), of.pools);
    pages.change();
    const VirtAddr cached(file_base + 3 * 4096 + 8), not_cached(file_base + 4 * 4096), huge(far_base + gb + 5 * 4096 + 16);
    EXPECT_EQ(pages.physical(cached).value, 77u * 4096 + 8);
    EXPECT_EQ(pages.row(not_cached).frame, outside_frames + (not_cached.value >> 12));
    EXPECT_EQ(pages.row(huge).size, PageSize::huge_1gb);
    EXPECT_EQ(pages.physical(huge).value, 5 * gb + 5 * 4096 + 16);
    EXPECT_THROW((void)pages.row(VirtAddr(anon_base)), Unmapped);
    TableFrames::Path frames;
    EXPECT_EQ(pages.tables()->tables(huge, frames), 2u);
    EXPECT_EQ(frames[1], 21u);
    EXPECT_EQ(pages.tables()->tables(cached, frames), 4u);
    EXPECT_EQ(pages.chunks().size(), 2u);
    EXPECT_EQ(pages.next_change(), 8u);
    pages.change();
    EXPECT_EQ(pages.row(cached).frame, outside_frames + (cached.value >> 12));
    EXPECT_EQ(pages.chunks().size(), 1u);
    // A pool that overlaps another one is no log of ours.
    header.pools.back().base = file_base + gb / 2;
    {
        os::Writer writer(path.string(), header);
        writer.finish();
    }
    EXPECT_THROW(read_os_log(path.string(), of), Refusal);
    std::filesystem::remove(path);
}

/// By hand: a page of 4KB with the tables 9, 20, 30, 1000, then a 2MB page with the same upper tables.
TEST(TableFrames, AWalkReadsTheTablesOfTheLog) {
    os::Header header;
    header.pools = {{1, anon_base, uint64_t{4} << 30}};
    trace::Header of;
    of.pools = {{trace::PoolKind::anon, anon_base, uint64_t{4} << 30, 0}};
    const auto path = std::filesystem::temp_directory_path() / ("tables-" + std::to_string(getpid()) + ".oslog");
    os::Writer writer(path.string(), header);
    writer.add({0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {9, 20, 30, 1000}});
    writer.add({0, 0, os::Kind::map, 1, 1, true, false, true, 1024, 512, 5120, {}});
    writer.finish();
    const auto log = std::make_shared<Mapping>(read_os_log(path.string(), of));
    std::filesystem::remove(path);
    const Platform platform = haswell();
    AddressSpace space(of.pools, layout_of(log));
    const auto radix = page_table_formats().make("radix", DesignContext{platform, space});
    space.mapping()->change();
    const VirtAddr small(anon_base + 5 * 4096), large(anon_base + 1024 * 4096), outside(0x401000);
    for (const VirtAddr address : {small, large, outside}) radix->touch(address);
    WalkPath walk;
    radix->entries(small, PageSize::small_4kb, walk);
    const auto entry = [](uint64_t frame, uint64_t index) { return page_table_base + frame * 4096 + index * 8; };
    ASSERT_EQ(walk.size(), 4u);
    EXPECT_EQ(walk[0].address.value, entry(9, 0));        // 64GB lie in the first 512GB
    EXPECT_EQ(walk[1].address.value, entry(20, 64));      // and in GB 64
    EXPECT_EQ(walk[2].address.value, entry(30, 0));
    EXPECT_EQ(walk[3].address.value, entry(1000, 5));
    radix->entries(large, PageSize::large_2mb, walk);
    ASSERT_EQ(walk.size(), 3u);
    EXPECT_EQ(walk[2].address.value, entry(30, 2));
    radix->entries(large, PageSize::small_4kb, walk);  // a design that ignores 2MB pages: tables of its own
    ASSERT_EQ(walk.size(), 4u);
    EXPECT_TRUE(physical::own_tables.has(walk[0].address));
    radix->entries(outside, PageSize::small_4kb, walk);
    EXPECT_TRUE(physical::own_tables.has(walk[3].address));
    Platform five = haswell();
    five.page_table_levels = 5;
    EXPECT_THROW(page_table_formats().make("radix", DesignContext{five, space}), Refusal);
}

/// Frames of tables by hand, below and above 128GB of the machine, and tables of the simulator for an address that the log does not map: all
/// entries have addresses of their own, whose low 48 bits are the machine's.
TEST(TableFrames, NoTableSharesAnAddressOnALargeMachine) {
    os::Header header;
    header.pools = {{1, anon_base, uint64_t{4} << 30}};
    trace::Header of;
    of.pools = {{trace::PoolKind::anon, anon_base, uint64_t{4} << 30, 0}};
    const auto path = std::filesystem::temp_directory_path() / ("above-" + std::to_string(getpid()) + ".oslog");
    const Platform platform = haswell();
    for (const uint32_t first : {9u, uint32_t(physical::table_frames), 1u << 26, 1u << 27, 1u << 28, ~4u}) {
        os::Writer writer(path.string(), header);
        writer.add({0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {first, first + 1, first + 2, first + 3}});
        writer.finish();
        AddressSpace space(of.pools, layout_of(std::make_shared<Mapping>(read_os_log(path.string(), of))));
        const auto radix = page_table_formats().make("radix", DesignContext{platform, space});
        space.mapping()->change();
        const VirtAddr mapped(anon_base + 5 * 4096);
        radix->touch(mapped);
        WalkPath walk;
        radix->entries(mapped, PageSize::small_4kb, walk);
        std::set<uint64_t> frames;
        for (size_t i = 0; i < walk.size(); ++i) {
            EXPECT_EQ(walk[i].address.value % address_limit >> 12, first + i);
            EXPECT_TRUE(physical::is_logged(walk[i].address));
            frames.insert(walk[i].address.value >> 12);
        }
        radix->entries(VirtAddr(0x401000), PageSize::small_4kb, walk);
        for (const EntryRead& own : walk) frames.insert(own.address.value >> 12);
        for (const physical::Region region : {physical::of_design, physical::far, physical::of_format})
            EXPECT_EQ(std::distance(frames.lower_bound(region.begin >> 12), frames.lower_bound(region.end >> 12)), 0) << first;
        EXPECT_EQ(frames.size(), 8u) << first;
    }
    std::filesystem::remove(path);
}

class EnginesUnderALog : public ::testing::TestWithParam<const char*> {};

TEST_P(EnginesUnderALog, GiveEqualCounts) {
    for (uint64_t seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomLog random(seed + 50);
        random.make(4000);
        MemoryStream stream = random.stream();
        const Layout layout = random.layout(stream.header());
        Platform platform = haswell();
        platform.mmu_design = GetParam();
        if (seed % 2) platform.allocator = "mapped";
        const AddressSpace space(stream.header().pools, layout);
        const bool full = designs().make(platform.mmu_design, DesignContext{platform, space})->needs_caches();
        const auto counts = on_all_engines(platform, stream, {layout}, seed % 3 == 2 && !full ? Sampling{false, 3, 300, 200} : Sampling{});
        EXPECT_GT(counts[0].stlb_misses, 50u);
        if (::testing::Test::HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EnginesUnderALog,
                         ::testing::Values("conventional", "noop", "thp", "baseline", "rmm", "anchor", "cluster-2mb", "nested",
                                           "hvc-delayed-tlb"),
                         [](const auto& info) {
                             std::string name = info.param;
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

TEST(OsLog, ALogOfAnotherTraceIsNamed) {
    RandomLog random(1);
    random.make(10);
    const MemoryStream stream = random.stream();
    const auto path = std::filesystem::temp_directory_path() / ("other-" + std::to_string(getpid()) + ".oslog");
    os::Header header = log_header(stream.header());
    header.trace_checksum = "feed";
    {
        os::Writer writer(path.string(), header);
        writer.finish();
    }
    const auto message = [&] {
        try {
            read_os_log(path.string(), stream.header());
        } catch (const Refusal& refusal) {
            return std::string(refusal.what());
        }
        return std::string();
    };
    EXPECT_NE(message().find("os/other-trace"), std::string::npos) << message();
    header = log_header(stream.header());
    const os::Record page{0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {}},
        source{0, 0, os::Kind::source, 0, 1, false, false, false, 5, 1, 55};
    os::Record copy = page, of_zeros = source;
    copy.cause = static_cast<uint8_t>(os::Cause::copy), of_zeros.frame = os::zero_frame;
    for (const std::vector<os::Record>& wrong :
         {std::vector<os::Record>{{0, 0, os::Kind::map, 1, 1, false, false, true, uint64_t{1} << 40, 1, 7, {}}},
          {{0, 0, os::Kind::map, 1, 1, true, false, true, 5, 512, 512, {}}},
          {{0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {9, 20, 30, ~0u}}},
          {{0, 0, os::Kind::area_live, 0, 1, false, false, false, uint64_t{1} << 40, 1, 3, {}}},
          {source},
          {page, source},
          {copy, of_zeros}}) {
        {
            os::Writer writer(path.string(), header);
            for (const os::Record& record : wrong) writer.add(record);
            writer.finish();
        }
        EXPECT_NE(message().find("os/log-range"), std::string::npos) << message();
    }
    std::filesystem::resize_file(path, 20);
    EXPECT_NE(message().find("os/log-cut"), std::string::npos) << message();
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace tessera::sim::testing
