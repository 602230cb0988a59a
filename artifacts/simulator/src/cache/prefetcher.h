// prefetcher.h - the contract of a data prefetcher.
//
// A prefetcher sees every data access of the plan's warm and timed parts in program order and requests lines. The requests
// may depend only on addresses and program counters, never on hits, misses, time or the layout. They stay in the 4KB page
// of the access, as in hardware that works on physical addresses. So one prefetcher serves all layouts of a pass and needs
// no translation.
#pragma once

#include <vector>

#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"

namespace tessera::sim {

struct DemandAccess {
    uint64_t pc;        ///< of the instruction
    VirtAddr address;
    bool is_store;
};

class Prefetcher {
public:
    virtual ~Prefetcher() = default;
    /// Appends the virtual addresses of the requested lines, one address per line, in order.
    virtual void observe(const DemandAccess& access, std::vector<VirtAddr>& wanted) = 0;
};

/// prefetch.l1d.kind and prefetch.l2.kind: name -> prefetcher of this slot.
Registry<Prefetcher, const PrefetchSlot&, const Platform&>& prefetchers();

}  // namespace tessera::sim
