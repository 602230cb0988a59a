// address_space.h - applies a layout to the pools of a traced process: virtual address -> page size.
//
// Addresses outside the pools (stack, globals, the libraries' data) have 4KB pages in every layout.
#pragma once

#include <algorithm>
#include <vector>

#include "os/layout.h"

namespace tessera::sim {

class AddressSpace {
public:
    AddressSpace(const std::vector<trace::Pool>& pools, const Layout& layout) {
        for (const trace::Pool& pool : pools)
            for (const Window& w : layout.windows)
                if (w.pool == pool.kind) ranges_.push_back({pool.base + w.begin, pool.base + w.end, w.page_size});
        std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    }

    PageSize page_size(VirtAddr address) const {
        const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address.value,
                                            [](uint64_t a, const Range& r) { return a < r.begin; });
        if (after == ranges_.begin()) return PageSize::small_4kb;
        const Range& range = *(after - 1);
        return address.value < range.end ? range.size : PageSize::small_4kb;
    }

private:
    struct Range {
        uint64_t begin, end;
        PageSize size;
    };
    std::vector<Range> ranges_;
};

}  // namespace tessera::sim
