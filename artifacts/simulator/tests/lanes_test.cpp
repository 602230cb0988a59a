// lanes_test.cpp - parts of the lane machine that random traces reach too rarely: stamps running out, set indices.
#include <gtest/gtest.h>

#include "engine/lanes/isa.h"
#include "engine/lanes/region_table.h"
#include "engine/lanes/time_stamps.h"
#include "support/platforms.h"
#include "support/synthetic.h"

#define TESSERA_ISA lanes_test_isa
#include "engine/lanes/storage.h"

namespace tessera::sim::testing {
namespace {

TEST(SetIndex, IsTheRemainderForAnyNumberOfSets) {
    std::mt19937_64 random(5);
    for (uint64_t sets : {1ull, 2ull, 3ull, 9ull, 64ull, 256ull, 12288ull, 49152ull, 53248ull, 1000003ull}) {
        const lanes::lanes_test_isa::SetIndex index(sets);
        for (int i = 0; i < 20000; ++i) {
            const uint64_t line = random() >> 22;  // 42 bits
            ASSERT_EQ(index(line), line % sets) << line << " of " << sets;
        }
        ASSERT_EQ(index((uint64_t{1} << 42) - 1), ((uint64_t{1} << 42) - 1) % sets);
    }
}

/// Counts of one lane after the same accesses, with stamps renumbered after each piece or never.
lanes::LaneCounts run_pieces(bool renumber) {
    const Layout layout = all_4kb();
    lanes::RegionTable regions({{trace::PoolKind::heap, heap_base, uint64_t{1} << 30, 0}}, {&layout});
    const auto machine = lanes::make_machine(tiny(1), 1);
    std::mt19937_64 random(6);
    for (int piece = 0; piece < 40; ++piece) {
        std::vector<uint64_t> addresses;
        for (int i = 0; i < 500; ++i) addresses.push_back(heap_base + random() % (uint64_t{1} << 22));
        std::vector<uint32_t> ids;
        regions.map(addresses, ids);
        const std::vector<uint8_t> stores(addresses.size());
        machine->counted({addresses.data(), ids.data(), stores.data(), addresses.size(), regions.regions(), regions.table_frames()});
        if (renumber) lanes::renumber_stamps(*machine);
    }
    return machine->counts();
}

TEST(TimeStamps, RenumberingChangesNothing) {
    const lanes::LaneCounts a = run_pieces(false), b = run_pieces(true);
    EXPECT_EQ(a.unit_walk_cycles[0], b.unit_walk_cycles[0]);
    for (int level = 0; level < 3; ++level) EXPECT_EQ(a.program_missed[level][0], b.program_missed[level][0]);
    EXPECT_GT(a.program_missed[2][0], 0u);
}

TEST(RegionTable, RefusesMoreMemoryThanItCanNumber) {
    const Layout layout = all_4kb();
    lanes::RegionTable regions({}, {&layout});
    std::vector<uint64_t> addresses;
    for (uint64_t r = 0; r < lanes::RegionTable::most_regions; ++r) addresses.push_back(r << 21);
    std::vector<uint32_t> ids;
    regions.map(addresses, ids);
    addresses = {lanes::RegionTable::most_regions << 21};
    EXPECT_ANY_THROW(regions.map(addresses, ids));
}

}  // namespace
}  // namespace tessera::sim::testing
