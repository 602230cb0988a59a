// machine_config.h - the platform as the vector code gets it: plain numbers (base/platform.h has strings, whose code is
// the C++ library's).
#pragma once

#include <cstdint>

namespace tessera::sim::lanes {

enum class Replacement : uint8_t { lru, tree_plru, srrip };

/// sets 0: there is no such array.
struct ArrayShape {
    uint64_t sets;
    uint32_t ways;
    Replacement replacement;
    bool operator==(const ArrayShape&) const = default;
};

struct TlbConfig {
    ArrayShape l1[3];           ///< 4KB, 2MB, 1GB
    bool l1_in_4kb[3];          ///< this size lives in l1[0]
    ArrayShape stlb, stlb_2mb, stlb_1gb;
    bool stlb_holds[3];         ///< 4KB: always
    bool operator==(const TlbConfig&) const = default;
};

struct CacheConfig {
    uint64_t sets;
    uint32_t ways;
    uint32_t load_cycles;
    uint32_t slices;            ///< cache/slice_hash.h; 0: no hash (L1D and L2 never have one)
    bool operator==(const CacheConfig&) const = default;
};

struct MachineConfig {
    TlbConfig tlb;
    ArrayShape walk_cache[4];   ///< of pml5e, pml4e, pdpte, pde
    uint32_t table_levels;      ///< 4 or 5
    CacheConfig cache[3];
    uint32_t memory_load_cycles, walker_begin_cycles, walker_load_adds_cycles;
    bool walker_pollutes, queues_walks;
    uint64_t lanes;             ///< one bit a layout
    bool operator==(const MachineConfig&) const = default;
};

}  // namespace tessera::sim::lanes
