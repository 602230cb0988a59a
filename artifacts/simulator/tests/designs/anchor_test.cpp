// anchor_test.cpp - the anchor TLB step by step and by closed forms, and Algorithm 1 by hand and against Park's Table 3.6.
#include "mmu/designs/anchor_distance.h"

#include "base/error.h"
#include "os/physical_map.h"
#include "support/engines.h"
#include "support/mapping_oracle.h"
#include "support/platforms.h"
#include "support/random_inputs.h"
#include "support/random_mappings.h"
#include "support/stepped_design.h"

namespace tessera::sim::testing {
namespace {

constexpr Translation hit = Translation::stlb_hit, miss = Translation::miss;

ChunkHistogram uniform(uint64_t least, uint64_t most) {
    ChunkHistogram histogram;
    for (uint64_t pages = least; pages <= most; ++pages) histogram[pages] = 1;
    return histogram;
}

TEST(AnchorDistance, FollowsAlgorithm1ByHand) {
    EXPECT_EQ(anchor_distance({{62, 1}}, AnchorCost::count), 8u);
    EXPECT_EQ(anchor_cost({{62, 1}}, 8, AnchorCost::count), 13u * 65536);  // 7 anchors and 6 pages
    EXPECT_EQ(anchor_distance({{62, 1}}, AnchorCost::printed), 4u);
    EXPECT_EQ(anchor_cost({{62, 1}}, 4, AnchorCost::printed), 65536u * 575 / 100);  // 15/4 + 2
    EXPECT_EQ(anchor_distance({{1541, 1}}, AnchorCost::count), 1024u);
    EXPECT_EQ(anchor_cost({{1541, 1}}, 1024, AnchorCost::count), 7u * 65536);  // an anchor, a 2MB page, 5 pages
    EXPECT_EQ(anchor_distance({{1, 9}}, AnchorCost::count), 2u);              // all equal: the smallest
    EXPECT_EQ(anchor_distance({{65536, 3}}, AnchorCost::count), 65536u);
}

TEST(AnchorDistance, OfUniformChunksIsThatOfPark) {
    EXPECT_EQ(anchor_distance(uniform(1, 16), AnchorCost::count), 4u);
    EXPECT_EQ(anchor_distance(uniform(1, 512), AnchorCost::count), 32u);
    EXPECT_EQ(anchor_distance(uniform(512, 65536), AnchorCost::count), 256u);
    EXPECT_EQ(anchor_distance(uniform(1, 16), AnchorCost::printed), 4u);
    EXPECT_EQ(anchor_distance(uniform(1, 512), AnchorCost::printed), 8u);
    EXPECT_EQ(anchor_distance(uniform(512, 65536), AnchorCost::printed), 64u);
}

/// One L1 entry for all page sizes, so that all but repeated accesses miss L1.
Platform anchored(uint64_t distance) {
    Platform p = haswell();
    p.l1_4kb = {1, 1}, p.l1_2mb_in_4kb = 1;
    p.mmu_design = {"anchor", {{"distance_pages", distance}}};
    return p;
}

TEST(Anchor, ServesThePagesOfItsChunkOnly) {
    SteppedDesign d(anchored(4), mapping_of_rows({heap_row(0x40, 1000, 2), heap_row(0x42, 5000, 1)}));
    EXPECT_EQ(d.load(0x41).found, miss);
    const auto by_anchor = d.load(0x40);
    EXPECT_EQ(by_anchor.found, hit);
    EXPECT_EQ(by_anchor.cycles, 8u);
    EXPECT_TRUE(by_anchor.walker.empty());
    const auto outside = d.load(0x42);
    EXPECT_EQ(outside.found, miss);
    EXPECT_EQ(outside.cycles, 8u);
    EXPECT_TRUE(outside.background.empty());  // the anchor was found: nothing to load
    EXPECT_EQ(d.load(0x41).found, hit);
    const auto regular = d.load(0x42);
    EXPECT_EQ(regular.found, hit);
    EXPECT_EQ(regular.cycles, 7u);
    // Five L1 misses. Regular entries hit once (0x42), anchors twice (0x40, 0x41); each look-up of an anchor adds a cycle.
    const std::vector<StructureCounts> expected = {{"regular", 5, 1, 35}, {"anchor", 4, 2, 4}};
    EXPECT_EQ(d.design().structures(), expected);
}

TEST(Anchor, DoesNotReachBeforeItsChunk) {  // page 0x41 is the AVPN's neighbour in another chunk
    SteppedDesign d(anchored(4), mapping_of_rows({heap_row(0x40, 1000, 1), heap_row(0x41, 5000, 3)}));
    EXPECT_EQ(d.load(0x41).found, miss);
    EXPECT_EQ(d.load(0x42).found, miss);  // the AVPN 0x40 has contiguity 1: regular entries only
    EXPECT_EQ(d.load(0x40).found, miss);
    EXPECT_EQ(d.load(0x42).cycles, 7u);
    EXPECT_EQ(d.load(0x43).found, miss);
}

// The first region that is touched has the tables 1 (PDPT), 2 (PD), 3 (PT).
constexpr uint64_t first_pt = page_table_base + 3 * 4096;

TEST(Anchor, LoadsItsEntryInTheBackgroundUnlessTheLineIsThere) {
    SteppedDesign d(anchored(16), mapping_of_rows({heap_row(0, 1000, 64)}));
    const auto other_line = d.load(9);
    EXPECT_EQ(other_line.walker.size(), 4u);
    EXPECT_EQ(other_line.background, std::vector<uint64_t>{first_pt});
    EXPECT_EQ(d.load(3).found, hit);
    EXPECT_TRUE(d.load(23).background.empty());  // entries 16 to 23 are one line
    EXPECT_EQ(d.load(63).background, std::vector<uint64_t>{first_pt + 48 * 8});
}

TEST(Anchor, WaitsForItsEntryInTheAblation) {
    Platform p = anchored(16);
    p.mmu_design.own["background_fills"] = 0;
    SteppedDesign d(p, mapping_of_rows({heap_row(0, 1000, 64)}));
    const auto step = d.load(9);
    EXPECT_EQ(step.walker.size(), 5u);
    EXPECT_EQ(step.walker.back(), first_pt);
    EXPECT_TRUE(step.background.empty());
}

TEST(Anchor, OfAnotherRegionIsReadFromTheLinearTable) {
    const Layout mapping = mapping_of_rows({heap_row(0, 1000, 2048)});
    SteppedDesign other(anchored(1024), mapping);
    EXPECT_EQ(other.load(600).background, std::vector<uint64_t>{physical::far.begin + heap_base / 4096 * 8});
    EXPECT_EQ(other.load(0).found, hit);
    EXPECT_EQ(other.load(1024).found, miss);
    SteppedDesign same(anchored(1024), mapping);
    EXPECT_EQ(same.load(1500).background, std::vector<uint64_t>{first_pt});  // AVPN 1024 begins the region of page 1500
}

TEST(Anchor, CoversLargePagesOnlyIfItIsAsLong) {
    const Layout mapping = mapping_of_rows({heap_row(0, 512, 512, PageSize::large_2mb), heap_row(512, 1024, 512)});
    SteppedDesign shorter(anchored(256), mapping);
    EXPECT_TRUE(shorter.load(300).background.empty());
    EXPECT_EQ(shorter.load(600).found, miss);
    EXPECT_EQ(shorter.load(7).cycles, 7u);  // the regular entry of the 2MB page
    SteppedDesign longer(anchored(1024), mapping);
    EXPECT_EQ(longer.load(600).found, miss);
    const auto by_anchor = longer.load(7);
    EXPECT_EQ(by_anchor.found, hit);
    EXPECT_EQ(by_anchor.cycles, 8u);
    EXPECT_EQ(longer.load(8).found, Translation::l1_hit);  // L1 has the 2MB page
}

/// `count` 2MB pages of the heap, each alone in its chunk.
Layout lone_large_pages(uint64_t count) {
    std::vector<MappingRow> rows;
    for (uint64_t i = 0; i < count; ++i) rows.push_back(heap_row(i * 512, i * 1024, 512, PageSize::large_2mb));
    return mapping_of_rows(rows);
}

// Chunks of 512 pages cost the same for all distances from 512 on, so 512 is chosen. There, and for every larger distance, a 2MB page
// that is alone in its chunk is a regular entry: all counts are those of thp.
TEST(Anchor, ALargePageAloneInItsChunkIsARegularEntry) {
    const Layout mapping = lone_large_pages(6);
    const MappedPages pages(mapping.mapping, synthetic_pools());
    EXPECT_EQ(anchor_distance(histogram_of(pages.chunks()), AnchorCost::count), 512u);
    for (const uint64_t distance : {0, 256, 512, 1024, 65536}) {
        SCOPED_TRACE(distance);
        SteppedDesign d(anchored(distance), mapping);
        for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(d.load(i * 512 + 5).found, miss);
        for (uint64_t i = 0; i < 6; ++i) {
            const auto regular = d.load(i * 512 + 300);
            EXPECT_EQ(regular.found, hit);
            EXPECT_EQ(regular.cycles, 7u);
        }
        EXPECT_EQ(d.design().structures().at(1).hits, 0u);
    }
}

// Two 2MB pages are one chunk. A distance of 1,024 has an anchor for both; one of 512 fills each, so they stay regular. One 4KB page
// behind a 2MB page is enough to reach beyond it.
TEST(Anchor, ALargePageIsServedByAnAnchorThatReachesBeyondIt) {
    const Layout two = mapping_of_rows({heap_row(0, 512, 1024, PageSize::large_2mb)});
    for (const auto& [distance, found, cycles] : {std::tuple{512, miss, 8u}, std::tuple{1024, hit, 8u}}) {
        SteppedDesign d(anchored(distance), two);
        EXPECT_EQ(d.load(0).found, miss);
        const auto second = d.load(600);
        EXPECT_EQ(second.found, found) << distance;
        EXPECT_EQ(second.cycles, cycles) << distance;
    }
    for (const uint64_t behind : {0, 1}) {
        std::vector<MappingRow> rows = {heap_row(0, 512, 512, PageSize::large_2mb)};
        if (behind != 0) rows.push_back(heap_row(512, 1024, behind));
        SteppedDesign d(anchored(1024), mapping_of_rows(rows));
        d.load(0);
        EXPECT_EQ(d.load(0).found, Translation::l1_hit);
        EXPECT_EQ(d.design().structures().at(1).accesses, 1u);
        if (behind == 0) continue;
        EXPECT_EQ(d.load(512).found, hit);  // by the anchor, which the 2MB page filled
        EXPECT_EQ(d.load(0).cycles, 8u);
    }
}

TEST(Anchor, NeighboursAreInDifferentSets) {
    Platform p = anchored(4);
    p.stlb = {4, 1};
    SteppedDesign d(p, mapping_of_rows({heap_row(0, 1000, 16)}));
    for (const uint64_t page : {0, 4, 8, 12}) EXPECT_EQ(d.load(page).found, miss);
    for (const uint64_t page : {1, 5, 9, 13}) EXPECT_EQ(d.load(page).found, hit);
}

TEST(Anchor, ForgetsWhatAChangeMoves) {
    const auto moved = std::make_shared<const Mapping>(Mapping{"two", {{0, {heap_row(0, 1000, 8)}}, {9, {heap_row(3, 5000, 1)}}}});
    SteppedDesign d(anchored(4), layout_of(moved));
    EXPECT_EQ(d.load(1).found, miss);
    EXPECT_EQ(d.load(5).found, miss);
    d.change();
    EXPECT_EQ(d.load(6).found, hit);   // its anchor serves pages 4 to 7
    EXPECT_EQ(d.load(2).found, miss);  // a new anchor of contiguity 3
    EXPECT_EQ(d.load(0).found, hit);
    EXPECT_EQ(d.load(3).found, miss);
}

// Pages 0 to 4 are a chunk; then pages 5 and 6 get the frames behind it. The anchor of pages 4 to 7 had a contiguity of 1 and did not
// enter; that of 0 reaches to its distance, so nothing changes for it. With a distance of 8, the anchor of 0 grows, and the one that the
// TLB holds goes.
TEST(Anchor, ForgetsAnAnchorWhoseChunkGrows) {
    const auto grown = std::make_shared<const Mapping>(Mapping{"grown", {{0, {heap_row(0, 1000, 5)}}, {9, {heap_row(5, 1005, 2)}}}});
    for (const auto& [distance, after] : {std::pair{4, hit}, std::pair{8, miss}}) {
        SCOPED_TRACE(distance);
        SteppedDesign d(anchored(distance), layout_of(grown));
        EXPECT_EQ(d.load(1).found, miss);
        EXPECT_EQ(d.load(2).found, hit);
        d.change();
        EXPECT_EQ(d.load(3).found, after);
        EXPECT_EQ(d.load(6).found, distance == 8 ? hit : miss);  // by the new anchor
    }
}

// Page 5 comes with a frame that does not follow, so the contiguity of the anchor before it stays, and the anchor too.
TEST(Anchor, KeepsAnAnchorWhoseNeighbourIsAnotherChunk) {
    const auto other = std::make_shared<const Mapping>(Mapping{"other", {{0, {heap_row(0, 1000, 5)}}, {9, {heap_row(5, 9000, 2)}}}});
    SteppedDesign d(anchored(8), layout_of(other));
    EXPECT_EQ(d.load(1).found, miss);
    d.change();
    EXPECT_EQ(d.load(3).found, hit);
    EXPECT_EQ(d.load(5).found, miss);
}

/// Table 3.2 of Park with lists: entries of a set in the order of use, contiguities counted page by page. Pages are those of the heap.
class SlowAnchors {
public:
    SlowAnchors(uint64_t distance, Geometry geometry) : distance_(distance), ways_(geometry.ways), sets_(geometry.sets()) {}

    void change(const MappingOracle::Epoch& epoch) {
        epoch_ = &epoch;
        const auto moved = [&](uint64_t from, uint64_t pages) {
            const auto first = epoch.changed.lower_bound({heap, from});
            return first != epoch.changed.end() && *first < MappingOracle::Key{heap, from + pages};
        };
        if (l1_.pages != 0 && moved(l1_.page, l1_.pages)) l1_ = {};
        for (std::vector<Entry>& set : sets_)
            std::erase_if(set, [&](const Entry& entry) {
                if (!entry.is_anchor) return moved(entry.page, entry.pages);
                return moved(entry.page, reach(entry.contiguity)) || reach(contiguity(entry.page)) != reach(entry.contiguity);
            });
    }
    /// The outcome and the look-up cycles.
    std::pair<Translation, uint32_t> load(uint64_t page) {
        const uint64_t pages = epoch_->pages.at({heap, page}).size == PageSize::large_2mb ? 512 : 1;
        const uint64_t avpn = page / distance_ * distance_;
        const Entry regular{false, page / pages * pages, pages, 0}, anchor{true, avpn, distance_, contiguity(avpn)};
        if (l1_ == regular) return {Translation::l1_hit, 0};
        l1_ = regular;
        if (use(regular)) return {hit, 7};
        const std::optional<Entry> found = use(anchor);
        const uint64_t behind = page - avpn;
        if (found && behind < found->contiguity) return {hit, 8};
        const bool beyond = reach(anchor.contiguity) > pages && behind < anchor.contiguity;
        enter(!found && beyond ? anchor : regular);
        return {miss, 8};
    }

private:
    static constexpr auto heap = trace::PoolKind::heap;
    struct Entry {
        bool is_anchor = false;
        uint64_t page = 0, pages = 0;  ///< the page or AVPN, and the length of the page or the distance
        uint64_t contiguity = 0;       ///< of an anchor
        bool operator==(const Entry&) const = default;
    };
    uint64_t reach(uint64_t contiguity) const { return std::min(contiguity, distance_); }
    uint64_t contiguity(uint64_t page) const {
        uint64_t pages = 0;
        for (auto at = epoch_->pages.find({heap, page}), first = at; at != epoch_->pages.end() && pages < 65536; ++at, ++pages)
            if (at->first != MappingOracle::Key{heap, page + pages} || at->second.frame != first->second.frame + pages) break;
        return pages;
    }
    std::vector<Entry>& set_of(const Entry& entry) { return sets_[(heap_base / 4096 + entry.page) / entry.pages % sets_.size()]; }
    /// The entry of this name as the TLB holds it, which is then the most recent one.
    std::optional<Entry> use(const Entry& entry) {
        std::vector<Entry>& set = set_of(entry);
        for (size_t i = 0; i < set.size(); ++i)
            if (set[i].is_anchor == entry.is_anchor && set[i].page == entry.page && set[i].pages == entry.pages) {
                std::rotate(set.begin(), set.begin() + ptrdiff_t(i), set.begin() + ptrdiff_t(i) + 1);
                return set[0];
            }
        return std::nullopt;
    }
    void enter(const Entry& entry) {
        std::vector<Entry>& set = set_of(entry);
        set.insert(set.begin(), entry);
        if (set.size() > ways_) set.pop_back();
    }

    uint64_t distance_;
    size_t ways_;
    std::vector<std::vector<Entry>> sets_;
    Entry l1_;
    const MappingOracle::Epoch* epoch_ = nullptr;
};

// Random mappings with 4KB and 2MB pages and changes; arrays as RecentSets, and with three sets.
TEST(Anchor, FollowsAnOracleThatCountsPagesOneByOne) {
    std::map<uint64_t, uint64_t> anchors;  // distance -> hits
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const uint64_t distance = uint64_t{1} << (1 + seed % 13);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", distance " + std::to_string(distance));
        const MappingOracle oracle(seed + 700, 4096);
        Mapping mapping{"random", {}};
        for (const MappingOracle::Epoch& epoch : oracle.epochs) mapping.epochs.push_back({epoch.access, epoch.rows});
        Platform p = anchored(distance);
        p.stlb = seed % 2 ? Geometry{16, 4} : Geometry{12, 4};
        SteppedDesign design(p, layout_of(std::make_shared<const Mapping>(std::move(mapping))));
        SlowAnchors slow(distance, p.stlb);
        std::mt19937_64 random(seed);
        for (const MappingOracle::Epoch& epoch : oracle.epochs) {
            if (&epoch != &oracle.epochs.front()) design.change();
            slow.change(epoch);
            for (int i = 0; i < 1500; ++i) {
                const auto at = epoch.pages.lower_bound({trace::PoolKind::heap, random() % 8 * (random() % 2 ? 512 : 300) + random() % 9});
                if (at == epoch.pages.end() || at->first.first != trace::PoolKind::heap) continue;
                const auto step = design.load(at->first.second);
                const auto expected = slow.load(at->first.second);
                ASSERT_EQ(int(step.found), int(expected.first)) << "page " << at->first.second << ", load " << i;
                ASSERT_EQ(step.cycles == Translated::platform_lookup ? 0 : step.cycles, expected.second);
            }
        }
        anchors[distance] += design.design().structures().at(1).hits;
    }
    for (const auto& [distance, hits] : anchors) EXPECT_GT(hits, 0u) << distance;
}

std::string refusal_of(const Platform& p, const Layout& layout) {
    try {
        SteppedDesign(p, layout);
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

TEST(Anchor, RefusesDistancesThatAreNoPowersOfTwo) {
    const Layout mapping = mapping_of_rows({heap_row(0, 1000, 8)});
    for (const uint64_t distance : {1, 3, 65535}) {
        const std::string text = refusal_of(anchored(distance), mapping);
        EXPECT_NE(text.find("design.anchor.distance_pages"), std::string::npos) << text;
        EXPECT_NE(text.find("'" + std::to_string(distance) + "'"), std::string::npos) << text;
    }
    EXPECT_NE(refusal_of(anchored(65537), mapping).find("65537"), std::string::npos);
    EXPECT_NE(refusal_of(anchored(4), all_4kb()).find("mmu.design = anchor"), std::string::npos);
    EXPECT_EQ(refusal_of(anchored(65536), mapping), "");
}

// Without contiguity: the array holds regular entries only, as a conventional one does, and with d = 2 the anchor's entry is
// always in the line of the page's own.
TEST(Anchor, WithoutContiguityEqualsAConventionalStlb) {
    std::vector<MappingRow> rows;
    for (uint64_t page = 0; page < 3000; ++page) rows.push_back(heap_row(page, 2 * page, 1));
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    std::mt19937_64 random(5);
    for (int i = 0; i < 20000; ++i) builder.load(block, heap_base + random() % 3000 * 4096);
    MemoryStream stream = builder.finish();
    const Layout mapping = mapping_of_rows(rows);
    Platform p = haswell();
    const LayoutCounts conventional = on_all_engines(p, stream, {mapping})[0];
    for (const uint64_t cycles : {7, 8}) {
        SCOPED_TRACE(cycles);
        p.mmu_design = {"anchor", {{"anchor_cycles", cycles}}};
        LayoutCounts anchor = on_all_engines(p, stream, {mapping})[0];
        EXPECT_EQ(anchor.design.structures.at(1).hits, 0u);
        EXPECT_EQ(anchor.units[0].runtime_cycles - conventional.units[0].runtime_cycles, cycles == 7 ? 0 : conventional.stlb_misses);
        anchor.design = conventional.design;
        anchor.units[0].runtime_cycles = conventional.units[0].runtime_cycles;
        EXPECT_EQ(anchor, conventional);
    }
}

TEST(Anchor, DynamicIsOneOfTheSixteenDistances) {
    RandomInputs random(41);
    MemoryStream stream = random.stream(30000);
    const Layout mapping = RandomMappings(41).mapping("random", 1, 30000);
    const MappedPages pages(mapping.mapping, stream.header().pools);
    const uint64_t chosen = anchor_distance(histogram_of(pages.chunks()), AnchorCost::count);
    const auto misses = [&](uint64_t distance) {
        Platform p = anchored(distance);
        p.stlb = {64, 4};
        return simulate("partial", p, stream, {mapping})[0].stlb_misses;
    };
    const uint64_t dynamic = misses(0);
    uint64_t ideal = ~uint64_t{0};
    for (uint64_t distance = 2; distance <= 65536; distance *= 2) {
        ideal = std::min(ideal, misses(distance));
        if (distance == chosen) {
            EXPECT_EQ(misses(distance), dynamic);
        }
    }
    EXPECT_LE(ideal, dynamic);
    EXPECT_GT(ideal, 0u);
}

}  // namespace
}  // namespace tessera::sim::testing
