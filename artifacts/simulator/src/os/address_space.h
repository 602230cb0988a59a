// address_space.h - applies a layout or a mapping to the pools of a traced process: virtual address -> page size, frame, chunk.
//
// Addresses outside the pools (stack, globals, the libraries' data) have 4KB pages in every layout and mapping.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/platform.h"
#include "os/layout.h"
#include "os/mapped_pages.h"

namespace tessera::sim {

/// Where the program has memory of its own: a pool. Under a log, live_areas() has what mmap and its relatives made there.
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

    /// Calls see(PageNumber) for the pages that the range overlaps, in ascending order; under a mapping, for those that it has.
    template <class See>
    void each_page(VirtRange range, See&& see) const {
        for (uint64_t at = range.begin.value; at < range.end.value;) {
            const bool is_mapped = !mapped_ || mapped_->has(VirtAddr(at));
            const PageSize size = is_mapped ? page_size(VirtAddr(at)) : PageSize::small_4kb;
            if (is_mapped) see(page_of(VirtAddr(at), size));
            at = ((at >> shift_of(size)) + 1) << shift_of(size);
        }
    }

    const std::vector<Area>& areas() const { return areas_; }
    /// The areas at this access; null unless the pages are those of a log.
    const LiveAreas* live_areas() const { return mapped_ ? mapped_->areas() : nullptr; }

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

/// The inputs of a design and of its page table. Platform and address space outlive what is made of them.
struct DesignContext {
    const Platform& platform;
    const AddressSpace& space;  ///< pages, areas and, under a mapping, frames and chunks
    bool only_4kb = false;      ///< the design gives every address a page of 4KB, whatever the layout or mapping says

    DesignContext with_4kb_pages() const { return {platform, space, true}; }
    /// AddressSpace::each_page() with the pages of the design.
    template <class See>
    void each_page(VirtRange range, See&& see) const {
        space.each_page(range, [&](PageNumber page) {
            if (!only_4kb) return see(page);
            const unsigned shift = shift_of(page.size);
            const uint64_t begin = std::max(range.begin.value, page.number << shift);
            const uint64_t end = std::min(range.end.value, (page.number + 1) << shift);
            for (uint64_t at = begin >> 12; at << 12 < end; ++at) see(PageNumber{at, PageSize::small_4kb});
        });
    }
};

/// The frames and chunks that a component needs. Throws Refusal that names it where the process has a layout.
const MappedPages& mapping_of(const AddressSpace& space, const std::string& who);

}  // namespace tessera::sim
