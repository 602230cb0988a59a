// types.h - constants of Linux 6.12 on x86-64 with 4KB frames, and the names of zones and types.
//
// Source: include/linux/mmzone.h (MAX_PAGE_ORDER, enum migratetype, enum zone_type, PAGE_ALLOC_COSTLY_ORDER),
// include/linux/pageblock-flags.h (pageblock_order with huge pages), arch/x86/include/asm/dma.h (borders of DMA and DMA32).
// Left out: CMA, isolated pageblocks, ZONE_MOVABLE (empty without its boot options), more than one node.
#pragma once

#include <stdint.h>

enum {
    PHYS_FRAME_BYTES = 4096,
    PHYS_MAX_ORDER = 10,        // a block of order o has 2^o frames: 4KB to 4MB
    PHYS_ORDERS = 11,
    PHYS_PAGEBLOCK_ORDER = 9,   // 2MB: the unit that has a type
    PHYS_PAGEBLOCK_FRAMES = 1 << PHYS_PAGEBLOCK_ORDER,
    PHYS_COSTLY_ORDER = 3,      // per-CPU lists hold orders 0 to 3, and THP_ORDER
    PHYS_THP_ORDER = 9,
    PHYS_MAX_CPUS = 64,
};

/// What a pageblock is for. Requests have one of the first three; the fourth is a reserve (highatomic.h).
enum phys_type { PHYS_UNMOVABLE, PHYS_MOVABLE, PHYS_RECLAIMABLE, PHYS_HIGHATOMIC, PHYS_TYPES };
enum { PHYS_REQUEST_TYPES = 3 };

enum phys_zone { PHYS_DMA, PHYS_DMA32, PHYS_NORMAL, PHYS_ZONES };
#define PHYS_DMA_END_FRAME UINT32_C(0x1000)       // 16MB
#define PHYS_DMA32_END_FRAME UINT32_C(0x100000)   // 4GB

#define PHYS_NO_FRAME UINT32_MAX
#define PHYS_MOST_FRAMES (UINT32_C(1) << 28)      // 1TB: the limit of this imitation, for its own tables

/// Names as /proc/pagetypeinfo prints them. `phys_*_named` returns -1 for an unknown name.
const char *phys_type_name(int type);
const char *phys_zone_name(int zone);
int phys_type_named(const char *name);
int phys_zone_named(const char *name);
