// table.h - the page table of one process, as the kernel keeps it: four levels (48-bit addresses), each table a frame of
// physical memory.
//
// A *page* is a virtual page number: address / 4096, below PT_PAGES (the user half). Level 3 is the root (pgd), then 2 (pud), 1
// (pmd), 0 (pte).
// Frames of tables: order 0, unmovable, like GFP_KERNEL (GFP_PGTABLE_USER, include/asm-generic/pgalloc.h). The root has order 1
// with page-table isolation (PGD_ALLOCATION_ORDER, arch/x86/include/asm/pgalloc.h), whether or not the processor needs it.
// Tables come when a fault needs them, from the top down (mm/memory.c __handle_mm_fault, __pte_alloc), and go with munmap or
// exit (free.h).
// Host memory: 4KB and some words for each table; none for a table that is only deposited, except 2KB for each level-1 table
// with 2MB mappings.
// Left out: five levels, tables of the kernel's half, 1GB mappings.
#pragma once

#include "phys/alloc.h"
#include "pt/deposit.h"
#include "pt/entry.h"

#define PT_PAGES (UINT64_C(1) << 35)      // 2^47 bytes

struct pt_table {
    pt_entry slot[PT_SLOTS];
    uint32_t frame;
    struct pt_deposits *deposits;         // level 1 only; NULL: there never were any
};

struct pt {
    struct phys *phys;
    struct pt_table *root;
    unsigned root_order;
    uint64_t tables[PT_LEVELS];           // frames of each level; deposited ones count as level 0 (mm_inc_nr_ptes)
    uint64_t deposited;                   // of those
};

/// Table frames that one call allocated, in order.
struct pt_new {
    uint32_t count;
    uint32_t frame[PT_LEVELS];
};

/// A root without entries. PHYS_GOT_FRAMES, or why there is none; then `pt` owns nothing.
enum phys_outcome pt_create(struct pt *pt, struct phys *phys, unsigned root_order, uint32_t cpu);

/// Frees the root; no other table is left (free.h) and none is deposited.
void pt_destroy(struct pt *pt, uint32_t cpu);

/// The table of `level` that covers `page`; NULL if it does not exist. *missing is the level whose slot is empty or a mapping.
struct pt_table *pt_find_table(const struct pt *pt, uint64_t page, unsigned level, unsigned *missing);

/// The slot that maps `page` or holds its swap entry, and its level; NULL if nothing does.
pt_entry *pt_find(const struct pt *pt, uint64_t page, unsigned *level);

/// Makes all tables down to `level` and returns the last one. NULL: *outcome says why; tables above stay, as in Linux. No 2MB
/// mapping may cover `page` if level is 0. Adds to *added.
struct pt_table *pt_reach(struct pt *pt, uint64_t page, unsigned level, uint32_t cpu, struct pt_new *added, enum phys_outcome *outcome);

/// A frame for a table, counted nowhere; PHYS_NO_FRAME: *outcome.
uint32_t pt_take_frame(struct pt *pt, uint32_t cpu, enum phys_outcome *outcome);

/// Deposits a frame in a level-1 table, or takes one back. Both keep the counts.
void pt_deposit_frame(struct pt *pt, struct pt_table *table, uint32_t frame);
uint32_t pt_withdraw_frame(struct pt *pt, struct pt_table *table);

static inline struct pt_table *pt_below(pt_entry entry) { return (struct pt_table *)(uintptr_t)entry; }

static inline pt_entry pt_to_table(struct pt_table *table) { return (uint64_t)(uintptr_t)table; }

/// Host memory of a table whose frame is known already.
struct pt_table *pt_new_table(uint32_t frame);
void pt_forget_table(struct pt_table *table);
