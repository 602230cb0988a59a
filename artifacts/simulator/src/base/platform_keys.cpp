// platform_keys.cpp - the one table of platform parameters: key, unit, bounds, sentence, field.
#include "base/platform.h"

namespace tessera::sim {

#define KEY(name, unit, least, most, field, text) \
    {name, unit, least, most, text, [](Platform& p) -> uint64_t& { return p.field; }, nullptr}
#define WORD(name, field, text) \
    {name, "name", 0, 0, text, nullptr, [](Platform& p) -> std::string& { return p.field; }}

const std::vector<PlatformKey>& platform_keys() {
    static const std::vector<PlatformKey> keys = {
        KEY("core.frequency_hz", "Hz", 1, 100'000'000'000, frequency_hz, "Clock used to turn cycles into nanoseconds"),
        KEY("core.dispatch_width", "instructions/cycle", 1, 16, dispatch_width, "Instructions that enter the window in a cycle"),
        KEY("core.rob_entries", "instructions", 1, 4096, rob_entries, "Reorder buffer: the distance between the oldest and the youngest instruction in flight"),
        KEY("core.load_queue_entries", "loads", 1, 1024, load_queue_entries, "Loads in flight"),
        KEY("core.store_buffer_entries", "stores", 1, 1024, store_buffer_entries, "Stores that wait to be written to L1D"),
        KEY("core.mshrs", "lines", 1, 64, mshrs, "L1D misses outstanding at once (line fill buffers)"),
        KEY("core.latency.alu", "cycles", 1, 1000, latency.alu, "Integer operations, branches and everything without a key of its own"),
        KEY("core.latency.multiply", "cycles", 1, 1000, latency.multiply, "Integer multiplication"),
        KEY("core.latency.divide", "cycles", 1, 1000, latency.divide, "Integer division"),
        KEY("core.latency.fp_add", "cycles", 1, 1000, latency.fp_add, "Floating-point addition"),
        KEY("core.latency.fp_multiply", "cycles", 1, 1000, latency.fp_multiply, "Floating-point multiplication"),
        KEY("core.latency.fp_divide", "cycles", 1, 1000, latency.fp_divide, "Floating-point division and square root"),
        KEY("core.overlap", "0 or 1", 0, 1, overlap, "0: each instruction waits until the one before it is complete (an ablation); processors: 1"),
        WORD("mmu.design", mmu_design, "How data is translated (`tessera-sim list designs`); processors: conventional"),
        WORD("tlb.organisation", tlb_organisation, "How TLB arrays share the page sizes (`tessera-sim list tlbs`); processors: split"),
        KEY("tlb.l1d.4kb.entries", "entries", 1, 65536, l1_4kb.entries, "L1 DTLB entries for 4KB pages"),
        KEY("tlb.l1d.4kb.ways", "ways", 1, 64, l1_4kb.ways, "Associativity of the L1 DTLB for 4KB pages"),
        KEY("tlb.l1d.2mb.entries", "entries", 0, 65536, l1_2mb.entries, "L1 DTLB entries for 2MB pages; 0 with in_4kb = 1"),
        KEY("tlb.l1d.2mb.ways", "ways", 0, 64, l1_2mb.ways, "Associativity of the L1 DTLB for 2MB pages; 0 with in_4kb = 1"),
        KEY("tlb.l1d.2mb.in_4kb", "0 or 1", 0, 1, l1_2mb_in_4kb, "1: 2MB translations live in the L1 array of 4KB pages"),
        KEY("tlb.l1d.1gb.entries", "entries", 0, 65536, l1_1gb.entries, "L1 DTLB entries for 1GB pages; 0 with in_4kb = 1"),
        KEY("tlb.l1d.1gb.ways", "ways", 0, 64, l1_1gb.ways, "Associativity of the L1 DTLB for 1GB pages; 0 with in_4kb = 1"),
        KEY("tlb.l1d.1gb.in_4kb", "0 or 1", 0, 1, l1_1gb_in_4kb, "1: 1GB translations live in the L1 array of 4KB pages"),
        WORD("tlb.l1d.replacement", l1_replacement, "Replacement of the L1 DTLB arrays (`tessera-sim list replacements`)"),
        KEY("tlb.l1i.entries", "entries", 0, 65536, l1i.entries, "L1 ITLB entries; 0: the instruction side is not simulated"),
        KEY("tlb.l1i.ways", "ways", 0, 64, l1i.ways, "Associativity of the L1 ITLB; 0 with 0 entries"),
        WORD("tlb.l1i.replacement", l1i_replacement, "Replacement of the L1 ITLB"),
        KEY("tlb.stlb.entries", "entries", 0, 1048576, stlb.entries, "STLB entries for 4KB (and perhaps 2MB) pages; 0: none"),
        KEY("tlb.stlb.ways", "ways", 0, 64, stlb.ways, "Associativity of the STLB; 0 with 0 entries"),
        KEY("tlb.stlb.holds_2mb", "0 or 1", 0, 1, stlb_holds_2mb, "1: 4KB and 2MB pages share the STLB; 0: 2MB pages walk on every L1 miss"),
        KEY("tlb.stlb.holds_1gb", "0 or 1", 0, 1, stlb_holds_1gb, "1: 4KB and 1GB pages share the STLB"),
        KEY("tlb.stlb.hit_cycles", "cycles", 0, 1000, stlb_hit_cycles, "Time that an STLB look-up adds to an access that missed L1"),
        WORD("tlb.stlb.replacement", stlb_replacement, "Replacement of all second-level arrays"),
        KEY("tlb.stlb_2mb.entries", "entries", 0, 65536, stlb_2mb.entries, "Second-level entries for 2MB pages of their own; 0: none"),
        KEY("tlb.stlb_2mb.ways", "ways", 0, 64, stlb_2mb.ways, "Their associativity; 0 with 0 entries"),
        KEY("tlb.stlb_1gb.entries", "entries", 0, 65536, stlb_1gb.entries, "Second-level entries for 1GB pages; 0: none"),
        KEY("tlb.stlb_1gb.ways", "ways", 0, 64, stlb_1gb.ways, "Their associativity; 0 with 0 entries"),
        WORD("pwc.kind", walk_cache, "Page-walk caches (`tessera-sim list walk-caches`); processors: paging-structure"),
        KEY("pwc.pde.entries", "entries", 0, 65536, pwc_pde.entries, "Page-walk cache of page-directory entries; 0: none"),
        KEY("pwc.pde.ways", "ways", 0, 64, pwc_pde.ways, "Its associativity; 0 with 0 entries"),
        KEY("pwc.pdpte.entries", "entries", 0, 65536, pwc_pdpte.entries, "Page-walk cache of page-directory-pointer-table entries; 0: none"),
        KEY("pwc.pdpte.ways", "ways", 0, 64, pwc_pdpte.ways, "Its associativity; 0 with 0 entries"),
        KEY("pwc.pml4e.entries", "entries", 0, 65536, pwc_pml4e.entries, "Page-walk cache of PML4 entries; 0: none"),
        KEY("pwc.pml4e.ways", "ways", 0, 64, pwc_pml4e.ways, "Its associativity; 0 with 0 entries"),
        KEY("pwc.pml5e.entries", "entries", 0, 65536, pwc_pml5e.entries, "Page-walk cache of PML5 entries; 0: none"),
        KEY("pwc.pml5e.ways", "ways", 0, 64, pwc_pml5e.ways, "Its associativity; 0 with 0 entries"),
        WORD("page_table.format", page_table_format, "Page-table format (`tessera-sim list page-tables`)"),
        KEY("page_table.levels", "levels", 4, 5, page_table_levels, "Levels of a radix page table"),
        KEY("walker.count", "walkers", 0, 8, walkers, "Page walks that can proceed at the same time; 0: any number (an ablation)"),
        KEY("walker.uses_mshrs", "0 or 1", 0, 1, walker_uses_mshrs, "1: a walk with a load that misses L1D holds one of core.mshrs for its latency"),
        KEY("walker.load_adds_cycles", "cycles", 0, 4000, walker_load_adds_cycles, "What each load of a walk takes beyond the load time of the level that serves it, as under nested paging"),
        KEY("walker.pollutes", "0 or 1", 0, 1, walker_pollutes, "0: the program's loads see caches that walker loads never entered (an ablation); processors: 1"),
        KEY("cache.l1d.bytes", "bytes", 64, 1ull << 32, l1d.bytes, "L1 data cache size"),
        KEY("cache.l1d.ways", "ways", 1, 32, l1d.ways, "L1 data cache associativity"),
        KEY("cache.l1d.load_cycles", "cycles", 1, 10000, l1d.load_cycles, "Load-to-use time of an L1 data cache hit"),
        KEY("cache.l2.bytes", "bytes", 64, 1ull << 32, l2.bytes, "L2 cache size"),
        KEY("cache.l2.ways", "ways", 1, 32, l2.ways, "L2 cache associativity"),
        KEY("cache.l2.load_cycles", "cycles", 1, 10000, l2.load_cycles, "Load-to-use time of an L2 hit"),
        KEY("cache.l3.bytes", "bytes", 64, 1ull << 32, l3.bytes, "L3 cache size (the whole socket's: one program runs alone)"),
        KEY("cache.l3.ways", "ways", 1, 32, l3.ways, "L3 cache associativity"),
        KEY("cache.l3.load_cycles", "cycles", 1, 10000, l3.load_cycles, "Load-to-use time of an L3 hit"),
        WORD("prefetch.l1d.kind", prefetch_l1d.kind, "Prefetcher into L1D (`tessera-sim list prefetchers`); none: off"),
        KEY("prefetch.l1d.entries", "entries", 0, 4096, prefetch_l1d.entries, "Its table"),
        KEY("prefetch.l1d.degree", "lines", 0, 64, prefetch_l1d.degree, "Lines that it asks for at once"),
        KEY("prefetch.l1d.distance", "lines or strides", 0, 256, prefetch_l1d.distance, "How far ahead it asks"),
        WORD("prefetch.l2.kind", prefetch_l2.kind, "Prefetcher into L2 (`tessera-sim list prefetchers`); none: off"),
        KEY("prefetch.l2.entries", "entries", 0, 4096, prefetch_l2.entries, "Its table"),
        KEY("prefetch.l2.degree", "lines", 0, 64, prefetch_l2.degree, "Lines that it asks for at once"),
        KEY("prefetch.l2.distance", "lines or strides", 0, 256, prefetch_l2.distance, "How far ahead it asks"),
        KEY("memory.load_cycles", "cycles", 1, 100000, memory_load_cycles, "Load-to-use time of a load from memory"),
        KEY("memory.cycles_per_line", "cycles", 0, 10000, memory_cycles_per_line, "Least distance between two line transfers of the program; 0: no bandwidth limit"),
        WORD("memory.allocator", allocator, "Physical frames of program data (`tessera-sim list allocators`)"),
        KEY("dram.channels", "channels", 0, 64, dram.channels, "Memory channels, lines interleaved; 0: every load takes memory.load_cycles"),
        KEY("dram.banks", "banks", 0, 1024, dram.banks, "Banks of a channel"),
        KEY("dram.row_bytes", "bytes", 0, 1048576, dram.row_bytes, "Bytes of a row buffer"),
        KEY("dram.row_hit_saves_cycles", "cycles", 0, 10000, dram.row_hit_saves_cycles, "What an open row saves of memory.load_cycles, in R only"),
        KEY("dram.row_conflict_adds_cycles", "cycles", 0, 10000, dram.row_conflict_adds_cycles, "What closing another row adds to memory.load_cycles, in R only"),
        KEY("dram.bank_busy_cycles", "cycles", 0, 10000, dram.bank_busy_cycles, "Least distance between two accesses of a bank"),
    };
    return keys;
}

#undef KEY
#undef WORD

}  // namespace tessera::sim
