// cache_replacement_test.cpp - replacement policies of data caches: sequences by hand, a slow oracle of its own, what policies and watchers
// see, and all engines on random inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "cache/cache_level.h"
#include "engine/functional.h"
#include "engine/any_design/flat_cache.h"
#include "mmu/components.h"
#include "support/engines.h"
#include "support/platforms.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

using enum MemoryLevel;

/// Hits and misses of the lines in order: h or m. Capital letters are blocks of translations.
template <class Cache>
std::string found_in(Cache& cache, const std::string& lines) {
    std::string text;
    for (const char line : lines) {
        const LineClass holds = std::isupper(line) ? LineClass::tlb_block : LineClass::data;
        text += cache.reference(LineNumber(uint64_t(line)), holds, {}) ? 'h' : 'm';
    }
    return text;
}

/// One set of this many ways, in both kinds of cache.
void expect_found(const std::string& policy, uint64_t ways, const std::string& lines, const std::string& expected) {
    const CacheGeometry one_set{64 * ways, ways, 1, policy};
    const Platform p = haswell();
    CacheLevel list(one_set, p, 0);
    any_design::FlatCache flat(one_set, p, 0);
    EXPECT_EQ(found_in(list, lines), expected) << policy;
    EXPECT_EQ(found_in(flat, lines), expected) << policy;
}

// Four ways. After abcd and a hit of b, their intervals are 2 0 2 2. e ages all to 3 1 3 3 and takes way 0; f and g take ways 2 and 3:
// 2 1 2 2. h ages all to 3 2 3 3; h, i and j take ways 0, 2 and 3: 2 2 2 2. So b is there after six other lines, where LRU drops it at the
// fourth. Without the last b, k ages all to 3 3 3 3 and takes way 0, and l takes way 1, which is b's.
TEST(CacheReplacement, SrripKeepsALineThatWasUsedAgain) {
    expect_found("srrip", 4, "abcdb", "mmmmh");
    expect_found("srrip", 4, "abcdbefghijb", "mmmmhmmmmmmh");
    expect_found("lru", 4, "abcdbefghijb", "mmmmhmmmmmmm");
    expect_found("srrip", 4, "abcdbefghijklb", "mmmmhmmmmmmmmm");
    expect_found("srrip", 4, "abcdbefghijkb", "mmmmhmmmmmmmh");
}

// Six lines in turn through four ways: LRU never hits. Under SRRIP, round one ends with e, f, c, d at 2 2 3 3; a takes c's way, b takes d's
// way (2 2 2 2); c ages all to 3 and takes e's way, d takes f's way (2 2 3 3); e takes a's way, f takes b's way: no hit, either. Once a
// was used twice, it stays: aa bcdef a.
TEST(CacheReplacement, SrripResistsAScan) {
    expect_found("srrip", 4, "abcdefabcdef", "mmmmmmmmmmmm");
    expect_found("srrip", 4, "aabcdefa", "mhmmmmmh");
    expect_found("lru", 4, "aabcdefa", "mhmmmmmm");
}

TEST(CacheReplacement, APolicySeesWhatALineHolds) {
    expect_found("lru", 2, "TabT", "mmmm");
    expect_found("example-blocks-last", 2, "TabcT", "mmmmh");
    expect_found("example-blocks-last", 2, "TabTUVaT", "mmmhmmmm");  // two blocks: the older one, T, makes room for V
    expect_found("example-blocks-last", 2, "tabt", "mmmm");
}

/// A cache as slow and plain as can be: each set a list of ways with times of use and intervals. Policies lru and srrip, written out again.
class SlowCache {
public:
    SlowCache(const CacheGeometry& g) : srrip_(g.replacement == "srrip"), sets_(g.sets(), std::vector<Way>(g.ways)) {}

    bool reference(LineNumber line, LineClass holds, bool fills = false) {
        std::vector<Way>& set = sets_[line.value % sets_.size()];
        for (Way& way : set)
            if (way.used != 0 && way.line == line) {
                way.used = ++now_, way.interval = 0;
                if (fills) way.holds = holds;
                return true;
            }
        Way* place = nullptr;
        for (Way& way : set)
            if (place == nullptr && way.used == 0) place = &way;
        while (place == nullptr && srrip_) {
            for (Way& way : set)
                if (place == nullptr && way.interval >= 3) place = &way;
            if (place == nullptr)
                for (Way& way : set) ++way.interval;
        }
        if (place == nullptr)
            place = &*std::min_element(set.begin(), set.end(), [](const Way& a, const Way& b) { return a.used < b.used; });
        if (place->used != 0) left.push_back({place->line.value, int(place->holds)});
        *place = {line, holds, ++now_, 2};
        return false;
    }

    std::vector<std::pair<uint64_t, int>> left;  ///< lines that were evicted, with what they held

private:
    struct Way {
        LineNumber line;
        LineClass holds = LineClass::data;
        uint64_t used = 0;  ///< 0: never
        int interval = 0;
    };
    bool srrip_;
    uint64_t now_ = 0;
    std::vector<std::vector<Way>> sets_;
};

struct Evictions final : EvictionWatcher {
    void evicted(MemoryLevel level, LineNumber line, LineClass held) override {
        of_level[size_t(level)].push_back({line.value, int(held)});
    }
    std::array<std::vector<std::pair<uint64_t, int>>, 3> of_level;
};

/// Both hierarchies, watched and not, against the slow one: levels that serve, and what leaves each level with what it held.
TEST(CacheReplacement, BothHierarchiesAreTheSlowOne) {
    std::mt19937_64 random(31);
    for (unsigned variant = 0; variant < 24; ++variant) {
        SCOPED_TRACE(variant);
        Platform p = tiny(variant % 12);
        p.l1d.replacement = variant & 1 ? "srrip" : "lru", p.l2.replacement = variant & 2 ? "srrip" : "lru";
        p.l3.replacement = variant & 4 ? "srrip" : "lru";
        Evictions of_lists, of_flat;
        Hierarchy lists(p, &of_lists), lists_unseen(p);
        any_design::FlatHierarchy flat(p, &of_flat), flat_unseen(p);
        SlowCache slow[3] = {p.l1d, p.l2, p.l3};
        uint64_t served[4] = {};
        for (int i = 0; i < 20000; ++i) {
            const LineNumber line(random() % (random() % 4 ? 60 : 900) + (random() % 2) * (uint64_t{1} << 44));
            const auto holds = static_cast<LineClass>(random() % 2);
            if (random() % 9 == 0) {
                const size_t level = random() % 3;
                const LineClass block = LineClass::tlb_block;
                const bool there = lists.holds(static_cast<MemoryLevel>(level), line);
                ASSERT_EQ(flat.holds(static_cast<MemoryLevel>(level), line), there);
                ASSERT_EQ(flat_unseen.holds(static_cast<MemoryLevel>(level), line), there);
                for (auto* each : {&lists, &lists_unseen}) each->fill(static_cast<MemoryLevel>(level), line, block);
                for (auto* each : {&flat, &flat_unseen}) each->fill(static_cast<MemoryLevel>(level), line, block);
                ASSERT_EQ(slow[level].reference(line, LineClass::tlb_block, true), there);
                continue;
            }
            size_t level = 0;
            while (level < 3 && !slow[level].reference(line, holds)) ++level;
            ++served[level];
            ASSERT_EQ(size_t(lists.reference(line, holds)), level);
            ASSERT_EQ(size_t(lists_unseen.reference(line, holds)), level);
            ASSERT_EQ(size_t(flat.reference(line, holds)), level);
            ASSERT_EQ(size_t(flat_unseen.reference(line, holds)), level);
        }
        for (size_t level = 0; level < 3; ++level) {
            EXPECT_GT(slow[level].left.size(), 100u);
            EXPECT_EQ(of_lists.of_level[level], slow[level].left);
            EXPECT_EQ(of_flat.of_level[level], slow[level].left);
            EXPECT_GT(served[level + 1], 100u);
        }
    }
}

/// The victim is a hash of all that the policy sees, so engines that show it anything else do not agree.
class Hashed final : public CacheReplacement {
public:
    explicit Hashed(size_t ways) : ways_(ways) {}
    void hit(size_t, size_t, const LineReference& by) override { see(by, 1); }
    void fill(size_t, size_t, const LineReference& by) override { see(by, 2); }
    size_t victim(size_t, const LineReference& by) override {
        see(by, 3);
        return size_t(seen_ >> 32) % ways_;
    }

private:
    void see(const LineReference& by, uint64_t call) {
        for (const uint64_t value : {call, by.line.value, uint64_t(by.holds), uint64_t(by.is_store), by.pc})
            seen_ = (seen_ ^ value) * 0x9e3779b97f4a7c15 + 1;
    }
    size_t ways_;
    uint64_t seen_ = 0;
};
const Registered hashed(replacements(), "example-hashed-reference", "a hash of all references chooses, for tests",
                        [](size_t, size_t ways, const Platform&) { return std::make_unique<Hashed>(ways); });

TEST(CacheReplacement, EnginesAgree) {
    for (uint64_t seed = 0; seed < 16; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 4100);
        Platform p = random.platform();
        const auto any = [&] {
            return random.any<std::string>({"lru", "srrip", "tree-plru", "example-hashed-reference", "example-blocks-last"});
        };
        p.l1d.replacement = any(), p.l2.replacement = any(), p.l3.replacement = any();
        if (seed % 4 == 0) p.l2.replacement = "example-hashed-reference";
        if (seed % 2) p.mmu_design = {"example-tlb-blocks", {{"watches", seed % 4 == 1}}};
        if (lanes_lack(p).empty()) p.l3.replacement = "srrip";
        MemoryStream stream = random.stream(5000);
        const bool samples = seed % 2 == 0 && seed % 3 == 2;
        const auto counts =
            on_all_engines(p, stream, {all_4kb(), random.layout(1), random.layout(2)}, samples ? Sampling{false, 3, 300, 200} : Sampling{});
        EXPECT_GT(counts[0].program[3], 0u);
        if (::testing::Test::HasFailure()) return;
    }
}

/// Writes down what brings lines.
class Recorder final : public CacheReplacement {
public:
    void hit(size_t, size_t, const LineReference&) override {}
    void fill(size_t, size_t, const LineReference& by) override { seen.push_back(by); }
    size_t victim(size_t, const LineReference&) override { return 0; }

    static inline std::vector<LineReference> seen;
};
const Registered recorder(replacements(), "example-recorder", "the first way, for tests",
                          [](size_t, size_t, const Platform&) { return std::make_unique<Recorder>(); });

/// A store, a load of the same page, and the code page of both. Its walk loads four levels, that of the store three: the code is in the same
/// 512GB. The prefetcher asks for the next line after each access.
TEST(CacheReplacement, APolicySeesInstructionAndContents) {
    StreamBuilder builder;
    builder.independent_load();
    const uint32_t store = builder.block({insn(trace::InsnKind::store, reg(1), 0, reg(2), 1)}, {{0, 1, 8}}),
                   load = builder.independent_load();
    builder.run(store, {heap_base}, {1});
    builder.load(load, heap_base + 2048);
    MemoryStream stream = builder.finish();
    Platform p = haswell();
    p.l1i = {4, 4};
    p.l1d.replacement = "example-recorder";
    p.prefetch_l1d = {"example-next-line", 1, 1, 1};
    const uint64_t code = 0x400000, store_pc = code + 256, load_pc = code + 512, first = heap_base / 64;
    for (const char* engine : {"reference", "partial"}) {
        Recorder::seen.clear();
        simulate(engine, p, stream, {all_4kb()});
        ASSERT_EQ(Recorder::seen.size(), 11u) << engine;
        for (size_t i = 0; i < 11; ++i) {
            const LineReference& by = Recorder::seen[i];
            EXPECT_EQ(by.holds, i < 7 ? LineClass::page_table : LineClass::data) << engine << " " << i;
            EXPECT_EQ(by.line.value < uint64_t{1} << 42, i >= 7) << engine << " " << i;  // tables are from 2^48 on
            EXPECT_EQ(by.is_store, i >= 4 && i < 9) << engine << " " << i;
            EXPECT_EQ(by.pc, i < 4 ? code : i < 9 ? store_pc : load_pc) << engine << " " << i;
            if (i < 7) continue;
            EXPECT_EQ(by.line.value, first + (i >= 9) * 32 + (i + 1) % 2) << engine << " " << i;
        }
    }
}

/// One load of each of 512 pages: a block has eight of them.
TEST(CacheReplacement, BlocksOfTranslationsServeTheirPages) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t page = 0; page < 512; ++page) builder.load(block, heap_base + page * 4096);
    MemoryStream stream = builder.finish();
    for (const char* policy : {"lru", "srrip", "example-blocks-last"})
        for (const uint64_t watches : {0, 1}) {
            Platform p = haswell();
            p.mmu_design = {"example-tlb-blocks", {{"watches", watches}}};
            p.l2 = {4 << 20, 8, 12, policy};  // nothing leaves it
            const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()})[0];
            EXPECT_EQ(counts.stlb_misses, 64u);
            EXPECT_EQ(counts.stlb_hits, 448u);
            EXPECT_EQ(counts.design.structures.at(0).hits, 0u);
        }
}

/// An L2 of 64 lines between an L1D of one line and memory. 24 pages in turn make three blocks, and each line of data goes into L2.
/// A policy that keeps blocks walks for the first page of each alone. Under LRU, a block is the oldest of 64 lines before its next round.
TEST(CacheReplacement, ATlbAwareL2KeepsBlocks) {
    StreamBuilder builder;
    const uint32_t block = builder.chasing_load();
    for (uint64_t i = 0; i < 24 * 200; ++i) builder.load(block, heap_base + i % 24 * 4096 + i * 64 % 4096);
    MemoryStream stream = builder.finish();
    Platform p = haswell();
    p.l1_4kb = {4, 4};
    p.l1d = {64, 1, 4}, p.l2 = {64 * 64, 64, 12}, p.l3 = {64 * 64, 64, 36};
    p.mmu_design = "example-tlb-blocks";
    p.l2.replacement = "example-blocks-last";
    const LayoutCounts kept = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_EQ(kept.stlb_misses, 3u);
    EXPECT_EQ(kept.stlb_hits, 24u * 200 - 3);
    EXPECT_EQ(kept.design.structures.at(0), (StructureCounts{"blocks", 3, 0, 0}));
    p.l2 = {64 * 8, 8, 12, "lru"};
    const LayoutCounts lost = on_all_engines(p, stream, {all_4kb()})[0];
    EXPECT_GT(lost.stlb_misses, 3u);
    EXPECT_GT(lost.design.structures.at(0).hits, lost.stlb_misses - 8);  // what is not in L2 any more
    EXPECT_LE(lost.design.structures.at(0).hits, lost.stlb_misses);
}

std::string refusal_of(const Platform& p) {
    try {
        check_components(p);
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

TEST(CacheReplacement, TlbsRefuseAPolicyThatLooksAtReferences) {
    for (const auto& [key, spoil] : std::vector<std::pair<std::string, void (*)(Platform&)>>{
             {"tlb.l1d.replacement", [](Platform& p) { p.l1_replacement = "example-blocks-last"; }},
             {"tlb.l1i.replacement", [](Platform& p) { p.l1i_replacement = "example-blocks-last"; }},
             {"tlb.stlb.replacement", [](Platform& p) { p.stlb_replacement = "example-blocks-last"; }}}) {
        Platform p = haswell();
        spoil(p);
        const std::string said = refusal_of(p);
        EXPECT_NE(said.find(key + " = example-blocks-last"), std::string::npos) << said;
        EXPECT_NE(said.find("references of a data cache"), std::string::npos) << said;
        EXPECT_NE(said.find("use it for cache.*.replacement"), std::string::npos) << said;
    }
}

TEST(CacheReplacement, LanesHaveLruAloneAndSayWhichKeyTheyLack) {
    EXPECT_EQ(lanes_lack(haswell()), "");
    Platform p = haswell();
    p.l1d.replacement = "tree-plru";
    EXPECT_EQ(lanes_lack(p), "cache.l1d.replacement = tree-plru");
    p = haswell(), p.l2.replacement = "srrip";
    EXPECT_EQ(lanes_lack(p), "cache.l2.replacement = srrip");
    p = haswell(), p.l3.replacement = "srrip";
    EXPECT_EQ(lanes_lack(p), "cache.l3.replacement = srrip");
    p.l3.replacement = "lru";
    EXPECT_EQ(lanes_lack(p), "");
}

}  // namespace
}  // namespace tessera::sim::testing
