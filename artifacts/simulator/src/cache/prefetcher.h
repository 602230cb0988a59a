// prefetcher.h - the contract of a data prefetcher.
//
// It sees every data access of the plan's warm and timed parts in program order and asks for lines. What it asks for may
// depend on the program only - addresses and program counters, never on hits, misses, time or the layout - and stays in
// the 4KB page of the access, as hardware that works on physical addresses does: so one prefetcher serves all layouts of
// a pass and needs no translation.
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
    /// Appends virtual addresses, one a line, in the order in which they are asked for.
    virtual void observe(const DemandAccess& access, std::vector<VirtAddr>& wanted) = 0;
};

/// prefetch.l1d.kind and prefetch.l2.kind: name -> prefetcher of this slot.
Registry<Prefetcher, const PrefetchSlot&>& prefetchers();

}  // namespace tessera::sim
