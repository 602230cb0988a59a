// unmap.h - the end of mappings: pages and tables of a range go back to physical memory.
//
// Linux: mm/memory.c zap_pmd_range, zap_pte_range, free_pgtables; mm/huge_memory.c zap_huge_pmd; mm/vma.c vms_clear_ptes. Order
// of frees: the deposited table of each 2MB mapping at once; then, by way of the gather, pages in ascending order of their
// addresses, then tables.
// A 2MB mapping that lies partly in the range is split first.
#pragma once

#include "vm/gather.h"
#include "vm/process.h"

/// Clears the entries of [page, end) and gathers their frames. Tables stay.
void unmap_pages(struct process *process, struct gather *gather, uint64_t page, uint64_t end);

/// munmap: areas, entries and tables of [page, end). Nothing happens if no area is there.
void unmap_range(struct process *process, uint64_t page, uint64_t end, uint32_t cpu);
