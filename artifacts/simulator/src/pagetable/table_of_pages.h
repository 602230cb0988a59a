// table_of_pages.h - base of the page-table formats whose entries depend on which pages are mapped, such as hashed tables.
//
// The first touch of a region of 2MB inserts the pages that are mapped there, in ascending order (assumed: before that, the program cannot
// have walked for them). Under a layout, all pages of a touched region are mapped. A change of the mapping removes the pages that it
// overlaps, then inserts the pages that are mapped there now, both in ascending order, in touched regions. A page is inserted once and
// removed once. Pages have the sizes that the design sees (DesignContext::only_4kb).
#pragma once

#include <algorithm>
#include <bitset>
#include <map>
#include <set>

#include "pagetable/format.h"

namespace tessera::sim {

class TableOfPages : public PageTableFormat {
public:
    explicit TableOfPages(const DesignContext& context) : context_(context) {}

    void touch(VirtAddr address) final {
        const uint64_t region = address.value >> region_shift;
        if (regions_.try_emplace(region).second) insert_mapped(region, range_of(region));
    }
    void changed(VirtRange range) final {
        const VirtRange wide = removed(range);
        for (auto at = regions_.lower_bound(wide.begin.value >> region_shift);
             at != regions_.end() && at->first << region_shift < wide.end.value; ++at)
            insert_mapped(at->first, {std::max(wide.begin, range_of(at->first).begin), std::min(wide.end, range_of(at->first).end)});
    }

protected:
    /// pre: the table does not hold the page.
    virtual void insert(PageNumber page) = 0;
    /// pre: the table holds the page.
    virtual void remove(PageNumber page) = 0;

    bool holds(PageNumber page) const {
        if (page.size == PageSize::huge_1gb) return gigabytes_.contains(page.number);
        const uint64_t per_region = page.size == PageSize::small_4kb ? small_pages : 1;
        const auto region = regions_.find(page.number / per_region);
        if (region == regions_.end()) return false;
        return per_region == 1 ? region->second.is_large : region->second.small.test(page.number % per_region);
    }

    const DesignContext context_;

private:
    static constexpr unsigned region_shift = shift_of(PageSize::large_2mb);
    static constexpr size_t small_pages = 512;
    struct Region {
        std::bitset<small_pages> small;  ///< pages of 4KB that the table holds
        bool is_large = false;           ///< it holds the page of 2MB
    };

    static VirtRange range_of(uint64_t region) { return {VirtAddr(region << region_shift), VirtAddr((region + 1) << region_shift)}; }

    void insert_mapped(uint64_t number, VirtRange range) {
        Region& region = regions_.at(number);
        context_.each_page(range, [&](PageNumber page) {
            if (holds(page)) return;
            if (page.size == PageSize::huge_1gb) gigabytes_.insert(page.number);
            else if (page.size == PageSize::large_2mb) region.is_large = true;
            else region.small.set(page.number % small_pages);
            insert(page);
        });
    }

    /// Removes the pages that the range overlaps. Returns the range, and what these pages have beyond it.
    VirtRange removed(VirtRange range) {
        std::vector<PageNumber> gone;
        const auto found = [&](PageNumber page) {
            if (overlaps(page, range)) gone.push_back(page);
        };
        constexpr unsigned gigabyte_shift = shift_of(PageSize::huge_1gb);
        for (auto at = gigabytes_.lower_bound(range.begin.value >> gigabyte_shift);
             at != gigabytes_.end() && *at << gigabyte_shift < range.end.value; ++at)
            found({*at, PageSize::huge_1gb});
        for (auto at = regions_.lower_bound(range.begin.value >> region_shift);
             at != regions_.end() && at->first << region_shift < range.end.value; ++at) {
            if (at->second.is_large) found({at->first, PageSize::large_2mb});
            for (size_t i = 0; i < small_pages && at->second.small.any(); ++i)
                if (at->second.small.test(i)) found({at->first * small_pages + i, PageSize::small_4kb});
        }
        const auto begin_of = [](PageNumber page) { return page.number << shift_of(page.size); };
        std::sort(gone.begin(), gone.end(), [&](PageNumber a, PageNumber b) { return begin_of(a) < begin_of(b); });
        for (const PageNumber page : gone) {
            if (page.size == PageSize::huge_1gb) gigabytes_.erase(page.number);
            else if (page.size == PageSize::large_2mb) regions_.at(page.number).is_large = false;
            else regions_.at(page.number / small_pages).small.reset(page.number % small_pages);
            remove(page);
            range.begin = std::min(range.begin, VirtAddr(begin_of(page)));
            range.end = std::max(range.end, VirtAddr(begin_of(page) + bytes_of(page.size).value));
        }
        return range;
    }

    std::map<uint64_t, Region> regions_;  ///< touched ones, by number
    std::set<uint64_t> gigabytes_;        ///< pages of 1GB that the table holds
};

}  // namespace tessera::sim
