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

struct Platform {
    uint64_t frequency_hz = 0;
    uint64_t dispatch_width = 0, rob_entries = 0, load_queue_entries = 0, store_buffer_entries = 0, mshrs = 0;
    CoreLatencies latency;

    Geometry l1_4kb, l1_2mb, l1_1gb;  ///< L1 DTLB, split by page size
    Geometry stlb, stlb_1gb;
    uint64_t stlb_holds_2mb = 0;  ///< 1: 4KB and 2MB translations share the STLB
    uint64_t stlb_hit_cycles = 0;

    Geometry pwc_pde, pwc_pdpte, pwc_pml4e;  ///< page-walk caches, one per level of non-leaf entries
    uint64_t walkers = 0;

    CacheGeometry l1d, l2, l3;
    uint64_t memory_load_cycles = 0;
    uint64_t memory_cycles_per_line = 0;  ///< least distance between two line transfers; 0: no limit
};

/// One row of `tessera-sim keys`.
struct PlatformKey {
    const char* key;
    const char* unit;
    uint64_t least, most;
    const char* description;
    uint64_t& (*field)(Platform&);
};

const std::vector<PlatformKey>& platform_keys();

/// Parses and validates `key = value` lines (`#` starts a comment). Throws Refusal naming key, rule and value.
Platform parse_platform(const std::string& text, const std::string& name);
Platform read_platform(const std::string& path);

}  // namespace tessera::sim
