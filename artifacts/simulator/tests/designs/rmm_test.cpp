// rmm_test.cpp - ranges beside a conventional second level: step by step, and closed forms on all engines.
#include <set>

#include "base/error.h"
#include "mmu/designs/range_array.h"
#include "mmu/designs/range_table.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_mappings.h"
#include "support/stepped_design.h"

namespace tessera::sim::testing {
namespace {

constexpr Translation hit = Translation::stlb_hit, miss = Translation::miss;

/// One L1 entry, so that all but repeated accesses miss L1.
Platform ranged(OwnNumbers own = {}) {
    Platform p = haswell();
    p.l1_4kb = {1, 1};
    p.mmu_design = {"rmm", std::move(own)};
    return p;
}

/// `chunks` chunks of `pages` pages each.
std::vector<MappingRow> equal_chunks(uint64_t chunks, uint64_t pages) {
    std::vector<MappingRow> rows;
    for (uint64_t c = 0; c < chunks; ++c) rows.push_back(heap_row(c * pages, 1000 + c * (pages + 1), pages));
    return rows;
}

TEST(Rmm, ServesAChunkAfterItsFirstMiss) {
    auto rows = equal_chunks(2, 10);
    rows.push_back(heap_row(20, 9000, 1));
    SteppedDesign d(ranged(), mapping_of_rows(rows));
    const auto first = d.load(4);
    EXPECT_EQ(first.found, miss);
    EXPECT_EQ(first.cycles, 8u);
    EXPECT_EQ(first.walker.size(), 4u);
    const auto by_range = d.load(9);
    EXPECT_EQ(by_range.found, hit);
    EXPECT_EQ(by_range.cycles, 8u);
    EXPECT_TRUE(by_range.walker.empty());
    const auto regular = d.load(4);
    EXPECT_EQ(regular.found, hit);
    EXPECT_EQ(regular.cycles, 7u);
    EXPECT_EQ(d.load(10).found, miss);  // the next chunk
    const auto single = d.load(20);
    EXPECT_EQ(single.found, miss);
    EXPECT_TRUE(single.background.empty());  // a chunk of one page is no range
    EXPECT_EQ(d.load(4).cycles, 7u);
    EXPECT_EQ(d.load(20).cycles, 7u);
    // Regular hits: 4, 4, 20. Range hits: 9. Misses: 4, 10, 20, which take the range's eight cycles.
    const std::vector<StructureCounts> expected = {{"regular", 7, 3, 21}, {"range", 7, 1, 32}};
    EXPECT_EQ(d.design().structures(), expected);
}

/// Ranges in order of recency, searched one by one: the oracle of RangeArray.
class ListedRanges {
public:
    explicit ListedRanges(size_t most) : most_(most) {}
    bool lookup(uint64_t page) {
        const auto found =
            std::find_if(ranges_.begin(), ranges_.end(), [page](const auto& r) { return page >= r.first && page < r.second; });
        if (found == ranges_.end()) return false;
        std::rotate(ranges_.begin(), found, found + 1);
        return true;
    }
    void forget(uint64_t begin, uint64_t end) {
        std::erase_if(ranges_, [&](const auto& r) { return r.first < end && begin < r.second; });
    }
    void enter(uint64_t begin, uint64_t end) {
        if (most_ == 0) return;
        forget(begin, end);
        if (ranges_.size() == most_) ranges_.pop_back();
        ranges_.insert(ranges_.begin(), {begin, end});
    }

    uint64_t most_recent_pages() const { return ranges_.front().second - ranges_.front().first; }

private:
    size_t most_;
    std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

/// Chunks of pages 0 to pages - 1 that change: some join their neighbour, and what a change moved falls into new pieces.
class ChangingChunks {
public:
    ChangingChunks(uint64_t pages, std::mt19937_64& random) : pages_(pages), random_(random) { change(0, pages); }
    void change(uint64_t begin, uint64_t end) {
        std::set<uint64_t> kept = {begin, std::min(end, pages_)};
        for (const uint64_t first : begins_)
            if (first < begin || first >= end)
                if (random_() % 8 != 0) kept.insert(first);
        for (uint64_t page = begin; page < end; page += 1 + random_() % 9) kept.insert(page);
        kept.insert(0), kept.erase(pages_);
        begins_.assign(kept.begin(), kept.end());
    }
    uint32_t number(uint64_t page) const { return uint32_t(std::upper_bound(begins_.begin(), begins_.end(), page) - begins_.begin() - 1); }
    uint64_t begin(uint32_t chunk) const { return begins_[chunk]; }
    uint64_t end(uint32_t chunk) const { return chunk + 1 < begins_.size() ? begins_[chunk + 1] : pages_; }
    size_t size() const { return begins_.size(); }

private:
    uint64_t pages_;
    std::mt19937_64& random_;
    std::vector<uint64_t> begins_;
};

TEST(RangeArray, IsAFullyAssociativeArrayWithLru) {
    std::mt19937_64 random(5);
    for (const size_t most : {0u, 1u, 2u, 7u, 32u, 100u}) {
        RangeArray array(most);
        ListedRanges oracle(most);
        const uint64_t pages = 8 * most + 20;
        ChangingChunks chunks(pages, random);
        const auto renumber = [&] { array.renumber(chunks.size(), [&](uint64_t page) { return chunks.number(page); }); };
        renumber();
        uint64_t hits = 0, parts = 0;
        for (int step = 0; step < 20000; ++step) {
            const uint64_t page = random() % pages;
            const uint32_t chunk = chunks.number(page);
            switch (random() % 64) {
                case 0: {
                    const uint64_t end = std::min(pages, page + 1 + random() % 9);
                    array.forget(page, end), oracle.forget(page, end);
                    chunks.change(page, end);
                    renumber();
                    break;
                }
                case 1:
                case 2:
                case 3:
                case 4:
                case 5:
                case 6:
                case 7:
                case 8:
                    array.enter(chunk, chunks.begin(chunk), chunks.end(chunk));
                    oracle.enter(chunks.begin(chunk), chunks.end(chunk));
                    break;
                default: {
                    const bool hit = array.lookup(chunk, page);
                    ASSERT_EQ(hit, oracle.lookup(page)) << most << " ranges, step " << step;
                    hits += hit;
                    parts += hit && oracle.most_recent_pages() < chunks.end(chunk) - chunks.begin(chunk);
                }
            }
        }
        EXPECT_EQ(hits > 0, most > 0);
        EXPECT_EQ(parts > 0, most > 0);
        EXPECT_FALSE(array.lookup(~uint32_t{0}, 0));  // a page outside the pools
    }
}

// Seven ranges, searched from the middle: row 3, then 1 or 5, then 0, 2, 4 or 6.
TEST(Rmm, SearchesTheSortedTableInTheBackground) {
    SteppedDesign d(ranged({{"btree", 0}}), mapping_of_rows(equal_chunks(7, 10)));
    const auto rows = [](std::vector<uint64_t> numbers) {
        for (uint64_t& number : numbers) number = physical::of_design.begin + 24 * number;
        return numbers;
    };
    EXPECT_EQ(d.load(0).background, rows({3, 1, 0}));
    EXPECT_EQ(d.load(39).background, rows({3}));
    EXPECT_EQ(d.load(50).background, rows({3, 5}));
    EXPECT_EQ(d.load(45).background, rows({3, 5, 4}));
    EXPECT_TRUE(d.load(46).background.empty());
}

// Seven ranges in nodes of four: the first child of the root has the ranges 0 to 2, the root 3 to 6.
TEST(Rmm, SearchesTheTreeInTheBackground) {
    SteppedDesign d(ranged(), mapping_of_rows(equal_chunks(7, 10)));  // the tree is the default
    const uint64_t root = physical::of_design.begin;
    EXPECT_EQ(d.load(0).background, (std::vector<uint64_t>{root, root + 64}));
    EXPECT_EQ(d.load(25).background, (std::vector<uint64_t>{root, root + 64}));
    EXPECT_EQ(d.load(30).background, (std::vector<uint64_t>{root}));
    EXPECT_EQ(d.load(69).background, (std::vector<uint64_t>{root}));
}

// Thirty ranges: five full nodes of children beside the root would hold 24, the last six are in the children of node 1.
TEST(Rmm, EveryRangeIsOnItsPathInTheTree) {
    SteppedDesign d(ranged({{"btree", 1}}), mapping_of_rows(equal_chunks(30, 10)));
    size_t loads[4] = {};
    for (uint64_t c = 0; c < 30; ++c) ++loads[d.load(c * 10).background.size()];
    EXPECT_EQ(loads[1], 4u);
    EXPECT_EQ(loads[2], 20u);
    EXPECT_EQ(loads[3], 6u);
    for (uint64_t c = 0; c < 30; ++c) EXPECT_EQ(d.load(c * 10 + 5).found, hit);  // all entered
}

TEST(Rmm, ForgetsRangesThatAChangeMoves) {
    const auto mapping = std::make_shared<const Mapping>(
        Mapping{"two", {{0, {heap_row(0, 1000, 10), heap_row(10, 3000, 10)}}, {9, {heap_row(4, 5000, 2)}}}});
    SteppedDesign d(ranged(), layout_of(mapping));
    d.load(1), d.load(11);
    d.change();
    EXPECT_EQ(d.load(12).found, hit);
    EXPECT_EQ(d.load(1).found, hit);  // its regular entry is unchanged
    EXPECT_EQ(d.load(2).found, miss);
    EXPECT_EQ(d.load(3).found, hit);  // the new range of pages 0 to 3
    EXPECT_EQ(d.load(4).found, miss);
    EXPECT_EQ(d.load(5).found, hit);
    EXPECT_EQ(d.load(6).found, miss);
}

TEST(Rmm, ARangeThatEntersReplacesThePartOfItThatIsThere) {
    const auto mapping = std::make_shared<const Mapping>(
        Mapping{"grows", {{0, {heap_row(0, 1000, 4), heap_row(20, 4000, 4)}}, {9, {heap_row(4, 1004, 4)}}}});
    SteppedDesign d(ranged({{"entries", 2}}), layout_of(mapping));
    d.load(20), d.load(0);
    d.change();
    EXPECT_EQ(d.load(5).found, miss);  // now pages 0 to 7: the range of pages 0 to 3 is gone, that of 20 to 23 stays
    EXPECT_EQ(d.load(2).found, hit);
    EXPECT_EQ(d.load(21).found, hit);
}

MemoryStream cycle(uint64_t pages, uint64_t rounds, uint64_t stride_pages = 1) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t r = 0; r < rounds; ++r)
        for (uint64_t p = 0; p < pages; ++p) builder.load(block, heap_base + p * stride_pages * 4096);
    return builder.finish();
}

TEST(Rmm, MissesOncePerChunkIfAllFit) {
    Platform p = ranged();
    p.stlb = {};
    for (const uint64_t chunks : {1, 8, 32}) {
        SCOPED_TRACE(chunks);
        MemoryStream stream = cycle(chunks * 64, 3);
        const LayoutCounts counts = on_all_engines(p, stream, {mapping_of_rows(equal_chunks(chunks, 64))})[0];
        EXPECT_EQ(counts.stlb_misses, chunks);
        EXPECT_EQ(counts.stlb_hits, chunks * 64 * 3 - chunks);
    }
}

TEST(Rmm, OneChunkTooManyMissesAlways) {  // LRU: the range asked for next is always the one just evicted
    Platform p = ranged();
    p.stlb = {};
    MemoryStream stream = cycle(33, 5, 64);
    const LayoutCounts counts = on_all_engines(p, stream, {mapping_of_rows(equal_chunks(33, 64))})[0];
    EXPECT_EQ(counts.stlb_misses, 33u * 5);
    EXPECT_EQ(counts.stlb_hits, 0u);
    const std::array<uint64_t, 4>& levels = counts.design.background;
    // Nine nodes: 4 ranges in the root, 5 x 4 in its children, the last 9 in those of the first child. A round takes
    // 4 x 1 + 20 x 2 + 9 x 3 loads.
    EXPECT_EQ(levels[0] + levels[1] + levels[2] + levels[3], 71u * 5);
}

TEST(Rmm, WithoutRangesEqualsTheConventionalDesign) {
    MemoryStream stream = cycle(1500, 4);
    const Layout mapping = mapping_of_rows(equal_chunks(30, 50));
    Platform p = haswell();
    const LayoutCounts conventional = on_all_engines(p, stream, {mapping})[0];
    p.mmu_design = {"rmm", {{"entries", 0}}};
    LayoutCounts rmm = on_all_engines(p, stream, {mapping})[0];
    EXPECT_EQ(rmm.design.background_cycles, 0u);
    rmm.design = conventional.design;
    EXPECT_EQ(rmm, conventional);
}

TEST(Rmm, NeedsAMapping) {
    try {
        SteppedDesign(ranged(), all_4kb());
        FAIL();
    } catch (const Refusal& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("mmu.design = rmm"), std::string::npos);
    }
}

}  // namespace
}  // namespace tessera::sim::testing
