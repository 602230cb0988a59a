#include "engine/lanes/region_table.h"

#include "base/error.h"

namespace tessera::sim::lanes {

RegionTable::RegionTable(const std::vector<trace::Pool>& pools, const std::vector<const Layout*>& layouts) {
    for (const Layout* layout : layouts) spaces_.emplace_back(pools, *layout);
    for (const trace::Pool& pool : pools)
        pools_.push_back({pool.base >> 21, std::vector<uint32_t>((pool.size_bytes + 2 * mib - 1) / (2 * mib) + 1)});
}

uint32_t RegionTable::add(uint64_t number) {
    if (regions_.size() > most_regions)
        throw Refusal("touched memory", "more than " + std::to_string(most_regions) + " regions of 2MB",
                      "record a shorter or smaller run, or use --engine reference");
    const VirtAddr address(number << 21);
    const TablePath& path = page_table_.touch(address);
    Region region;
    region.number = number;
    region.pdpt_frame = path.frame[1];
    region.pd_frame = path.frame[2];
    region.pt_frame = path.frame[3];
    for (size_t lane = 0; lane < spaces_.size(); ++lane) {
        const PageSize size = spaces_[lane].page_size(address);
        if (size == PageSize::large_2mb) region.lanes_2mb |= uint16_t(1u << lane);
        if (size == PageSize::huge_1gb) region.lanes_1gb |= uint16_t(1u << lane);
    }
    regions_.push_back(region);
    return uint32_t(regions_.size() - 1);
}

uint32_t RegionTable::id_of(uint64_t number) {
    for (PoolIds& pool : pools_) {
        if (number - pool.first >= pool.ids.size()) continue;
        uint32_t& id = pool.ids[number - pool.first];
        if (id == 0) id = add(number);
        return id;
    }
    const auto found = outside_.find(number);
    if (found != outside_.end()) return found->second;
    return outside_[number] = add(number);
}

void RegionTable::map(const std::vector<uint64_t>& addresses, std::vector<uint32_t>& ids) {
    ids.resize(addresses.size());
    uint64_t last = ~uint64_t{0};
    uint32_t id = 0;
    for (size_t i = 0; i < addresses.size(); ++i) {
        const uint64_t number = addresses[i] >> 21;
        if (number != last) id = id_of(last = number);
        ids[i] = id;
    }
}

}  // namespace tessera::sim::lanes
