// address_space.h - applies a layout or a mapping to the pools of a traced process: virtual address -> page size, frame, chunk.
//
// Addresses outside the pools (stack, globals, the libraries' data) have 4KB pages in every layout and mapping.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "os/layout.h"
#include "os/mapped_pages.h"

namespace tessera::sim {

/// An area of the process that the operating system knows: a pool.
struct Area {
    trace::PoolKind pool;
    VirtRange range;
};

class AddressSpace {
public:
    AddressSpace(const std::vector<trace::Pool>& pools, const Layout& layout) {
        for (const trace::Pool& pool : pools) {
            areas_.push_back({pool.kind, {VirtAddr(pool.base), VirtAddr(pool.base + pool.size_bytes)}});
            for (const Window& w : layout.windows)
                if (w.pool == pool.kind) ranges_.push_back({pool.base + w.begin, pool.base + w.end, w.page_size});
        }
        std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
        if (layout.mapping) mapped_.emplace(layout.mapping, pools);
    }

    /// Throws Unmapped under a mapping that lacks the page.
    PageSize page_size(VirtAddr address) const {
        if (mapped_) return mapped_->row(address).size;
        const auto after =
            std::upper_bound(ranges_.begin(), ranges_.end(), address.value, [](uint64_t a, const Range& r) { return a < r.begin; });
        if (after == ranges_.begin()) return PageSize::small_4kb;
        const Range& range = *(after - 1);
        return address.value < range.end ? range.size : PageSize::small_4kb;
    }

    const std::vector<Area>& areas() const { return areas_; }

    /// Kernel work is woven into the stream: its addresses have pages of this size. Without effect except under a log.
    void add_kernel(PageSize direct_map) {
        if (mapped_ && mapped_->tables() != nullptr) mapped_->add_kernel(direct_map);
    }

    /// Frames and chunks; null under a layout, which gives pages only sizes.
    const MappedPages* mapping() const { return mapped_ ? &*mapped_ : nullptr; }
    MappedPages* mapping() { return mapped_ ? &*mapped_ : nullptr; }

private:
    struct Range {
        uint64_t begin, end;
        PageSize size;
    };
    std::vector<Range> ranges_;
    std::vector<Area> areas_;
    std::optional<MappedPages> mapped_;
};

/// The frames and chunks that a component needs. Throws Refusal that names it where the process has a layout.
const MappedPages& mapping_of(const AddressSpace& space, const std::string& who);

}  // namespace tessera::sim
