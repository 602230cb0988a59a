// masked_cache_test.cpp - lane-masked caches against a std::list a lane, a set and a level, on each instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <unordered_map>

#include "cache/slice_hash.h"
#include "support/masked_probe.h"

namespace tessera::sim::testing {
namespace {

constexpr unsigned lanes = 64;

/// One lane's cache: the lines of each set, most recent first.
class SlowCache {
public:
    explicit SlowCache(const ProbeShape& shape) : ways_(shape.ways), slices_(shape.slices), set_count_(shape.sets) {}
    bool misses(uint64_t line) {
        std::list<uint64_t>& set = sets_[set_of(line)];
        const size_t before = set.size();
        set.remove(line);
        const bool miss = set.size() == before;
        set.push_front(line);
        if (set.size() > ways_) set.pop_back();
        return miss;
    }

private:
    uint64_t set_of(uint64_t line) const {
        if (slices_ == 0) return line % set_count_;
        return sliced_set(line, slices_, set_count_ / slices_, [this](uint64_t number) { return number % (set_count_ / slices_); });
    }
    size_t ways_, slices_, set_count_;
    std::unordered_map<uint64_t, std::list<uint64_t>> sets_;
};

/// One lane's hierarchy by the rule: a level is asked only after a miss of the one above.
struct SlowHierarchy {
    explicit SlowHierarchy(const ProbeConfig& c) : levels{SlowCache(c.l1d), SlowCache(c.l2), SlowCache(c.l3)} {}
    /// Levels that missed, counted from `first`; those above count as missed.
    unsigned missed(uint64_t line, unsigned first) {
        unsigned level = first;
        while (level < 3 && levels[level].misses(line)) ++level;
        return level;
    }
    SlowCache levels[3];
};

class SlowLanes {
public:
    explicit SlowLanes(const ProbeConfig& c) : pollutes_(c.walker_pollutes), mixed_(lanes, SlowHierarchy(c)), clean_(mixed_) {}
    ProbeAnswer reference(const ProbeReference& r) {
        ProbeAnswer answer{0, 0, 0};
        const unsigned first = r.kind == ProbeKind::prefetch_l2 ? 1 : 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
            const uint64_t bit = uint64_t{1} << lane;
            if ((r.lanes & bit) == 0) continue;
            unsigned missed = mixed_[lane].missed(r.line, first);
            if (!pollutes_ && r.kind != ProbeKind::walker) missed = clean_[lane].missed(r.line, first);
            if (missed > 0) answer.l1d_missed |= bit;
            if (missed > 1) answer.l2_missed |= bit;
            if (missed > 2) answer.l3_missed |= bit;
        }
        return answer;
    }

private:
    bool pollutes_;
    std::vector<SlowHierarchy> mixed_, clean_;
};

struct Traffic {
    const char* name;
    unsigned lines;           ///< distinct lines; a line's address is spread over 42 bits
    unsigned walker_percent;  ///< references in a random part of the lanes
    unsigned single_percent;  ///< of those: in one lane only
    unsigned repeat_percent;  ///< references of the line before, in other lanes
};

const Traffic traffics[] = {
    {"program-like", 60, 20, 10, 5},           {"walks", 90, 90, 30, 20},    {"one lane at a time", 40, 100, 100, 0},
    {"many lines one lane", 700, 100, 100, 0}, {"two lines", 2, 60, 50, 50}, {"more than fits", 2000, 40, 40, 10},
};

const ProbeConfig shapes[] = {
    {{1, 1}, {1, 1}, {1, 1}},      {{1, 2}, {3, 1}, {5, 3}},     {{3, 8}, {7, 4}, {11, 20}},
    {{4, 3}, {2, 2}, {1, 5}},        // levels that do not nest, and shrink
    {{2, 32}, {1, 64}, {3, 20}},   {{1, 8}, {8, 8}, {9, 32}},    {{64, 8}, {512, 8}, {24576, 20}},
    {{3, 2}, {7, 4}, {12, 20, 4}}, {{2, 1}, {3, 2}, {21, 5, 7}},
};

std::vector<ProbeReference> make_references(const Traffic& t, size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<uint64_t> line_of;
    for (unsigned i = 0; i < t.lines; ++i) line_of.push_back(i % 3 == 0 ? i : random() >> 22);
    std::vector<ProbeReference> references;
    for (size_t i = 0; i < count; ++i) {
        // Half of the references fall on few lines, so that hits happen at every depth.
        const unsigned popular = 1 + t.lines / 8;
        ProbeReference r{line_of[random() % (random() % 2 ? popular : t.lines)], ~uint64_t{0}, ProbeKind::program};
        if (random() % 100 < t.walker_percent) {
            r.kind = ProbeKind::walker;
            r.lanes = random() % 100 < t.single_percent ? uint64_t{1} << random() % lanes : (random() & random()) | 1;
        } else if (random() % 8 == 0) {
            r.kind = random() % 2 ? ProbeKind::prefetch_l1d : ProbeKind::prefetch_l2;
        }
        if (i > 0 && random() % 100 < t.repeat_percent) r.line = references.back().line;
        references.push_back(r);
    }
    return references;
}

void expect_agreement(const std::string& isa, const ProbeConfig& config, const std::vector<ProbeReference>& references,
                      const std::string& what) {
    const auto probe = make_masked_probe(isa, config);
    if (probe == nullptr) GTEST_SKIP() << "this processor has no " << isa;
    std::vector<ProbeAnswer> answers(references.size());
    probe->replay(references.data(), references.size(), answers.data());
    SlowLanes slow(config);
    const unsigned ways[3] = {config.l1d.ways, config.l2.ways, config.l3.ways};
    for (size_t i = 0; i < references.size(); ++i) {
        const ProbeAnswer right = slow.reference(references[i]);
        ASSERT_EQ(answers[i], right) << what << ", reference " << i << " of line " << references[i].line << std::hex << " lanes "
                                     << references[i].lanes << ": L1D " << answers[i].l1d_missed << " not " << right.l1d_missed << ", L2 "
                                     << answers[i].l2_missed << " not " << right.l2_missed << ", L3 " << answers[i].l3_missed << " not "
                                     << right.l3_missed;
    }
    // 64 x ways entries at most outlive a compaction; storage doubles only when these fill three quarters of it.
    for (unsigned level = 0; level < 3; ++level)
        EXPECT_LE(probe->longest_list(level), 4 * lanes * ways[level]) << what << ", level " << level;
}

class MaskedCacheOnIsa : public ::testing::TestWithParam<std::string> {};

TEST_P(MaskedCacheOnIsa, AgreesWithAListALane) {
    uint64_t seed = 1;
    for (const ProbeConfig& shape : shapes)
        for (const Traffic& t : traffics)
            for (const bool pollutes : {true, false}) {
                ProbeConfig config = shape;
                config.walker_pollutes = pollutes;
                expect_agreement(
                    GetParam(), config, make_references(t, 1500, seed++),
                    std::string(t.name) + ", L1D of " + std::to_string(shape.l1d.sets) + " x " + std::to_string(shape.l1d.ways));
                if (HasFatalFailure() || IsSkipped()) return;
            }
}

/// The worst case of the shared list: no two lanes agree on any order, so that no entry has more than one lane.
TEST_P(MaskedCacheOnIsa, HoldsSixtyFourDifferentOrders) {
    const ProbeConfig config{{1, 32}, {1, 32}, {1, 32}};
    std::vector<ProbeReference> references;
    std::mt19937_64 random(9);
    for (int i = 0; i < 12000; ++i) references.push_back({1000 * (random() % lanes) + random() % 40, 0, ProbeKind::walker});
    for (ProbeReference& r : references) r.lanes = uint64_t{1} << (r.line / 1000);
    const auto probe = make_masked_probe(GetParam(), config);
    if (probe == nullptr) GTEST_SKIP() << "this processor has no " << GetParam();
    expect_agreement(GetParam(), config, references, "64 orders");
    std::vector<ProbeAnswer> answers(references.size());
    probe->replay(references.data(), references.size(), answers.data());
    EXPECT_GE(probe->longest_list(0), lanes * 32u);  // 64 lanes hold 32 lines each, none of them shared
    EXPECT_LE(probe->longest_list(0), 4 * lanes * 32u);
}

/// One way, one set: a lane hits exactly when its own previous reference was of the same line.
TEST_P(MaskedCacheOnIsa, OneWayRemembersTheLastLineOfEachLane) {
    const auto probe = make_masked_probe(GetParam(), {{1, 1}, {1, 1}, {1, 1}});
    if (probe == nullptr) GTEST_SKIP() << "this processor has no " << GetParam();
    const ProbeReference references[] = {
        {5, 0b1111, ProbeKind::walker}, {6, 0b0011, ProbeKind::walker}, {5, 0b1111, ProbeKind::walker}, {5, 0b1111, ProbeKind::walker}};
    ProbeAnswer answers[4];
    probe->replay(references, 4, answers);
    EXPECT_EQ(answers[0].l1d_missed, 0b1111u);
    EXPECT_EQ(answers[1].l1d_missed, 0b0011u);
    EXPECT_EQ(answers[2].l1d_missed, 0b0011u);  // lanes 2 and 3 still hold 5
    EXPECT_EQ(answers[3].l1d_missed, 0u);
}

/// W lines in turn through W ways miss once each; W + 1 lines through W ways always miss.
TEST_P(MaskedCacheOnIsa, CyclesOverWaysAndOneMore) {
    for (const unsigned ways : {1u, 3u, 8u, 20u, 32u}) {
        for (const unsigned lines : {ways, ways + 1}) {
            const auto probe = make_masked_probe(GetParam(), {{7, ways}, {7, ways}, {7, ways}});
            if (probe == nullptr) GTEST_SKIP() << "this processor has no " << GetParam();
            std::vector<ProbeReference> references;
            for (unsigned round = 0; round < 50; ++round)
                for (unsigned i = 0; i < lines; ++i) references.push_back({7ull * i + 2, ~uint64_t{0}, ProbeKind::program});
            std::vector<ProbeAnswer> answers(references.size());
            probe->replay(references.data(), references.size(), answers.data());
            size_t misses = 0;
            for (const ProbeAnswer& a : answers) misses += a.l1d_missed == ~uint64_t{0};
            EXPECT_EQ(misses, lines == ways ? ways : references.size()) << ways << " ways, " << lines << " lines";
        }
    }
}

/// The lines of a slice have all 255 names, else a set of this slice compares lines that it need not read. Of 8000 lines with
/// random names, 255 / e^31 names are not expected.
TEST_P(MaskedCacheOnIsa, NamesDoNotDependOnTheSlice) {
    const auto probe = make_masked_probe(GetParam(), {{1, 1}, {1, 1}, {1, 1}});
    if (probe == nullptr) GTEST_SKIP() << "this processor has no " << GetParam();
    for (const uint64_t slices : {6, 12, 24}) {
        std::mt19937_64 random(slices);
        std::vector<bool> found(256);
        for (size_t lines = 0; lines < 8000;) {
            const uint64_t line = random() >> 22;
            if (slice_of(line, slices) != slices / 2) continue;
            found[probe->name(line)] = true;
            ++lines;
        }
        EXPECT_EQ(std::count(found.begin(), found.end(), true), 255) << slices << " slices";
        EXPECT_FALSE(found[0]);
    }
}

INSTANTIATE_TEST_SUITE_P(Each, MaskedCacheOnIsa, ::testing::ValuesIn(probe_isas), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace tessera::sim::testing
