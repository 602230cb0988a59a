// free.h - tables that no area needs any more.
//
// Linux: free_pgd_range and its helpers (mm/memory.c). A table of level 0 goes if its 2MB range holds no other area; tables
// above go in the same way by their 1GB and 512GB ranges. The neighbours decide, not the content: a table without entries inside
// an area stays.
#pragma once

#include "pt/table.h"

/// Receives the frame of each table, lower tables first, ascending.
typedef void pt_give(void *context, uint32_t frame);

/// Frees the tables of [page, end), whose entries are gone. `floor` is the end of the area below (0: none), `ceiling` the start
/// of the area above (0: none). Empty slots for level-1 mappings hold no deposits any more.
void pt_free_range(struct pt *pt, uint64_t page, uint64_t end, uint64_t floor, uint64_t ceiling, pt_give *give, void *context);
