// SLUB: orders of slabs, and which slab an object comes from. Derived by hand from mm/slub.c of 6.12.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "support.h"

extern "C" {
#include "slab/slab.h"
}

using namespace tests;

namespace {

struct Cache {
    explicit Cache(const slab_kind &kind = slab_known[SLAB_VM_AREA], uint32_t cpus = 1, uint64_t bytes = 64 * mib) {
        phys_config config = phys_config_default();
        config.cpus = cpus;
        memory = std::make_unique<Memory>(Memory::pc(bytes, config));
        if (!slab_cache_create(&cache, &memory->p, &kind, 0)) std::abort();
    }
    Cache(const Cache &) = delete;
    ~Cache() { slab_cache_destroy(&cache, 0); }
    slab_object get(uint32_t cpu = 0) {
        phys_outcome outcome;
        return slab_alloc(&cache, cpu, &outcome);
    }
    std::vector<slab_object> get(int count) {
        std::vector<slab_object> all;
        for (int i = 0; i < count; ++i) all.push_back(get());
        return all;
    }
    void put(slab_object object, uint32_t cpu = 0) { slab_free(&cache, object, cpu); }
    std::unique_ptr<Memory> memory;
    slab_cache cache{};
};

TEST(Slab, OrdersAndObjects) {
    const struct {
        int kind;
        uint32_t cpus, size, order, objects, partial_slabs, min_partial;
    } rows[] = {
        {SLAB_VM_AREA, 1, 160, 0, 25, 10, 5},        {SLAB_VM_AREA, 16, 160, 0, 25, 10, 5},  {SLAB_VM_AREA, 64, 160, 1, 51, 5, 5},
        {SLAB_VMA_LOCK, 4, 40, 0, 102, 3, 5},        {SLAB_ANON_VMA, 4, 104, 0, 39, 7, 5},   {SLAB_ANON_VMA_CHAIN, 4, 64, 0, 64, 4, 5},
        {SLAB_MAPLE_NODE, 4, 256, 0, 16, 7, 5},      {SLAB_MAPLE_NODE, 8, 256, 1, 32, 4, 5}, {SLAB_RADIX_TREE_NODE, 4, 584, 2, 28, 4, 5},
        {SLAB_RADIX_TREE_NODE, 1, 584, 1, 14, 8, 5},
    };
    for (const auto &row : rows) {
        Cache c(slab_known[row.kind], row.cpus);
        EXPECT_EQ(c.cache.size, row.size) << c.cache.name;
        EXPECT_EQ(c.cache.order, row.order) << c.cache.name << row.cpus;
        EXPECT_EQ(c.cache.objects, row.objects) << c.cache.name << row.cpus;
        EXPECT_EQ(c.cache.cpu_partial_slabs, row.partial_slabs) << c.cache.name;
        EXPECT_EQ(c.cache.min_partial, row.min_partial) << c.cache.name;
    }
    EXPECT_EQ(slab_order(2048, 4), 3u);      // 16 objects fill 32KB
    EXPECT_EQ(slab_order(3000, 4), 3u);      // 10 objects; 2768 bytes are lost, more than 1/16
    EXPECT_EQ(slab_order(40000, 4), 4u);     // not one object in 32KB
}

TEST(Slab, OneCpuCountsThePossibleOnes) {
    Memory memory = Memory::pc(64 * mib);
    slab_cache cache;
    ASSERT_TRUE(slab_cache_create(&cache, &memory.p, &slab_known[SLAB_MAPLE_NODE], 8));
    EXPECT_EQ(cache.order, 1u);
    slab_cache_destroy(&cache, 0);
}

TEST(Slab, RefusesImpossibleSizes) {
    Memory memory = Memory::pc(64 * mib);
    slab_cache cache;
    for (const uint32_t bytes : {0u, 32769u}) {
        const slab_kind kind = {"none", bytes, 8, false, false};
        EXPECT_FALSE(slab_cache_create(&cache, &memory.p, &kind, 0)) << bytes;
    }
}

TEST(Slab, ANewSlabAscends) {
    Cache c;
    c.memory->record();
    const auto objects = c.get(26);
    const auto allocs = c.memory->of_kind(PHYS_ALLOC);
    ASSERT_EQ(allocs.size(), 2u);
    EXPECT_EQ(allocs[0].type, PHYS_UNMOVABLE);
    for (uint64_t i = 0; i < 25; ++i) EXPECT_EQ(slab_address(&c.cache, objects[i]), allocs[0].frame * 4096ull + i * 160) << i;
    EXPECT_EQ(slab_address(&c.cache, objects[25]), allocs[1].frame * 4096ull);
    for (const slab_object object : objects) c.put(object);
    EXPECT_EQ(slab_check(&c.cache), nullptr);
}

TEST(Slab, TheLastFreedOfTheCpusSlabComesFirst) {
    Cache c;
    const auto objects = c.get(10);
    c.put(objects[3]);
    c.put(objects[7]);
    EXPECT_EQ(c.get(), objects[7]);
    EXPECT_EQ(c.get(), objects[3]);
    for (const slab_object object : objects) c.put(object);
}

TEST(Slab, AFullSlabThatLosesAnObjectIsUsedNext) {
    Cache c;
    const auto objects = c.get(50);           // two full slabs; the CPU has the second one
    c.put(objects[4]);
    EXPECT_NE(c.cache.cpu[0].partial, SLAB_NONE);
    EXPECT_EQ(c.get(), objects[4]);
    EXPECT_EQ(c.cache.counts.new_slabs, 2u);
    EXPECT_EQ(c.cache.counts.from_cpu_partial, 1u);
    for (const slab_object object : objects) c.put(object);
}

TEST(Slab, TheEleventhPartialSlabSendsTenToTheNode) {
    Cache c;
    const auto objects = c.get(25 * 12);
    for (int slab = 0; slab < 10; ++slab) c.put(objects[slab * 25]);
    EXPECT_EQ(c.cache.node_count, 0u);
    c.put(objects[10 * 25]);
    EXPECT_EQ(c.cache.node_count, 10u);
    EXPECT_EQ(c.cache.counts.to_node, 1u);
    EXPECT_EQ(slab_check(&c.cache), nullptr);
    // They become empty: freed as long as the node has five.
    for (int slab = 0; slab < 10; ++slab)
        for (int i = 1; i < 25; ++i) c.put(objects[slab * 25 + i]);
    EXPECT_EQ(c.cache.counts.freed_slabs, 6u);
    EXPECT_EQ(c.cache.node_count, 4u);
    EXPECT_EQ(slab_check(&c.cache), nullptr);
    // The youngest of the list was added last, because the CPU's list starts with its youngest: slab 9 leaves first.
    for (int slab = 10; slab < 12; ++slab)
        for (int i = slab == 10; i < 25; ++i) c.put(objects[slab * 25 + i]);
}

TEST(Slab, TheNodeGivesItsOldestAndMoreToTheCpu) {
    Cache c;
    const auto objects = c.get(25 * 12);
    for (int slab = 0; slab < 11; ++slab) c.put(objects[slab * 25]);    // ten on the node, from 9 down to 0; slab 10 at the CPU
    EXPECT_EQ(c.get(), objects[250]);         // the CPU's own partial slab
    EXPECT_EQ(c.get(), objects[225]);         // the node's first: slab 9; the nine others go to the CPU
    EXPECT_EQ(c.cache.node_count, 0u);
    EXPECT_EQ(c.cache.slab[c.cache.cpu[0].partial].behind, 9u);
    EXPECT_EQ(c.get(), objects[0]);           // the one that was added last: slab 0
    EXPECT_EQ(c.cache.counts.new_slabs, 12u);
    for (int i = 0; i < 25 * 12; ++i)
        if (i % 25 != 0 || i == 250 || i == 225 || i == 0 || i == 275) c.put(objects[i]);
    EXPECT_EQ(slab_check(&c.cache), nullptr);
}

TEST(Slab, FallsBackToTheLeastOrder) {
    Cache c(slab_known[SLAB_RADIX_TREE_NODE], 4);
    std::vector<uint32_t> frames;
    for (uint32_t frame; (frame = c.memory->alloc(0, PHYS_MOVABLE)) != PHYS_NO_FRAME;) frames.push_back(frame);
    for (const uint32_t frame : frames) ASSERT_TRUE(frame % 2 == 1 || c.memory->release(frame));        // single frames only
    percpu_drain_all(&c.memory->p, 0);
    while (c.memory->alloc(2, PHYS_UNMOVABLE) != PHYS_NO_FRAME) continue;                               // what the marks had kept
    const slab_object object = c.get();
    ASSERT_NE(object, SLAB_NO_OBJECT);
    EXPECT_EQ(c.cache.slab[0].order, 0);
    EXPECT_EQ(c.cache.slab[0].objects, 7);    // 4096 / 584
    EXPECT_EQ(c.memory->p.frames.state[c.cache.slab[0].frame], FRAME_USED << 4);
    c.put(object);
}

TEST(Slab, SaysWhyThereIsNone) {
    Cache c;
    while (c.memory->alloc(0, PHYS_UNMOVABLE) != PHYS_NO_FRAME) continue;
    phys_outcome outcome = PHYS_GOT_FRAMES;
    EXPECT_EQ(slab_alloc(&c.cache, 0, &outcome), SLAB_NO_OBJECT);
    EXPECT_NE(outcome, PHYS_GOT_FRAMES);
}

struct SlabRandom : testing::TestWithParam<uint64_t> {};

TEST_P(SlabRandom, NoObjectTwiceAndEverythingBack) {
    const Memory fresh = Memory::pc(64 * mib);
    Cache c(slab_known[GetParam() % SLAB_KNOWN], 4);
    uint64_t random = GetParam();
    std::map<uint64_t, slab_object> used;     // by address
    std::vector<uint64_t> addresses;
    for (int step = 0; step < 40000; ++step) {
        const bool grow = random_below(&random, 100) < (step / 5000 % 2 ? 35u : 65u);
        const auto cpu = static_cast<uint32_t>(random_below(&random, 4));
        if (grow) {
            const slab_object object = c.get(cpu);
            ASSERT_NE(object, SLAB_NO_OBJECT);
            const uint64_t at = slab_address(&c.cache, object);
            const auto above = used.lower_bound(at);
            ASSERT_TRUE(above == used.end() || above->first >= at + c.cache.size);
            ASSERT_TRUE(above == used.begin() || std::prev(above)->first + c.cache.size <= at);
            used[at] = object;
            addresses.push_back(at);
        } else if (!addresses.empty()) {
            const size_t pick = random_below(&random, addresses.size());
            c.put(used[addresses[pick]], cpu);
            used.erase(addresses[pick]);
            addresses[pick] = addresses.back();
            addresses.pop_back();
        }
        ASSERT_STREQ(step % 1000 ? nullptr : slab_check(&c.cache), nullptr) << step;
    }
    for (const auto &[at, object] : used) c.put(object, 1);
    ASSERT_STREQ(slab_check(&c.cache), nullptr);
    for (uint32_t cpu = 0; cpu < 4; ++cpu) slab_shrink(&c.cache, cpu);
    slab_shrink(&c.cache, 0);
    percpu_drain_all(&c.memory->p, 0);
    EXPECT_EQ(c.cache.counts.new_slabs, c.cache.counts.freed_slabs);
    for (int i = 0; i < PHYS_ZONES; ++i) EXPECT_EQ(blocks_of(c.memory->p.zones[i]), blocks_of(fresh.p.zones[i]));
}

INSTANTIATE_TEST_SUITE_P(Seeds, SlabRandom, testing::Range(uint64_t{1}, uint64_t{7}));

}  // namespace
