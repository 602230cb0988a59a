// file_owner.h - what the LRU lists ask about pages of files: their mappings, and their place in the page cache.
//
// Linux 6.12: mm/rmap.c folio_referenced_one, try_to_unmap_one; mm/vmscan.c pageout, __remove_mapping; mm/migrate.c
// filemap_migrate_folio. Rules:
// - Reclaim does not write dirty pages of files: ext4 of 6.12 has no writepage, so pageout makes them active; the flusher writes.
// - An unmap moves the dirty bit of an entry to the page.
// - An evicted page leaves what workingset.h needs to know when it returns.
// Left out: the flusher.
#pragma once

#include "vm/system.h"

/// Makes the owner of pages of files and gives it to the lists.
void file_owner_create(struct vm_system *system);
void file_owner_destroy(struct vm_system *system);
