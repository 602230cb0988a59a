// Thousands of random calls with and without windows. Every live page carries a tag: old pages must hold theirs, new
// pages read zero, and both spaces must have handed out the same offsets.
#include <map>
#include <random>
#include <vector>

#include "tests/space_fixture.h"

using namespace mosalloc;

namespace {

class SpaceRandomTest : public SpaceFixture, public testing::WithParamInterface<int> {
protected:
    uint64_t* word(uint64_t off) { return reinterpret_cast<uint64_t*>(anon_base() + off); }
    void expect_and_tag(uint64_t from, uint64_t to, bool fresh) {
        for (uint64_t at = from; at < to; at += kPage4K) {
            ASSERT_EQ(*word(at), fresh ? 0 : tags_[at]);
            if (fresh) *word(at) = tags_[at] = ++next_;
        }
    }
    void forget(uint64_t from, uint64_t to) { tags_.erase(tags_.lower_bound(from), tags_.lower_bound(to)); }

    std::vector<uint64_t> run(uint64_t seed) {
        std::mt19937_64 rng(seed);
        std::vector<uint64_t> trail;
        std::vector<Range> live;
        for (int step = 0; step < 800; ++step) {
            const uint64_t pages = 1 + (rng() % 4 == 0 ? rng() % 900 : rng() % 12);
            const size_t pick = live.empty() ? 0 : rng() % live.size();
            const uint64_t choice = rng() % 10;
            if (choice < 5 || live.empty()) {
                const long at = map_pages(pages);
                trail.push_back(static_cast<uint64_t>(sys::failed(at) ? at : static_cast<long>(offset(at))));
                if (sys::failed(at)) continue;
                live.push_back({offset(at), offset(at) + pages * kPage4K});
                expect_and_tag(live.back().start, live.back().end, true);
            } else if (choice < 7) {  // unmap the tail or all of one
                Range& r = live[pick];
                const uint64_t from = r.start + rng() % 2 * (r.bytes() / kPage4K / 2) * kPage4K;
                EXPECT_EQ(space.unmap({anon_base() + from, anon_base() + r.end}), 0);
                forget(from, r.end);
                r.end = from;
                if (r.empty()) live.erase(live.begin() + static_cast<long>(pick));
            } else if (choice < 9) {
                Range& r = live[pick];
                const long at = space.remap(anon_base() + r.start, r.bytes(), pages * kPage4K, MREMAP_MAYMOVE, 0);
                trail.push_back(static_cast<uint64_t>(sys::failed(at) ? at : static_cast<long>(offset(at))));
                if (sys::failed(at)) continue;
                moved(r, {offset(at), offset(at) + pages * kPage4K});
            } else {
                const Range& r = live[pick];
                EXPECT_EQ(space.map_fixed({anon_base() + r.start, anon_base() + r.end}, {kRW}), static_cast<long>(anon_base() + r.start));
                expect_and_tag(r.start, r.end, true);
            }
            if (step % 16 == 0)
                for (const Range& r : live) expect_and_tag(r.start, r.end, false);
            if (HasFatalFailure()) return trail;
        }
        return trail;
    }

private:
    void moved(Range& r, Range to) {
        const uint64_t kept = std::min(r.bytes(), to.bytes());
        std::vector<uint64_t> held;
        for (uint64_t at = 0; at < kept; at += kPage4K) held.push_back(tags_[r.start + at]);
        forget(r.start, r.end);
        for (uint64_t at = 0; at < kept; at += kPage4K) tags_[to.start + at] = held[at / kPage4K];
        expect_and_tag(to.start, to.start + kept, false);
        expect_and_tag(to.start + kept, to.end, true);
        r = to;
    }
    std::map<uint64_t, uint64_t> tags_;
    uint64_t next_ = 0;
};

TEST_P(SpaceRandomTest, ContentsSurviveAndOffsetsDoNotDependOnWindows) {
    const uint64_t seed = static_cast<uint64_t>(GetParam());
    build(false);
    const std::vector<uint64_t> plain = run(seed);
    TearDown();
    new (&space) WholeSpace();
    map = {};
    build(true);
    for (uint64_t off = 0; off < kAnonBytes; off += kPage4K) forget(off, off + kPage4K);
    EXPECT_EQ(run(seed), plain);
    EXPECT_GT(map.zeroed_bytes, 0u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, SpaceRandomTest, testing::Range(1, 5));

}  // namespace
