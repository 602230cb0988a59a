// platform_rules_test.cpp - each rule between keys at its limit: the last valid and the first invalid value.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/platform_text.h"

namespace tessera::sim::testing {
namespace {

using Changes = std::map<std::string, std::string>;

struct Case {
    const char* name;
    Changes allowed, refused;
    std::vector<std::string> words;  ///< values in the error message
};

const Changes prefetching = {
    {"prefetch.l2.kind", "stream"}, {"prefetch.l2.entries", "1"}, {"prefetch.l2.degree", "1"}, {"prefetch.l2.distance", "1"}};
const Changes memory = {{"dram.channels", "1"},
                        {"dram.banks", "1"},
                        {"dram.row_bytes", "64"},
                        {"memory.load_cycles", "10"},
                        {"dram.row_hit_saves_cycles", "9"}};

const Changes nodes = {{"numa.nodes", "2"}, {"numa.remote_load_cycles", "580"}, {"numa.remote_cycles_per_line", "13"}};

Changes with(Changes changes, const Changes& more) {
    for (const auto& [key, value] : more) changes[key] = value;
    return changes;
}

const Case cases[] = {
    {"ways divide entries",
     {{"tlb.l1d.4kb.entries", "9"}, {"tlb.l1d.4kb.ways", "3"}},
     {{"tlb.l1d.4kb.entries", "10"}, {"tlb.l1d.4kb.ways", "3"}},
     {"tlb.l1d.4kb.entries = 10", "tlb.l1d.4kb.ways = 3"}},
    {"ways without entries",
     {{"pwc.pde.entries", "2"}, {"pwc.pde.ways", "2"}},
     {{"pwc.pde.ways", "2"}},
     {"pwc.pde.entries = 0", "pwc.pde.ways = 2"}},
    {"2MB in the array of 4KB",
     {{"tlb.l1d.2mb.entries", "0"}, {"tlb.l1d.2mb.ways", "0"}, {"tlb.l1d.2mb.in_4kb", "1"}},
     {{"tlb.l1d.2mb.in_4kb", "1"}},
     {"tlb.l1d.2mb.entries = 1", "tlb.l1d.2mb.in_4kb = 1"}},
    {"1GB in no array",
     {{"tlb.l1d.1gb.entries", "0"}, {"tlb.l1d.1gb.ways", "0"}, {"tlb.l1d.1gb.in_4kb", "1"}},
     {{"tlb.l1d.1gb.entries", "0"}, {"tlb.l1d.1gb.ways", "0"}},
     {"tlb.l1d.1gb.entries = 0", "tlb.l1d.1gb.in_4kb = 0"}},
    {"2MB in two second levels",
     {{"tlb.stlb.entries", "4"}, {"tlb.stlb.ways", "4"}, {"tlb.stlb_2mb.entries", "2"}, {"tlb.stlb_2mb.ways", "2"}},
     {{"tlb.stlb.entries", "4"},
      {"tlb.stlb.ways", "4"},
      {"tlb.stlb_2mb.entries", "2"},
      {"tlb.stlb_2mb.ways", "2"},
      {"tlb.stlb.holds_2mb", "1"}},
     {"tlb.stlb.holds_2mb = 1", "tlb.stlb_2mb.entries = 2"}},
    {"1GB shares an STLB",
     {{"tlb.stlb.entries", "4"}, {"tlb.stlb.ways", "4"}, {"tlb.stlb.holds_1gb", "1"}},
     {{"tlb.stlb.holds_1gb", "1"}},
     {"tlb.stlb.entries = 0"}},
    {"PML5",
     {{"page_table.levels", "5"}, {"pwc.pml5e.entries", "1"}, {"pwc.pml5e.ways", "1"}},
     {{"pwc.pml5e.entries", "1"}, {"pwc.pml5e.ways", "1"}},
     {"page_table.levels = 4"}},
    {"whole sets",
     {{"cache.l2.bytes", "65472"}, {"cache.l2.ways", "3"}},
     {{"cache.l2.ways", "3"}},
     {"cache.l2.bytes = 65536", "cache.l2.ways = 3"}},
    {"slices",
     {{"cache.l3.bytes", "12288"}, {"cache.l3.ways", "2"}, {"cache.l3.slices", "12"}},
     {{"cache.l3.bytes", "12288"}, {"cache.l3.ways", "2"}, {"cache.l3.slices", "9"}},
     {"cache.l3.slices = 9", "96 sets"}},
    {"latencies",
     {{"cache.l3.load_cycles", "7"}, {"memory.load_cycles", "7"}},
     {{"cache.l3.load_cycles", "7"}, {"memory.load_cycles", "6"}},
     {"cache.l3.load_cycles = 7", "memory.load_cycles = 6"}},
    {"prefetcher without a table",
     prefetching,
     with(prefetching, {{"prefetch.l2.entries", "0"}}),
     {"prefetch.l2.kind = stream", "prefetch.l2.entries = 0"}},
    {"table without a prefetcher", {}, {{"prefetch.l1d.degree", "1"}}, {"prefetch.l1d.kind = none", "prefetch.l1d.degree = 1"}},
    {"banks without channels", {}, {{"dram.banks", "8"}}, {"dram.channels = 0", "dram.banks = 8"}},
    {"channels without rows", memory, with(memory, {{"dram.row_bytes", "0"}}), {"dram.row_bytes = 0"}},
    {"a row below a line", memory, with(memory, {{"dram.row_bytes", "32"}}), {"dram.row_bytes = 32", "64 bytes", "8192"}},
    {"an odd row", memory, with(memory, {{"dram.row_bytes", "96"}}), {"dram.row_bytes = 96", "64 bytes", "8192"}},
    {"an open row in no time",
     memory,
     with(memory, {{"dram.row_hit_saves_cycles", "10"}}),
     {"dram.row_hit_saves_cycles = 10", "memory.load_cycles = 10"}},
    {"a remote latency of one node",
     {{"numa.nodes", "2"}, {"numa.remote_load_cycles", "100000"}, {"numa.remote_cycles_per_line", "10000"}},
     {{"numa.remote_load_cycles", "100000"}},
     {"numa.nodes = 1", "numa.remote_load_cycles = 100000"}},
    {"a node beyond the last",
     with(nodes, {{"numa.table_node", "1"}}),
     with(nodes, {{"numa.table_node", "2"}}),
     {"numa.nodes = 2", "numa.table_node = 2"}},
    {"a remote memory that is faster",
     with(nodes, {{"memory.load_cycles", "580"}}),
     with(nodes, {{"memory.load_cycles", "581"}}),
     {"memory.load_cycles = 581", "numa.remote_load_cycles = 580"}},
    {"a remote rate that is faster",
     with(nodes, {{"memory.cycles_per_line", "13"}}),
     with(nodes, {{"memory.cycles_per_line", "14"}}),
     {"memory.cycles_per_line = 14", "numa.remote_cycles_per_line = 13"}},
    {"a direct map of other pages", {{"os.direct_map_mb", "2"}}, {{"os.direct_map_mb", "4"}}, {"os.direct_map_mb = 4"}},
    {"a wait without end",
     with(nodes, {{"memory.cycles_per_line", "10"}, {"numa.hog_lines", "9942"}}),
     with(nodes, {{"memory.cycles_per_line", "10"}, {"numa.hog_lines", "9943"}}),
     {"numa.hog_lines = 9943"}},
    {"a name with a blank", {{"memory.allocator", "scattered-2_B"}}, {{"memory.allocator", "two words"}}, {"memory.allocator = two words"}},
};

TEST(PlatformRules, EachHoldsAtItsBorder) {
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        EXPECT_NO_THROW(parse_platform(platform_text(c.allowed), "p"));
        try {
            parse_platform(platform_text(c.refused), "p");
            ADD_FAILURE() << "accepted";
        } catch (const Refusal& refusal) {
            const std::string message = refusal.what();
            EXPECT_NE(message.find("platform p"), std::string::npos) << message;
            EXPECT_NE(message.find("what to do"), std::string::npos) << message;
            for (const std::string& word : c.words) EXPECT_NE(message.find(word), std::string::npos) << message;
        }
    }
}

}  // namespace
}  // namespace tessera::sim::testing
