// percpu.h - per-CPU lists: orders 0 to 3 of three types, and two lists of order 9.
//
// Linux: mm/page_alloc.c: order_to_pindex (which list), __rmqueue_pcplist and rmqueue_bulk (refill: blocks go to the tail in the order
// in which they were taken, so frames ascend), free_unref_page_commit (a freed block goes to the head), free_pcppages_bulk (lists in
// rotation from the freed one, each from its tail until it is empty), drain_pages_zone, decay_pcp_high.
// The lists of order 9 are: movable, and all others together. HighAtomic pageblocks use the movable lists.
// Limits: percpu_limits.h. Left out: a second CPU's trylock that fails (there is one thread).
#pragma once

#include "phys/percpu_limits.h"
#include "phys/phys.h"

static inline bool percpu_allows(unsigned order) { return order <= PHYS_COSTLY_ORDER || order == PHYS_THP_ORDER; }

static inline unsigned percpu_index(unsigned order, int type) {
    if (order == PHYS_THP_ORDER) return PHYS_REQUEST_TYPES * (PHYS_COSTLY_ORDER + 1) + (type == PHYS_MOVABLE);
    return order * PHYS_REQUEST_TYPES + (unsigned)type;
}

static inline unsigned percpu_index_order(unsigned index) {
    if (index >= PHYS_REQUEST_TYPES * (PHYS_COSTLY_ORDER + 1)) return PHYS_THP_ORDER;
    return index / PHYS_REQUEST_TYPES;
}

/// A block for a request of the current CPU, after a refill if the list is empty. PHYS_NO_FRAME if the zone has none.
/// `rights`: enum phys_right. order: percpu_allows.
uint32_t percpu_take(struct phys *p, struct zone *zone, unsigned order, int type, unsigned rights);

/// A block comes back to the current CPU. type: of its pageblock.
void percpu_give(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int type);

/// All blocks of `cpu` (of every CPU: percpu_drain_all) go back to the free lists, zone by zone. `by_cpu` does the work.
void percpu_drain(struct phys *p, uint32_t by_cpu, uint32_t cpu);
void percpu_drain_all(struct phys *p, uint32_t by_cpu);

/// The same for one zone (drain_local_pages and drain_all_pages with a zone).
void percpu_drain_zone(struct phys *p, struct zone *zone, uint32_t by_cpu, uint32_t cpu);

/// A CPU that goes idle puts its drift into the zones' counters (mm/vmstat.c: quiet_vmstat).
void percpu_fold(struct phys *p, uint32_t cpu);

/// What a CPU does about once a second (mm/vmstat.c: refresh_cpu_vm_stats): its drift goes into the zones' counters; `high` falls
/// by an eighth, and frames above it go back. Returns true if there is more to do (a `high` is still above its minimum).
bool percpu_refresh(struct phys *p, uint32_t cpu);
