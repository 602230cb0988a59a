// deposit.h - tables that were allocated for 2MB mappings and wait until a mapping is split.
//
// Linux: pgtable_trans_huge_deposit and _withdraw (mm/pgtable-generic.c): each table of level 1 (pmd) has a ring of deposited
// pages.
// Order: the youngest is withdrawn first; then the others from the oldest on, because the ring's head moves to its neighbour. So
// the page that a split gets is in general not the page that was allocated for this mapping.
// One ring for each level-1 table: split page-table locks, NR_CPUS >= 4 (include/linux/mm.h USE_SPLIT_PMD_PTLOCKS).
#pragma once

#include <stdint.h>

#include "pt/entry.h"

struct pt_deposits {
    uint32_t head;                 // withdrawn first, if count > 0
    uint32_t first, count;         // the others: a ring buffer of count - 1 frames that starts at `first`
    uint32_t ring[PT_SLOTS];
};

/// At most 512 frames: one for each slot of the table.
void pt_deposit(struct pt_deposits *deposits, uint32_t frame);

/// count > 0.
uint32_t pt_withdraw(struct pt_deposits *deposits);
