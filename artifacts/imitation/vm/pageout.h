// pageout.h - MADV_PAGEOUT: pages of a range are reclaimed at once, whether they were used lately or not.
//
// Linux 6.12: mm/madvise.c madvise_pageout, madvise_cold_or_pageout_pte_range; mm/vmscan.c reclaim_pages.
// Rules: the CPU's batches are drained. For each page table, from low to high addresses: anonymous pages that are on an LRU list and
// mapped once are isolated; an active one is marked as part of the working set. Then they are reclaimed in this order, without a look at
// their young bits; those that stay go back to the lists. A 2MB mapping that lies in the range is reclaimed as a whole.
// Pages of files are passed over: Linux reclaims those that the caller may write to or owns.
// Left out: a part of a 2MB page, which Linux splits first. It is refused.
#pragma once

#include "vm/process.h"

/// [page, end) lies in one area. NULL, or the rule that a page broke; pages below it are done.
const char *pageout_range(struct process *process, uint64_t page, uint64_t end, uint32_t cpu);
