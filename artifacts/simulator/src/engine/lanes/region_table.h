// region_table.h - dense numbers for the 2MB regions that a program touches, and their page size in each lane.
//
// The vector code names pages by region number and index. Truncated addresses would collide and give wrong counts that look
// plausible. So regions are numbered in the order of their first touch. A program that touches too many gives an error.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/lanes/machine.h"
#include "os/address_space.h"
#include "pagetable/page_table.h"

namespace tessera::sim::lanes {

class RegionTable {
public:
    /// 4TB of touched memory.
    static constexpr size_t most_regions = (size_t{1} << 21) - 1;

    RegionTable(const std::vector<trace::Pool>& pools, const std::vector<const Layout*>& layouts, uint64_t table_levels,
                size_t most = most_regions);

    /// Region ids of accesses, in program order. Throws Refusal past `most` regions, or at an address of more than 48 bits.
    void map(const uint64_t* addresses, size_t count, uint32_t* ids) {
        uint32_t id = last_id_;
        uint64_t last = last_number_;
        for (size_t i = 0; i < count; ++i) {
            if (const uint64_t number = addresses[i] >> 21; number != last) id = id_of(last = number);
            ids[i] = id;
        }
        last_id_ = id;
        last_number_ = last;
    }

    /// By id; valid until the next map().
    const Region* regions() const { return regions_.data(); }
    size_t count() const { return regions_.size(); }
    const RegionTables* page_tables() const { return tables_.data(); }

private:
    struct PoolIds {
        uint64_t first, count;  ///< 2MB region numbers
        std::unique_ptr<uint32_t[], void (*)(void*)>
            ids;  ///< 0: not touched yet; from calloc: a pool may be far larger than what is touched
    };
    uint32_t id_of(uint64_t number) {
        for (PoolIds& pool : pools_) {
            if (number - pool.first >= pool.count) continue;
            uint32_t& id = pool.ids[number - pool.first];
            return id != 0 ? id : id = add(number);
        }
        return id_outside(number);
    }
    uint32_t id_outside(uint64_t number);
    uint32_t add(uint64_t number);

    std::vector<AddressSpace> spaces_;
    std::vector<PoolIds> pools_;
    std::unordered_map<uint64_t, uint32_t> outside_, gigabytes_, half_terabytes_;
    std::vector<Region> regions_{1};
    std::vector<RegionTables> tables_{1};
    PageTable page_table_;
    size_t most_;
    uint64_t last_number_ = ~uint64_t{0};
    uint32_t last_id_ = 0;
};

}  // namespace tessera::sim::lanes
