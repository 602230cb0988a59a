// move.h - mremap's move of page tables from one range to another.
//
// Linux: mm/mremap.c move_page_tables, get_extent, try_realign_addr; mm/huge_memory.c move_huge_pmd. Whole tables move where
// source and target are aligned alike: 1GB by a level-2 slot, 2MB by a level-1 slot (tables and 2MB mappings); the rest entry by
// entry. A 2MB mapping that cannot move whole is split. Tables above the target are made; those of the source stay for munmap.
#pragma once

#include "vm/process.h"

/// Moves the mappings of [from, from + pages) to `to`. Areas for both ranges exist. Returns the pages done: fewer than `pages`
/// if a table got no frame.
uint64_t move_pages(struct process *process, uint64_t from, uint64_t to, uint64_t pages, uint32_t cpu);
