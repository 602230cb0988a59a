// platform_keys.cpp - the one table of platform parameters: key, unit, bounds, sentence, field.
#include "base/platform.h"

namespace tessera::sim {

#define KEY(name, unit, least, most, field, text) \
    {name, unit, least, most, text, [](Platform& p) -> uint64_t& { return p.field; }}

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
        KEY("tlb.l1d.4kb.entries", "entries", 1, 65536, l1_4kb.entries, "L1 DTLB entries for 4KB pages"),
        KEY("tlb.l1d.4kb.ways", "ways", 1, 64, l1_4kb.ways, "Associativity of the L1 DTLB for 4KB pages"),
        KEY("tlb.l1d.2mb.entries", "entries", 1, 65536, l1_2mb.entries, "L1 DTLB entries for 2MB pages"),
        KEY("tlb.l1d.2mb.ways", "ways", 1, 64, l1_2mb.ways, "Associativity of the L1 DTLB for 2MB pages"),
        KEY("tlb.l1d.1gb.entries", "entries", 1, 65536, l1_1gb.entries, "L1 DTLB entries for 1GB pages"),
        KEY("tlb.l1d.1gb.ways", "ways", 1, 64, l1_1gb.ways, "Associativity of the L1 DTLB for 1GB pages"),
        KEY("tlb.stlb.entries", "entries", 0, 1048576, stlb.entries, "STLB entries for 4KB (and perhaps 2MB) pages; 0: none"),
        KEY("tlb.stlb.ways", "ways", 0, 64, stlb.ways, "Associativity of the STLB; 0 with 0 entries"),
        KEY("tlb.stlb.holds_2mb", "0 or 1", 0, 1, stlb_holds_2mb, "1: 4KB and 2MB pages share the STLB; 0: 2MB pages walk on every L1 miss"),
        KEY("tlb.stlb.hit_cycles", "cycles", 0, 1000, stlb_hit_cycles, "Time that an STLB look-up adds to an access that missed L1"),
        KEY("tlb.stlb_1gb.entries", "entries", 0, 65536, stlb_1gb.entries, "Second-level entries for 1GB pages; 0: none"),
        KEY("tlb.stlb_1gb.ways", "ways", 0, 64, stlb_1gb.ways, "Their associativity; 0 with 0 entries"),
        KEY("pwc.pde.entries", "entries", 0, 65536, pwc_pde.entries, "Page-walk cache of page-directory entries; 0: none"),
        KEY("pwc.pde.ways", "ways", 0, 64, pwc_pde.ways, "Its associativity; 0 with 0 entries"),
        KEY("pwc.pdpte.entries", "entries", 0, 65536, pwc_pdpte.entries, "Page-walk cache of page-directory-pointer-table entries; 0: none"),
        KEY("pwc.pdpte.ways", "ways", 0, 64, pwc_pdpte.ways, "Its associativity; 0 with 0 entries"),
        KEY("pwc.pml4e.entries", "entries", 0, 65536, pwc_pml4e.entries, "Page-walk cache of PML4 entries; 0: none"),
        KEY("pwc.pml4e.ways", "ways", 0, 64, pwc_pml4e.ways, "Its associativity; 0 with 0 entries"),
        KEY("walker.count", "walkers", 1, 8, walkers, "Page walks that can proceed at the same time"),
        KEY("cache.l1d.bytes", "bytes", 64, 1ull << 32, l1d.bytes, "L1 data cache size"),
        KEY("cache.l1d.ways", "ways", 1, 32, l1d.ways, "L1 data cache associativity"),
        KEY("cache.l1d.load_cycles", "cycles", 1, 10000, l1d.load_cycles, "Load-to-use time of an L1 data cache hit"),
        KEY("cache.l2.bytes", "bytes", 64, 1ull << 32, l2.bytes, "L2 cache size"),
        KEY("cache.l2.ways", "ways", 1, 32, l2.ways, "L2 cache associativity"),
        KEY("cache.l2.load_cycles", "cycles", 1, 10000, l2.load_cycles, "Load-to-use time of an L2 hit"),
        KEY("cache.l3.bytes", "bytes", 64, 1ull << 32, l3.bytes, "L3 cache size (the whole socket's: one program runs alone)"),
        KEY("cache.l3.ways", "ways", 1, 32, l3.ways, "L3 cache associativity"),
        KEY("cache.l3.load_cycles", "cycles", 1, 10000, l3.load_cycles, "Load-to-use time of an L3 hit"),
        KEY("memory.load_cycles", "cycles", 1, 100000, memory_load_cycles, "Load-to-use time of a load from memory"),
        KEY("memory.cycles_per_line", "cycles", 0, 10000, memory_cycles_per_line, "Least distance between two line transfers of the program; 0: no bandwidth limit"),
    };
    return keys;
}

#undef KEY

}  // namespace tessera::sim
