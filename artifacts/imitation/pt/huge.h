// huge.h - changes of a level-1 slot between a 2MB mapping and a table of 512 mappings.
//
// Linux: mm/huge_memory.c __split_huge_pmd_locked, __split_huge_zero_page_pmd; mm/khugepaged.c collapse_huge_page.
#pragma once

#include "pt/table.h"

/// The 2MB mapping in `slot`, of `page`, of the level-1 table becomes 512 mappings of 4KB with its bits, in a table whose frame was
/// deposited. 2MB of zeros become 512 mappings of the zero page. The block of frames stays as it is: its owner counts the
/// mappings.
void pt_split(struct pt *pt, struct pt_table *table, const pt_entry *slot, uint64_t page, enum pt_cause cause);

/// The table in `slot`, of `page`, of the level-1 table becomes a 2MB mapping; its frame is deposited. Entries of the table are forgotten.
void pt_collapse(struct pt *pt, struct pt_table *table, const pt_entry *slot, uint64_t page, pt_entry huge);
