// alloc.h - the entry: requests of 2^order frames, and their return.
//
// A request passes these stages (mm/page_alloc.c); reclaim and compaction are the caller's, because they need to know what is mapped:
//   1. __alloc_pages_noprof: all zones against their low marks. If the first zone is Normal, without fallbacks below order 9, and a second
//      time with them (alloc_flags_nofragment).
//   2. __alloc_pages_slowpath: wakes kswapd, then all zones against their min marks, with the rights of the request (gfp_to_alloc_flags).
//   3. For order 4 and more, and for order 1 to 3 of types other than movable: PHYS_NEEDS_COMPACTION, if the request may reclaim.
//   4. phys_alloc_again: wakes kswapd and tries once more: PHYS_NEEDS_RECLAIM, or PHYS_NO_MEMORY if the request may not reclaim.
//   5. After reclaim or compaction the caller tries phys_alloc_attempt, and decides whether to call phys_alloc_again.
// In each zone (get_page_from_freelist, rmqueue): the high mark (which only sets below_high), the mark of the stage, per-CPU lists for
// orders 0 to 3 and 9, then the free lists.
// Left out: cpusets, memory cgroups, the dirty limit of page cache, node reclaim, OOM victims' rights, __GFP_NOFAIL.
#pragma once

#include "phys/phys.h"

struct phys_request {
    uint8_t order;             // 0 to 10
    uint8_t type;              // PHYS_UNMOVABLE, PHYS_MOVABLE or PHYS_RECLAIMABLE
    uint8_t highest_zone;      // enum phys_zone; PHYS_NORMAL for everything that a process maps
    uint8_t cpu;
    bool may_wake_kswapd;      // __GFP_KSWAPD_RECLAIM
    bool may_reclaim;          // __GFP_DIRECT_RECLAIM
    bool may_use_reserve;      // __GFP_HIGH
    bool no_reserves;          // __GFP_NOMEMALLOC
    bool no_retry;             // __GFP_NORETRY: the caller has another way
    uint32_t process;          // whose page the frames are for, by number (rmap.h); 0: no process's
    uint64_t page;             // the first virtual page of it
};

enum phys_outcome { PHYS_GOT_FRAMES, PHYS_NEEDS_COMPACTION, PHYS_NEEDS_RECLAIM, PHYS_NO_MEMORY };

struct phys_result {
    enum phys_outcome outcome;
    uint32_t frame;            // first frame of the block; PHYS_NO_FRAME without one
};

/// A request that may do what GFP_KERNEL (unmovable), GFP_HIGHUSER_MOVABLE (movable) or a shrinkable cache (reclaimable) may do.
struct phys_request phys_request_default(unsigned order, enum phys_type type);

/// Stages 1 to 3, and 4 where stage 3 does not apply.
struct phys_result phys_alloc(struct phys *p, const struct phys_request *request);

/// phys_alloc, and then whatever stands behind the allocator (struct phys_help). Without help: phys_alloc.
static inline struct phys_result phys_obtain(struct phys *p, const struct phys_request *request) {
    const struct phys_result result = phys_alloc(p, request);
    if (__builtin_expect(result.outcome == PHYS_GOT_FRAMES || !request->may_reclaim || !p->help.go_on, 1)) return result;
    return p->help.go_on(p->help.context, request, &result);
}

/// Stage 4.
struct phys_result phys_alloc_again(struct phys *p, const struct phys_request *request);

/// One pass over the zones with the rights of stage 2: for the caller, after reclaim or compaction.
uint32_t phys_alloc_attempt(struct phys *p, const struct phys_request *request);

/// Returns a block as the CPU `cpu`. False, without any change, if [frame, frame + 2^order) is not exactly a block in use. Blocks
/// in use since before the snapshot have no known size: a free of those is accepted if no known block overlaps it.
bool phys_free(struct phys *p, uint32_t frame, unsigned order, uint32_t cpu, struct error *error);

/// The block in use at `frame` becomes blocks of `order` that are freed one by one (split_page, and the end of a huge page).
bool phys_split_used(struct phys *p, uint32_t frame, unsigned order, struct error *error);

/// The block in use at `frame` goes onto an LRU list or leaves it. A free takes it off.
bool phys_set_lru(struct phys *p, uint32_t frame, bool on_lru, struct error *error);
