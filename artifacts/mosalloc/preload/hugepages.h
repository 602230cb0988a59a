// hugepages.h - what the kernel says about its memory: huge pages, overcommit; and what it does.
#pragma once

#include "core/base.h"

namespace mosalloc {

struct HugePages {
    bool supported = false;
    uint64_t total = 0;
    uint64_t free = 0;  ///< not used and not promised to anyone
};

HugePages huge_pages(uint64_t page_bytes);

/// Maps a window inside a reserved span and touches all of it. 0 or -errno.
long back_window(uint64_t address, uint64_t bytes, uint64_t page_bytes);

/// vm.overcommit_memory is 2: the kernel refuses what it could not back.
bool strict_overcommit();

/// MADV_DONTNEED works on memory that mremap has moved. Under QEMU 7.2 it then does nothing and says 0.
bool drops_contents();

}  // namespace mosalloc
