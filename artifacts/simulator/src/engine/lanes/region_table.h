// region_table.h - dense numbers for the 2MB regions that a program touches, and what each lane maps them with.
//
// The vector code packs tags into 32 bits. Truncated addresses would collide and give counts that look plausible, so
// regions are renumbered in first-touch order and a program that touches more than fit is refused.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/lanes/machine.h"
#include "os/address_space.h"
#include "pagetable/page_table.h"

namespace tessera::sim::lanes {

class RegionTable {
public:
    /// 17 bits of region, 9 of page, 6 of line: 256GB of touched memory.
    static constexpr size_t most_regions = (size_t{1} << 17) - 1;

    RegionTable(const std::vector<trace::Pool>& pools, const std::vector<const Layout*>& layouts);

    /// Region ids of the frame's accesses. Throws Refusal past most_regions.
    void map(const std::vector<uint64_t>& addresses, std::vector<uint32_t>& ids);

    const Region* regions() const { return regions_.data(); }
    uint32_t table_frames() const { return page_table_.frames(); }

private:
    struct PoolIds {
        uint64_t first;             ///< 2MB region number of the pool's base
        std::vector<uint32_t> ids;  ///< 0: not touched yet
    };
    uint32_t id_of(uint64_t number);
    uint32_t add(uint64_t number);

    std::vector<AddressSpace> spaces_;
    std::vector<PoolIds> pools_;
    std::unordered_map<uint64_t, uint32_t> outside_;
    std::vector<Region> regions_{1};
    PageTable page_table_;
};

}  // namespace tessera::sim::lanes
