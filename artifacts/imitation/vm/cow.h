// cow.h - a write to a page that is mapped without the right to write.
//
// Linux 6.12: mm/memory.c do_wp_page, wp_can_reuse_anon_folio, wp_page_copy, wp_page_shared. Rules:
// - A page of a file in a shared area: it becomes writable and dirty (ext4's page_mkwrite allocates nothing that is modelled).
// - An anonymous page that no fork shared (PageAnonExclusive, here without PT_SHARED): it becomes writable.
// - One that a fork shared: it is reused if it has order 0, this is its only mapping, and nothing else holds it: at most 3
//   references, or the CPU's batches are not tried; else they are drained first, because a batch holds one, too. It leaves the swap cache
//   for that, if no other entry has its slot. A part of a 2MB
//   block is always copied.
// - Else a copy: the new page first; the old one loses a mapping, and is freed with its last one.
// A 2MB mapping that a fork shared is reused if it is the only mapping of its block, else split (mm/huge_memory.c do_huge_pmd_wp_page).
#pragma once

#include "vm/fault.h"

/// `slot` of level 0 maps `page`, not the zero page, and the area allows writes.
void cow_write(struct process *process, size_t area, uint64_t page, const pt_entry *slot, uint32_t cpu, struct fault *fault);

/// True if the 2MB mapping in `entry`, of an anonymous block, may be written without a copy.
bool cow_owns_block(const struct vm_system *system, pt_entry entry);
