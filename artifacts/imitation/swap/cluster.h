// cluster.h - the search for free slots of a swap area, cluster by cluster (swap.h has the rules).
//
// Linux 6.12: mm/swapfile.c get_swap_pages, cluster_alloc_swap_entry, alloc_swap_scan_cluster, cluster_scan_range, cluster_alloc_range,
// dec_cluster_info_page, swap_reclaim_full_clusters. The work that takes back slots from all full clusters when the area has no slot
// left (reclaim_work) runs at once here.
#pragma once

#include "swap/swap.h"

void cluster_setup(struct swap *swap);

/// Up to `wanted` times 2^order slots; returns how many. They count as held by the swap cache.
uint32_t cluster_alloc(struct swap *swap, uint32_t wanted, uint32_t *slots, unsigned order, uint32_t cpu);

/// `pages` slots that only the swap cache holds, as their count says, are free.
void cluster_free(struct swap *swap, uint32_t slot, uint32_t pages);

/// The CPU's slots go back: those taken ahead, and those freed.
void cluster_drain_cpu(struct swap *swap, uint32_t cpu);

/// A slot that only the swap cache holds: its page leaves the cache and is dirty (__try_to_reclaim_swap). False: it does not (swap.c).
bool cluster_reclaim_slot(struct swap *swap, uint32_t slot);

const char *cluster_check(const struct swap *swap);
