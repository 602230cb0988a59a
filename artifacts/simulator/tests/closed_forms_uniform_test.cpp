// closed_forms_uniform_test.cpp - uniform random pages: a hit rate that is exact for every replacement policy.
//
// N pages are asked for uniformly and independently; S sets of W ways, N / S = n pages a set. Once a set is full it
// holds W of its n pages, whichever a policy chose to keep, and the next page of the set is one of them with probability W / n. The
// outcomes are hence independent Bernoulli trials: misses of the second level are binomial with probability 1 - SW / N. The
// first level here has one entry, whose page the second level holds as well, so that it changes hits into other hits only.
#include <cmath>

#include "support/engines.h"
#include "support/platforms.h"

namespace tessera::sim::testing {
namespace {

struct Case {
    std::string replacement;
    Geometry stlb;
    uint64_t pages;
};

class Uniform : public ::testing::TestWithParam<Case> {};

TEST_P(Uniform, MissesAreBinomial) {
    Platform p = haswell();
    p.l1_4kb = {1, 1};
    p.stlb = GetParam().stlb, p.stlb_replacement = GetParam().replacement;
    StreamBuilder builder;
    const uint32_t block = builder.independent_load();
    std::mt19937_64 random(20260101);
    const uint64_t fill = 40 * GetParam().pages, accesses = 300000;  // each page about 40 times first: every set is full
    for (uint64_t i = 0; i < fill + accesses; ++i) builder.load(block, heap_base + random() % GetParam().pages * 4096);
    MemoryStream stream = builder.finish();
    const Sampling counted_part{false, 1, 0, accesses};  // one instruction an access; the unit lies in the middle
    const SamplePlan plan(counted_part, stream.header());
    ASSERT_GE(plan.start_access(0), fill / 3);
    const LayoutCounts counts = on_all_engines(p, stream, {all_4kb()}, counted_part)[0];
    const double q = 1 - double(p.stlb.entries) / double(GetParam().pages), trials = double(accesses);
    ASSERT_EQ(counts.units[0].accesses, accesses);
    EXPECT_NEAR(double(counts.units[0].stlb_misses), trials * q, 5 * std::sqrt(trials * q * (1 - q)));
}

INSTANTIATE_TEST_SUITE_P(Policies, Uniform,
                         ::testing::Values(Case{"lru", {1536, 12}, 4096}, Case{"tree-plru", {1536, 12}, 4096},
                                           Case{"srrip", {1536, 12}, 4096}, Case{"lru", {1024, 8}, 1280},
                                           Case{"tree-plru", {1024, 8}, 1280}, Case{"srrip", {1024, 8}, 1280}, Case{"lru", {96, 6}, 1024},
                                           Case{"tree-plru", {60, 20}, 600}, Case{"srrip", {63, 7}, 90}));

}  // namespace
}  // namespace tessera::sim::testing
