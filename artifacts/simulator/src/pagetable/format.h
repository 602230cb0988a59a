// format.h - the contract of a page-table format: the entries that a walk reads, and their physical addresses.
//
// entries() gives all reads of a walk without walk caches, in order. The last one is the entry that maps the page (in a
// hashed table, all probes have the leaf's level). Addresses depend only on the order of touch() calls, never on the layout
// or on calls of entries(), and lie in [page_table_base, page_table_end).
#pragma once

#include "base/level.h"
#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"
#include "os/table_frames.h"

namespace tessera::sim {

class PageTableFormat {
public:
    virtual ~PageTableFormat() = default;
    /// Called in program order, before entries() for the address's 2MB region. Repeated calls have no effect.
    virtual void touch(VirtAddr address) = 0;
    /// Replaces the contents of `path`; never empty. pre: touch() was called for the address's 2MB region.
    virtual void entries(VirtAddr address, PageSize size, WalkPath& path) = 0;
    /// From now on, tables are where a log says. `frames` outlives the format. A format with tables of its own ignores this.
    virtual void follow(const TableFrames& /*frames*/) {}
};

/// page_table.format: name -> an empty table.
Registry<PageTableFormat, const Platform&>& page_table_formats();

}  // namespace tessera::sim
