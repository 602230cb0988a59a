// platform.h - the numbers that describe a processor, and the flat file they come from.
//
// A platform is data: the engines read nothing else about the machine. Every field has one key in the table of
// platform_keys.cpp, which gives its unit, its bounds and a sentence; `tessera-sim keys` prints that table.
// There are no defaults: a file that leaves a key out is refused, because a silently assumed TLB size is a wrong
// result. Where each value comes from is recorded in config/platforms/*.yaml.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sim {

/// A set-associative structure counted in entries. entries 0: the structure does not exist.
struct Geometry {
    uint64_t entries = 0;
    uint64_t ways = 0;
    uint64_t sets() const { return ways == 0 ? 0 : entries / ways; }
};

/// A data cache: LRU, 64-byte lines; load_cycles is the whole load-to-use time of a hit at this level.
struct CacheGeometry {
    uint64_t bytes = 0;
    uint64_t ways = 0;
    uint64_t load_cycles = 0;
    uint64_t sets() const { return bytes / 64 / ways; }
};

struct CoreLatencies {
    uint64_t alu = 0, multiply = 0, divide = 0, fp_add = 0, fp_multiply = 0, fp_divide = 0;
};

/// One prefetcher slot: `kind` names a registered prefetcher, "none" leaves it out.
struct PrefetchSlot {
    std::string kind = "none";
    uint64_t entries = 0, degree = 0, distance = 0;
};

/// Memory behind L3. channels 0: every load takes memory_load_cycles. Row buffers and queues change R only, never C.
struct Dram {
    uint64_t channels = 0, banks = 0, row_bytes = 0;
    uint64_t row_hit_saves_cycles = 0, row_conflict_adds_cycles = 0;  ///< relative to memory_load_cycles (a closed row)
    uint64_t bank_busy_cycles = 0;                                     ///< least distance between two accesses of a bank
};

struct Platform {
    uint64_t frequency_hz = 0;
    uint64_t dispatch_width = 0, rob_entries = 0, load_queue_entries = 0, store_buffer_entries = 0, mshrs = 0;
    uint64_t overlap = 1;  ///< 0: each instruction waits for the one before it to complete (ablation)
    CoreLatencies latency;

    std::string mmu_design = "conventional";
    std::string tlb_organisation = "split";
    Geometry l1_4kb, l1_2mb, l1_1gb;                     ///< L1 DTLB, split by page size
    uint64_t l1_2mb_in_4kb = 0, l1_1gb_in_4kb = 0;       ///< 1: translations of this size live in the array of 4KB ones
    Geometry l1i;                                        ///< L1 ITLB; 0 entries: the instruction side is not simulated
    Geometry stlb, stlb_2mb, stlb_1gb;
    uint64_t stlb_holds_2mb = 0, stlb_holds_1gb = 0;     ///< 1: this size shares `stlb` with 4KB
    uint64_t stlb_hit_cycles = 0;
    std::string l1_replacement = "lru", l1i_replacement = "lru", stlb_replacement = "lru";

    std::string page_table_format = "radix";
    uint64_t page_table_levels = 4;
    std::string walk_cache = "paging-structure";
    Geometry pwc_pde, pwc_pdpte, pwc_pml4e, pwc_pml5e;   ///< page-walk caches, one per level of non-leaf entries
    uint64_t walkers = 0;                                ///< 0: as many as there are misses (ablation)
    uint64_t walker_uses_mshrs = 0;                      ///< 1: a walk with a load that misses L1D holds one MSHR
    uint64_t walker_load_adds_cycles = 0;                ///< of each walker load, on top of the load time of the level that serves it
    uint64_t walker_pollutes = 1;                        ///< 0: the program's loads see caches without walker loads (ablation)

    CacheGeometry l1d, l2, l3;
    PrefetchSlot prefetch_l1d, prefetch_l2;
    std::string allocator = "identity";                  ///< physical frames of program data
    uint64_t memory_load_cycles = 0;
    uint64_t memory_cycles_per_line = 0;  ///< least distance between two line transfers; 0: no limit
    Dram dram;
};

/// One row of `tessera-sim keys`: a number (`field`) or the name of a registered component (`word`).
struct PlatformKey {
    const char* key;
    const char* unit;
    uint64_t least, most;
    const char* description;
    uint64_t& (*field)(Platform&);
    std::string& (*word)(Platform&) = nullptr;
};

const std::vector<PlatformKey>& platform_keys();

/// Parses and validates `key = value` lines (`#` starts a comment). Throws Refusal naming key, rule and value.
Platform parse_platform(const std::string& text, const std::string& name);
Platform read_platform(const std::string& path);

}  // namespace tessera::sim
