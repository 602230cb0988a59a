// slow_path.h - what follows when an allocation finds no memory: compaction, reclaim, retries, and the end of memory.
//
// Linux 6.12: mm/page_alloc.c __alloc_pages_slowpath after its first attempts (phys/alloc.h has those), __alloc_pages_direct_reclaim,
// __alloc_pages_direct_compact, should_reclaim_retry, should_compact_retry.
// Rules:
// - One asynchronous compaction for large orders, before reclaim. A request that has another way (no_retry) gives up if compaction was
//   skipped or deferred.
// - Then, in a loop: wake kswapd, try, reclaim 32 pages, try (once more after per-CPU lists and a HighAtomic reserve are given back),
//   compact, try. A request without retries ends here; so does order 4 and more.
// - Orders up to 3 go on while a zone could have the min mark if all that is reclaimable were free, at most 16 times without progress, and
//   as long as compaction may still help. Then memory is out: PHYS_NO_MEMORY; Linux kills a process, here the caller ends.
// kswapd is a thread on another CPU in Linux; here it works when the caller says (kswapd_pass), at the latest after each fault
// (vm_background).
#pragma once

#include "vm/system.h"

/// From now on, requests of processes that are refused go on as above, and kswapd notes who wakes it.
void slow_path_start(struct vm_system *system);

/// What works in the background between two faults: kswapd, until it may sleep; then kcompactd, if it wakes it (after a boost, or for an
/// order that it gave up for order 0). Returns the passes.
uint32_t vm_background(struct vm_system *system, uint32_t cpu);
