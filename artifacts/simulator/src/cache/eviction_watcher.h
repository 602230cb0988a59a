// eviction_watcher.h - who is told of the lines that leave data caches: a design that keeps translations there.
#pragma once

#include "cache/memory_level.h"
#include "replacement/replacement.h"

namespace tessera::sim {

class EvictionWatcher {
public:
    virtual ~EvictionWatcher() = default;
    /// The line has left this cache; what comes in its place is not there yet. The call comes in the middle of a reference: no port may be
    /// used in it.
    virtual void evicted(MemoryLevel level, LineNumber line, LineClass held) = 0;
};

}  // namespace tessera::sim
