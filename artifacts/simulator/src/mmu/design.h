// design.h - the contract of a translation design for one layout.
//
// A design sees the program's accesses in program order. It decides in which order it looks up its structures and what it
// reads from memory. It reads memory through a Port, which updates the data caches and returns the level that served the
// line. Conventional: TLBs, then a walk whose loads go through the caches, then the access itself. A virtually addressed
// hierarchy first references the program's line and then translates. A design keeps only its own state. The engines do
// counting, time, sampling, layouts and output, so a new design needs no change in an engine.
#pragma once

#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"
#include "cache/memory_level.h"
#include "os/address_space.h"
#include "tlb/translation.h"

namespace tessera::sim {

/// A design's access to the data caches; one call is one reference.
class Port {
public:
    virtual ~Port() = default;
    /// A load by translation hardware. Its latency is added to the walk cycles of the access.
    virtual MemoryLevel walker_load(PhysAddr address) = 0;
    /// The program's own reference: exactly one in each access().
    virtual MemoryLevel program(PhysAddr address) = 0;
};

class Design {
public:
    virtual ~Design() = default;
    /// One data access: exactly one program() reference, before or after its walker loads. Returns how it was translated:
    /// stlb_hit counts in H, miss in M. Only a miss may have walker loads; walk cycles are the sum of their latencies.
    /// In the clock, translation always precedes the access, in whatever order the design makes the calls.
    /// pre: touch() was called for the 2MB region of `address`.
    virtual Translation access(VirtAddr address, bool is_store, Port& port) = 0;
    /// Translation of a 4KB instruction page that missed the L1 ITLB: stlb_hit or miss, as above. No program reference.
    virtual Translation fetch(VirtAddr address, Port& port) = 0;
    /// H and M only: as access() and fetch(), but without memory reads (walk caches and data caches do not change). If H and M
    /// of a design depend on the contents of the caches, they are not exact between samples, so the design needs a full run.
    virtual Translation access_tlb_only(VirtAddr address) = 0;
    virtual Translation fetch_tlb_only(VirtAddr address) = 0;
    /// First touch of a 2MB region, in program order, the same in all layouts (tables are handed out in this order).
    /// Repeating it changes nothing; engines leave out repetitions as they like.
    virtual void touch(VirtAddr address) = 0;
};

/// The inputs of a design. The platform and the address space outlive the design, this struct does not.
struct DesignContext {
    const Platform& platform;
    const AddressSpace& space;
};

/// mmu.design: name -> design.
Registry<Design, const DesignContext&>& designs();

}  // namespace tessera::sim
