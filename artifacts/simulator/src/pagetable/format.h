// format.h - the contract of a page-table format: the entries that a walk reads, and their physical addresses.
//
// entries() gives all reads of a walk without walk caches, in order. The last one is the entry that maps the page. Addresses lie in
// physical::tables and the regions behind it, of formats that are not radix in physical::of_format (os/physical_map.h).
//
// Addresses depend only on earlier calls of touch() and changed() and, at these calls, on the pages that are mapped; not on calls of
// entries(). Those of a format that does not look at pages (radix) are the same in all layouts. One that does, such as a hashed table,
// derives from pagetable/table_of_pages.h.
#pragma once

#include "base/registry.h"
#include "base/types.h"
#include "base/walk_path.h"
#include "os/address_space.h"

namespace tessera::sim {

class PageTableFormat {
public:
    virtual ~PageTableFormat() = default;
    /// Called in program order, before entries() for the address's 2MB region. Repeated calls have no effect.
    virtual void touch(VirtAddr address) = 0;
    /// The mapping changed in this range; the address space already has the new pages. Only under mappings of several epochs.
    virtual void changed(VirtRange /*range*/) {}
    /// Replaces the contents of `path`; never empty. A page that the table does not hold (code always has pages of 4KB, also inside a large
    /// page) gives the reads of the search for it. pre: touch() was called for the address's 2MB region.
    virtual void entries(VirtAddr address, PageSize size, WalkPath& path) = 0;
    /// The levels of the entries that point onward. The same at any time.
    virtual TableLevels levels() const { return {}; }
};

/// page_table.format: name -> an empty table for the pages of the context.
Registry<PageTableFormat, const DesignContext&>& page_table_formats();

}  // namespace tessera::sim
