// hugepages.h - what the kernel says about its huge pages.
#pragma once

#include "core/base.h"

namespace mosalloc {

struct HugePages {
    bool supported = false;
    uint64_t total = 0;
    uint64_t free = 0;  ///< not used and not promised to anyone
};

HugePages huge_pages(uint64_t page_bytes);

/// Maps a window inside a reserved span and, if asked, touches all of it. 0 or -errno.
long back_window(uint64_t address, uint64_t bytes, uint64_t page_bytes, bool prefault);

}  // namespace mosalloc
