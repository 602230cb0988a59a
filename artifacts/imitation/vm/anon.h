// anon.h - anonymous pages as reclaim and compaction see them: the owner of such pages (lru.h), with swap behind it.
//
// Linux 6.12: mm/rmap.c folio_referenced_one, try_to_unmap_one (anonymous part); mm/swap_state.c add_to_swap, free_swap_cache;
// mm/huge_memory.c split_folio_to_list; mm/migrate.c remove_migration_pte.
// Rules: a 2MB block goes to 512 slots of one cluster, and its 2MB mapping is split for that; without such a cluster, or if some of its
// pages are unmapped already, it becomes 512 pages first. Mappings become swap entries; a page is dirty when it joins the swap cache.
// References are counted once for each area that maps a page.
// Left out: lazily freed pages (MADV_FREE), split blocks whose pages of zeros become the zero page (the imitation has no contents).
#pragma once

#include "pt/entry.h"
#include "vm/system.h"

void anon_setup(struct vm_system *system);

/// The block becomes pages of order 0 in phys, in their mappings, and in the lists: it is isolated, and its other pages go to `list`.
void anon_split(struct vm_system *system, uint32_t frame, uint32_t list);

/// The page at `frame` lost its last mapping: it leaves the swap cache if no entry has its slots, and is freed; else it stays, in the
/// swap cache (free_pages_and_swap_cache).
void anon_free(struct vm_system *system, uint32_t frame, uint32_t cpu);

/// Entry of a place, and its level; never NULL: the place is noted.
const pt_entry *anon_entry(const struct vm_system *system, rmap_place place, unsigned *level);
