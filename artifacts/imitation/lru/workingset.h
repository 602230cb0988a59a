// workingset.h - how long ago a page was evicted, and whether it comes back as an active one.
//
// Linux 6.12: mm/workingset.c workingset_eviction, workingset_test_recent, workingset_refault, workingset_age_nonresident. The age
// grows by the pages of each eviction, activation and activating refault. A page that comes back is activated if the age grew since
// its eviction by no more than: for a file page, active file + (with free swap) all anonymous pages; for an anonymous page, all file
// pages + (with free swap) active anonymous pages. Nothing is shaved off the age (bucket_order is 0 on a machine of less than 2^35
// frames with one node).
#pragma once

#include "lru/lru.h"

/// The page is evicted: a shadow to keep in its place; never 0.
uint64_t workingset_eviction(struct lru *lru, uint32_t frame);

/// A page that has `shadow` comes back in `frame` (flags set, not added yet). True if it is active now. free_swap: a swap area has
/// room.
bool workingset_refault(struct lru *lru, uint32_t frame, uint64_t shadow, bool free_swap);

/// The page becomes active (workingset_activation).
static inline void workingset_activation(struct lru *lru, uint32_t frame) { lru->nonresident_age += lru_pages(lru, frame); }
