// walk_cache.h - the contract of page-walk caches, which let a walk skip its first entries.
//
// They may keep only non-leaf entries (base/level.h); leaf entries belong to the TLB. A hit takes no cycles.
// Calls come in program order: one skip() per walk, then one fill() for each non-leaf entry right after its load.
#pragma once

#include "base/level.h"
#include "base/platform.h"
#include "base/registry.h"

namespace tessera::sim {

class WalkCache {
public:
    virtual ~WalkCache() = default;
    /// Returns how many of the path's first entries the walk skips, < path.size(). pre: path is not empty.
    virtual size_t skip(VirtAddr address, const WalkPath& path) = 0;
    virtual void fill(VirtAddr address, Level level) = 0;
    /// Forgets the entries that cover a part of the range. Called only under mappings that change; the default refuses.
    virtual void drop(VirtRange range);
};

/// pwc.kind: name -> walk caches of this platform.
Registry<WalkCache, const Platform&>& walk_caches();

}  // namespace tessera::sim
