// range.h - frames of one range, taken together: for pages of 1GB.
//
// Linux 6.12: mm/page_alloc.c alloc_contig_pages, pfn_range_valid_contig, alloc_contig_range. Rules:
// - Zones from the highest down; in each, the ranges that are aligned to their size, ascending; holes and reserved frames rule a range out.
// - Per-CPU lists are drained first. Watermarks are not tested. The range's pageblocks are movable afterwards.
// - Its frames come back pageblock by pageblock (split_large_buddy): here as blocks of order 10, which phys_free splits so.
// Left out: migration of pages that are in the way. Linux would try it; here such a range is passed over and counted.
#pragma once

#include "phys/phys.h"

struct phys_range {
    uint32_t frame;  // PHYS_NO_FRAME: none
    uint32_t busy;  // ranges before it without holes whose frames are in use
};

/// 2^order frames, order above PHYS_MAX_ORDER: blocks in use of order PHYS_MAX_ORDER.
struct phys_range phys_take_range(struct phys *p, unsigned order, uint32_t cpu);
