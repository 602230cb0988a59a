// pool.h - the pools of huge pages that a machine sets aside: 2MB and 1GB.
//
// Linux 6.12: mm/hugetlb.c set_max_huge_pages, alloc_pool_huge_folio, dequeue_hugetlb_folio_node_exact, enqueue_hugetlb_folio,
// free_huge_folio, hugetlb_acct_memory, remove_pool_hugetlb_folio. Rules:
// - Growing asks the allocator for one page after another: 2MB as a movable block of order 9 that may reclaim, 1GB as a range (phys/range.h).
//   The first refusal ends it; the pool keeps what it got. The page that came first is given out first.
// - Shrinking frees the pages that would be given out next, in this order (CONFIG_HUGETLB_PAGE_OPTIMIZE_VMEMMAP; without it, in the
//   opposite order: mm/hugetlb_vmemmap.c hugetlb_vmemmap_restore_folios). Pages that are in use or reserved stay; those in use
//   become surplus, and leave the pool when they come back.
// - A page that comes back is given out next.
// - A page can be taken without a reservation only if more are free than reserved. No surplus pages are made (nr_overcommit_hugepages 0).
// Left out: more than one node, the optimized struct pages (hugetlb_optimize_vmemmap), limits of mounts and cgroups, demotion from 1GB to 2MB.
#pragma once

#include "phys/alloc.h"

enum hugetlb_size { HUGETLB_2MB, HUGETLB_1GB, HUGETLB_SIZES };

static inline unsigned hugetlb_order(enum hugetlb_size size) { return size == HUGETLB_2MB ? 9 : 18; }

struct hugetlb_pool {
    uint32_t *free;  // first frames; the last one is taken next
    size_t count, room;  // of `free` (free_hugepages)
    uint64_t total;  // nr_hugepages
    uint64_t reserved;  // resv_hugepages: promised to areas, still free
    uint64_t surplus;  // surplus_hugepages
};

struct hugetlb {
    struct phys *phys;
    struct hugetlb_pool pool[HUGETLB_SIZES];
};

void hugetlb_create(struct hugetlb *hugetlb, struct phys *phys);

/// Gives all pages back. None is in use.
void hugetlb_destroy(struct hugetlb *hugetlb, uint32_t cpu);

/// echo wanted > nr_hugepages. Returns nr_hugepages afterwards, without surplus.
uint64_t hugetlb_resize(struct hugetlb *hugetlb, enum hugetlb_size size, uint64_t wanted, uint32_t cpu);

/// mmap: promises pages. False: fewer are free and not promised (ENOMEM).
bool hugetlb_reserve(struct hugetlb_pool *pool, uint64_t pages);
void hugetlb_unreserve(struct hugetlb_pool *pool, uint64_t pages);

/// First frame of a page; PHYS_NO_FRAME: the pool is empty, or promised to others. `reserved`: it was promised to the caller.
uint32_t hugetlb_take(struct hugetlb_pool *pool, bool reserved);

/// A page comes back; with `restore` it is promised again.
void hugetlb_give(struct hugetlb *hugetlb, enum hugetlb_size size, uint32_t frame, bool restore, uint32_t cpu);
