// allocator.h - the contract of the physical allocator: the physical addresses of program data.
//
// One object serves one layout. Results depend only on address, page size and earlier touches, and are the same for every
// address of a page. Pages are contiguous, aligned to their size, and do not overlap within a layout. All lie outside the regions
// of tables (os/physical_map.h) and below 2^52. Different layouts may have different frames.
#pragma once

#include "base/platform.h"
#include "base/registry.h"
#include "base/types.h"
#include "os/address_space.h"

namespace tessera::sim {

class Allocator {
public:
    virtual ~Allocator() = default;
    /// First touch of a 2MB region, in program order, the same for all layouts. Repeated calls have no effect.
    virtual void touch(VirtAddr) {}
    /// pre: `size` is the size of the page that holds `address`.
    virtual PhysAddr physical(VirtAddr address, PageSize size) = 0;
};

/// memory.allocator: name -> allocator for a process with the pages of the address space, which outlives it.
Registry<Allocator, const AddressSpace&, const Platform&>& allocators();

}  // namespace tessera::sim
