// walk_cache.h - the contract of page-walk caches: which of a walk's entries need not be read.
//
// Only entries that point onward (base/level.h) may be kept; leaf entries are the TLB's. A hit costs no cycles.
// Calls come in program order: one skip() a walk, then one fill() for each onward entry right after its load.
#pragma once

#include "base/level.h"
#include "base/platform.h"
#include "base/registry.h"

namespace tessera::sim {

class WalkCache {
public:
    virtual ~WalkCache() = default;
    /// How many of the path's first entries the walk need not read, < path.size(). pre: path is not empty.
    virtual size_t skip(VirtAddr address, const WalkPath& path) = 0;
    virtual void fill(VirtAddr address, Level level) = 0;
};

/// pwc.kind: name -> walk caches of this platform.
Registry<WalkCache, const Platform&>& walk_caches();

}  // namespace tessera::sim
