// indices.h - two measures of fragmentation, in thousandths, as the kernel prints them.
//
// - extfrag index: 1000 - (1000 + 1000 x free / 2^order) / blocks, integer divisions. -1000 if a block of the order is free, 0 if
//   nothing is free. Near 0, a request fails because memory is short; near 1000, because it is fragmented.
//   mm/vmstat.c: __fragmentation_index; /sys/kernel/debug/extfrag/extfrag_index.
// - unusable index: 1000 x (free - frames in blocks of at least the order) / free; 1000 if nothing is free.
//   mm/vmstat.c: unusable_free_index; /sys/kernel/debug/extfrag/unusable_index.
// Both count free lists of all types, and no per-CPU list (fill_contig_page_info).
#pragma once

#include "phys/zone.h"

/// The extfrag index of memory with `blocks` > 0 free blocks, all below the order.
static inline int extfrag_value(uint64_t frames, uint64_t blocks, unsigned order) {
    return 1000 - (int)((1000 + frames * 1000 / (UINT64_C(1) << order)) / blocks);
}

int extfrag_index(const struct zone *zone, unsigned order);
int unusable_index(const struct zone *zone, unsigned order);
