// Random accesses under memory pressure, with and without huge pages, swap of two kinds, compaction: every page keeps its content; after
// the exit all frames and all slots are back.
#include <gtest/gtest.h>

#include "pressure_support.h"

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 3000;

struct Random : testing::TestWithParam<uint64_t> {};

TEST_P(Random, ContentsSurviveSwapAndMigration) {
    const uint64_t seed = GetParam();
    const auto enabled = seed % 3 == 0 ? THP_NEVER : THP_ALWAYS;
    const auto defrag = static_cast<thp_defrag>(seed % THP_DEFRAG_VALUES);
    Pressure p(settings_of(enabled, defrag), 32 * mib, 16384, seed % 2);
    const uint64_t pages = 14000;      // 55MB in 32MB
    uint64_t random = seed;
    const auto below = [&](uint64_t bound) { return random_below(&random, bound); };
    ASSERT_EQ(p.map(at, pages), nullptr);
    for (int part = 0; part < 12; ++part) {
        for (int i = 0; i < 250; ++i) {
            const uint64_t start = at + below(pages), count = std::min<uint64_t>(1 + below(below(4) ? 30 : 600), at + pages - start);
            const uint64_t choice = below(60);
            if (choice == 0) {
                ASSERT_EQ(process_advise(&p.process, start, count, ADVICE_DONTNEED, 0), nullptr);
                p.forget(start, count);
            } else if (choice == 1) {
                compact_all(&p.system.compact, 0);
            } else if (choice == 2) {
                kswapd_pass(&p.system.reclaim, 0);
            } else if (choice == 3) {
                p.collapse();
            } else {
                const bool write = below(3) > 0;
                for (uint64_t page = start; page < start + count; ++page) {
                    const fault result = p.access(page, write);
                    ASSERT_NE(result.kind, FAULT_NEEDS) << "part " << part << " step " << i;
                    ASSERT_EQ(p.wrong, 0u) << "part " << part << " step " << i << " kind " << fault_kind_name(result.kind);
                }
            }
        }
        ASSERT_STREQ(p.broken(), nullptr) << part;
    }
    EXPECT_GT(p.system.swap.counts.pswpout, 1000u);
    EXPECT_GT(p.system.swap.counts.pswpin, 1000u);
    EXPECT_GT(p.moved, 0u);
    p.end();
    vm_shrink_huge_zero(&p.system, 0);
    EXPECT_EQ(p.system.lru.size[LRU_INACTIVE_ANON] + p.system.lru.size[LRU_ACTIVE_ANON], 0u);
    for (uint32_t cpu = 0; cpu < p.memory.p.cpus; ++cpu) cluster_drain_cpu(&p.system.swap, cpu);
    EXPECT_EQ(p.system.swap.in_use, 0u);
    EXPECT_EQ(p.system.swap.free, 16383);
    percpu_drain_all(&p.memory.p, 0);
    ASSERT_STREQ(p.broken(), nullptr);
    const Memory fresh = Memory::pc(32 * mib, config_for(p.system.thp));
    EXPECT_EQ(free_everywhere(p.memory.p), free_everywhere(fresh.p));
    for (int i = 0; i < PHYS_ZONES; ++i) EXPECT_EQ(blocks_of(p.memory.p.zones[i]), blocks_of(fresh.p.zones[i])) << phys_zone_name(i);
}

INSTANTIATE_TEST_SUITE_P(Pressure, Random, testing::Range(uint64_t{1}, uint64_t{9}));

}  // namespace
