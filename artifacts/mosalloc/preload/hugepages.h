// hugepages.h - the kernel's settings and behaviour: huge pages, overcommit, MADV_DONTNEED.
#pragma once

#include "core/base.h"
#include "core/cgroups.h"

namespace mosalloc {

struct HugePages {
    bool supported = false;
    uint64_t total = 0;
    uint64_t unused = 0;  ///< on the machine: neither used nor reserved
    uint64_t free = 0;    ///< of these, what all cgroups of this process allow
};

HugePages huge_pages(uint64_t page_bytes);

/// What the cgroups of this process allow, now. Callers hold the lock, or are alone.
const HugeAllowance& huge_allowance(uint64_t page_bytes);

/// Maps a window inside a reserved span and touches all of it. 0 or -errno.
long back_window(uint64_t address, uint64_t bytes, uint64_t page_bytes);

/// Memory and swap of the machine in bytes; the largest number if unknown.
uint64_t memory_and_swap();

/// Mappings that a process may have: vm.max_map_count.
uint64_t mapping_limit();

/// True if vm.overcommit_memory is 2: the kernel then rejects memory that it cannot back.
bool strict_overcommit();
/// True if it is 1: the kernel then rejects no memory for its size.
bool always_overcommits();

/// True if MADV_DONTNEED works on memory that mremap has moved. QEMU 7.2 then does nothing and returns 0.
bool drops_contents();

}  // namespace mosalloc
