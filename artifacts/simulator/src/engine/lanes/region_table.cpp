#include "engine/lanes/region_table.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/error.h"
#include "os/address_limit.h"

namespace tessera::sim::lanes {
namespace {

uint32_t dense(std::unordered_map<uint64_t, uint32_t>& numbers, uint64_t key) {
    return numbers.try_emplace(key, uint32_t(numbers.size())).first->second;
}

}  // namespace

RegionTable::RegionTable(const std::vector<trace::Pool>& pools, const std::vector<const Layout*>& layouts, uint64_t table_levels,
                         size_t most)
    : page_table_(table_levels), most_(most) {
    for (const Layout* layout : layouts) spaces_.emplace_back(pools, *layout);
    for (const trace::Pool& pool : pools) {
        const uint64_t count = pool.size_bytes / (2 * mib) + 2;
        auto* ids = static_cast<uint32_t*>(std::calloc(count, sizeof(uint32_t)));
        if (ids == nullptr) throw std::bad_alloc();
        pools_.push_back({pool.base >> 21, count, {ids, std::free}});
    }
}

uint32_t RegionTable::add(uint64_t number) {
    if (regions_.size() > most_)
        throw Refusal("memory that the trace touches", "more than " + std::to_string(most_) + " regions of 2MB",
                      "record a shorter or smaller run, or use --engine reference, which has no such limit");
    const VirtAddr address(number << 21);
    check_address(address.value);
    const TablePath& path = page_table_.touch(address);
    RegionTables tables;
    std::copy(path.frame.begin(), path.frame.end(), tables.frame);
    tables_.push_back(tables);
    Region region;
    region.gigabyte = gigabytes_.try_emplace(number >> 9, uint32_t(regions_.size())).first->second;
    region.half_terabyte = dense(half_terabytes_, number >> 18);
    for (size_t lane = 0; lane < spaces_.size(); ++lane) {
        const PageSize size = spaces_[lane].page_size(address);
        region.lanes[size == PageSize::small_4kb ? 0 : size == PageSize::large_2mb ? 1 : 2] |= uint64_t{1} << lane;
    }
    regions_.push_back(region);
    return uint32_t(regions_.size() - 1);
}

uint32_t RegionTable::id_outside(uint64_t number) {
    const auto found = outside_.find(number);
    if (found != outside_.end()) return found->second;
    return outside_[number] = add(number);
}

}  // namespace tessera::sim::lanes
