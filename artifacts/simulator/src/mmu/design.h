// design.h - a translation design for one layout: the contract that every published or new design keeps.
//
// A design sees the program's accesses in program order and decides in which order it looks things up and what it reads
// from memory. It reads memory through a Port, which moves the data caches on and says which level served the line.
// Conventional: TLBs, then a walk whose loads go through the caches, then the access itself. A virtually addressed
// hierarchy asks for the program's line first and translates behind it. A design keeps its own state only; counting,
// time, sampling, layouts and output are the engines' business, so a new design touches no engine.
#pragma once

#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"
#include "cache/memory_level.h"
#include "os/address_space.h"
#include "tlb/translation.h"

namespace tessera::sim {

/// What the caches did for a design; one call is one reference.
class Port {
public:
    virtual ~Port() = default;
    /// A load by translation hardware. Its time adds to the walk cycles of the access.
    virtual MemoryLevel walker_load(PhysAddr address) = 0;
    /// The program's own reference: exactly one in each access().
    virtual MemoryLevel program(PhysAddr address) = 0;
};

class Design {
public:
    virtual ~Design() = default;
    /// One data access: exactly one program() reference, before or after its walker loads. Returns how it was translated:
    /// stlb_hit is counted in H, miss in M. Only a miss has walker loads (it may have none); walk cycles are the sum of
    /// their latencies. The clock lets translation precede the access whatever the order of the calls was.
    /// pre: the 2MB region of `address` was made known by touch().
    virtual Translation access(VirtAddr address, bool is_store, Port& port) = 0;
    /// Translation of a 4KB instruction page that missed the L1 ITLB: stlb_hit or miss, as above. No program reference.
    virtual Translation fetch(VirtAddr address, Port& port) = 0;
    /// H and M only: as access() and fetch(), but nothing reads memory (walk caches and data caches stand still). A design
    /// whose H and M depend on what the caches hold cannot give them exactly between samples and must be run in full.
    virtual Translation access_tlb_only(VirtAddr address) = 0;
    virtual Translation fetch_tlb_only(VirtAddr address) = 0;
    /// First touch of a 2MB region, in program order, the same in all layouts (tables are handed out in this order).
    /// Repeating it changes nothing; engines leave out repetitions as they like.
    virtual void touch(VirtAddr address) = 0;
};

/// What a design is made from. The platform and the address space outlive the design, this struct does not.
struct DesignContext {
    const Platform& platform;
    const AddressSpace& space;
};

/// mmu.design: name -> design.
Registry<Design, const DesignContext&>& designs();

}  // namespace tessera::sim
