// swap_in.h - a fault on a swap entry.
//
// Linux 6.12: mm/memory.c do_swap_page, should_try_to_free_swap; mm/swap_state.c swap_cache_get_folio, swap_vma_ra_win,
// swap_vma_readahead, __read_swap_cache_async.
// Rules:
// - A page that is in the swap cache is mapped at once: a minor fault. If it was read ahead, its area counts a hit.
// - Else, on a synchronous area and with one entry: one page, which never joins the swap cache.
// - Else the window around the fault is read: as many pages as hits + 2 make, a power of 2, at most 2^page_cluster, at least half of the
//   last window; 1 if there were no hits and the last fault was not at a neighbouring page. The window starts at the fault if the last
//   fault was one page below, ends there if it was one page above, else lies around it; it stays in the area and in its 2MB. Pages of it
//   get memory in ascending order and join the LRU lists by way of the batch, which is drained afterwards.
// - A page that comes back is active if its shadow is recent (workingset.h).
// - A 2MB page that is still in the swap cache is mapped by all its 512 entries at once, if they are all there.
// - The page leaves the swap cache if it is written to and nobody else has its slot, or if swap is more than half full. It is writable
//   if the area allows it and no fork shared it, after a read, too; dirty after a write only.
// Left out: readahead by slots (for areas that rotate), large folios from zram, memory cgroups.
#pragma once

#include "vm/fault.h"

/// The entry is at `slot`, of level 0. FAULT_SWAP, or FAULT_NEEDS: the page itself got no memory.
void swap_in(struct process *process, struct area *area, uint64_t page, bool write, uint32_t cpu, const pt_entry *slot,
             struct fault *fault);
