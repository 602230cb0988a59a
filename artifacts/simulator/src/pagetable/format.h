// format.h - the contract of a page-table format: which entries a walk reads, and where they are in physical memory.
//
// entries() gives all reads of a walk that no walk cache shortens, in order, ending with the entry that maps the page
// (a hashed table: its probes, all of the leaf's level). Addresses depend on the order of touch() calls only, never on the layout
// or on which entries() were asked for, and lie in [page_table_base, page_table_end).
#pragma once

#include "base/level.h"
#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"

namespace tessera::sim {

class PageTableFormat {
public:
    virtual ~PageTableFormat() = default;
    /// In program order, before anything of the address's 2MB region is asked for; repeating it changes nothing.
    virtual void touch(VirtAddr address) = 0;
    /// Replaces what `path` holds. Never empty. pre: touch(address) or of the same 2MB region.
    virtual void entries(VirtAddr address, PageSize size, WalkPath& path) = 0;
};

/// page_table.format: name -> an empty table.
Registry<PageTableFormat, const Platform&>& page_table_formats();

}  // namespace tessera::sim
