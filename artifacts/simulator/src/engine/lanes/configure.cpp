#include "engine/lanes/configure.h"

#include "cache/memory_node.h"
#include "engine/functional.h"
#include "engine/shared_logs.h"

namespace tessera::sim {
namespace lanes {
namespace {

ArrayShape shape(const Geometry& g, const std::string& replacement) {
    const Replacement policy = replacement == "tree-plru" ? Replacement::tree_plru
                               : replacement == "srrip"   ? Replacement::srrip
                                                          : Replacement::lru;
    return {g.sets(), uint32_t(g.ways), policy};
}

CacheConfig cache(const CacheGeometry& g, uint64_t slices = 0) {
    return {g.sets(), uint32_t(g.ways), uint32_t(g.load_cycles), uint32_t(slices)};
}

}  // namespace

MachineConfig configure(const Platform& p, size_t layouts) {
    MachineConfig c{};
    c.tlb.l1[0] = shape(p.l1_4kb, p.l1_replacement);
    c.tlb.l1[1] = shape(p.l1_2mb, p.l1_replacement);
    c.tlb.l1[2] = shape(p.l1_1gb, p.l1_replacement);
    c.tlb.l1_in_4kb[1] = p.l1_2mb_in_4kb != 0;
    c.tlb.l1_in_4kb[2] = p.l1_1gb_in_4kb != 0;
    c.tlb.stlb = shape(p.stlb, p.stlb_replacement);
    c.tlb.stlb_2mb = shape(p.stlb_2mb, p.stlb_replacement);
    c.tlb.stlb_1gb = shape(p.stlb_1gb, p.stlb_replacement);
    c.tlb.stlb_holds[0] = true;
    c.tlb.stlb_holds[1] = p.stlb_holds_2mb != 0;
    c.tlb.stlb_holds[2] = p.stlb_holds_1gb != 0;
    const Geometry* walk_caches[4] = {&p.pwc_pml5e, &p.pwc_pml4e, &p.pwc_pdpte, &p.pwc_pde};
    for (int level = 0; level < 4; ++level) c.walk_cache[level] = shape(*walk_caches[level], "lru");
    c.table_levels = uint32_t(p.page_table_levels);
    c.cache[0] = cache(p.l1d);
    c.cache[1] = cache(p.l2);
    c.cache[2] = cache(p.l3, p.l3_slices);
    c.memory_load_cycles = uint32_t(table_memory(p).load_cycles);
    c.walker_begin_cycles = uint32_t(p.walker_begin_cycles);
    c.walker_load_adds_cycles = uint32_t(p.walker_load_adds_cycles);
    c.walker_pollutes = p.walker_pollutes != 0;
    c.queues_walks = p.dram_queues_walks != 0;
    c.lanes = layouts == max_lanes ? ~uint64_t{0} : (uint64_t{1} << layouts) - 1;
    return c;
}

}  // namespace lanes

/// The machine's numbers have the loads of walks, too; instruction side and prefetchers are beside it (lane_functional.cpp).
bool same_on_lanes(const Platform& a, const Platform& b) {
    return lanes::configure(a, 1) == lanes::configure(b, 1) && SharedLogs::event_keys(a) == SharedLogs::event_keys(b);
}

std::string lanes_lack(const Platform& p) {
    const auto known = [](const std::string& r) { return r == "lru" || r == "tree-plru" || r == "srrip"; };
    if (p.mmu_design != "conventional") return "mmu.design = " + p.mmu_design.name;
    if (p.tlb_organisation != "split") return "tlb.organisation = " + p.tlb_organisation.name;
    if (p.walk_cache != "paging-structure") return "pwc.kind = " + p.walk_cache.name;
    if (p.page_table_format != "radix") return "page_table.format = " + p.page_table_format.name;
    if (p.allocator != "identity") return "memory.allocator = " + p.allocator.name;
    if (!known(p.l1_replacement)) return "tlb.l1d.replacement = " + p.l1_replacement.name;
    if (!known(p.stlb_replacement)) return "tlb.stlb.replacement = " + p.stlb_replacement.name;
    if (!(p.l1d.replacement == "lru")) return "cache.l1d.replacement = " + p.l1d.replacement.name;
    if (!(p.l2.replacement == "lru")) return "cache.l2.replacement = " + p.l2.replacement.name;
    if (!(p.l3.replacement == "lru")) return "cache.l3.replacement = " + p.l3.replacement.name;
    return "";
}

}  // namespace tessera::sim
