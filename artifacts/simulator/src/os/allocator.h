// allocator.h - the contract of the physical allocator: where program data are in physical memory.
//
// One object serves one layout. Answers are a function of (address, page size, touches so far), the same for every call with
// an address of the same page; pages are contiguous, aligned to their size, and no two pages of a layout overlap;
// all lie outside [page_table_base, page_table_end) and below 2^52. Different layouts may get different frames.
#pragma once

#include "base/registry.h"
#include "base/types.h"
#include "os/address_space.h"

namespace tessera::sim {

class Allocator {
public:
    virtual ~Allocator() = default;
    /// First touch of a 2MB region, in program order, the same for all layouts; repeating it changes nothing.
    virtual void touch(VirtAddr) {}
    /// pre: `size` is the size of the page that holds `address`.
    virtual PhysAddr physical(VirtAddr address, PageSize size) = 0;
};

/// memory.allocator: name -> allocator for a process whose pages are those of the address space.
Registry<Allocator, const AddressSpace&>& allocators();

}  // namespace tessera::sim
