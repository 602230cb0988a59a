// walk_cache.h - the contract of page-walk caches, which let a walk skip its first entries.
//
// They may keep only entries that point onward (base/walk_path.h); those that map pages belong to the TLB. A hit takes no cycles.
// Calls come in program order: one skip() per walk, then one fill() for each such entry after the loads of its step.
#pragma once

#include "base/platform.h"
#include "base/registry.h"
#include "base/walk_path.h"

namespace tessera::sim {

class WalkCache {
public:
    virtual ~WalkCache() = default;
    /// Returns how many of the path's first entries the walk skips, < path.size(). pre: path is not empty.
    virtual size_t skip(VirtAddr address, const WalkPath& path) = 0;
    /// The entry of this level (an index of the format's levels) that covers the address.
    virtual void fill(VirtAddr address, size_t level) = 0;
    /// Forgets the entries that cover a part of the range. Called only under mappings that change; the default refuses.
    virtual void drop(VirtRange range);
};

/// pwc.kind: name -> walk caches of this platform for a format with these levels. Throws Refusal if the kind has no place for one of them.
Registry<WalkCache, const Platform&, const TableLevels&>& walk_caches();

}  // namespace tessera::sim
