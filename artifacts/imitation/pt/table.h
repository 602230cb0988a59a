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
    const pt_entry slot[PT_SLOTS];        // only pt_write changes them
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

/// Why an entry was written.
enum pt_cause {
    PT_BY_FAULT,          // the page that a fault was for, or with it the other pages of one large page from swap
    PT_BY_AROUND,         // fault-around
    PT_BY_ACCESS,         // no fault: the processor sets young and dirty
    PT_BY_TABLE,          // a table came or went
    PT_BY_CALL,           // unmapped or split: munmap, mmap, mprotect, madvise, brk, exit
    PT_BY_PROTECT,        // mprotect: other rights
    PT_BY_MOVE,           // mremap: the entry, or a whole table, has another place; or it was split for that
    PT_BY_FORK,           // shared with a child, or the child's copy
    PT_BY_AGING,          // reclaim cleared young
    PT_BY_RECLAIM,        // the page goes to swap, or leaves the page cache; or it was split for that
    PT_BY_MIGRATION,      // compaction moved the page
    PT_BY_COLLAPSE,       // khugepaged
    PT_BY_POLICY,         // no fault: a policy placed the page (vm/policy.h)
    PT_CAUSES
};

/// Name of a cause: fault, around, access, table, call, protect, move, fork, aging, reclaim, migration, collapse, policy.
const char *pt_cause_name(int cause);

/// An entry of level `level` that covers `page` and the pages behind it (pt_slot_pages) was written. Entries of a table that is put in place
/// as a whole (a split, a move) have no events of their own.
struct pt_change {
    const struct pt *pt;
    uint64_t page;
    unsigned level;
    enum pt_cause cause;
    pt_entry old, entry;
};

/// One line without end of line: `page=N level=L cause=NAME`, then `old=` and `new=`: none, table, frame:N, zero, slot:N, and letters of rights
/// (w), young (y), dirty (d), file (f), shared (s).
enum { PT_CHANGE_TEXT_BYTES = 160 };
size_t pt_change_text(const struct pt_change *change, char text[PT_CHANGE_TEXT_BYTES]);

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
const pt_entry *pt_find(const struct pt *pt, uint64_t page, unsigned *level);

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

static inline void pt_report(const struct pt *pt, uint64_t page, unsigned level, pt_entry old, pt_entry entry, enum pt_cause cause) {
    const struct events *sink = &pt->phys->events;
    const struct pt_change change = {pt, page & ~(pt_slot_pages(level) - 1), level, cause, old, entry};
    sink->entry(sink->context, &change);
}

/// The only writer of entries: `slot`, of a table of `level` that is in place, covers `page`.
static inline void pt_write(const struct pt *pt, const pt_entry *slot, uint64_t page, unsigned level, pt_entry entry, enum pt_cause cause) {
    const pt_entry old = *slot;
    *(pt_entry *)(uintptr_t)slot = entry;
    if (__builtin_expect(pt->phys->events.entry != NULL, 0)) pt_report(pt, page, level, old, entry, cause);
}

/// Host memory of a table whose frame is known already.
struct pt_table *pt_new_table(uint32_t frame);
void pt_forget_table(struct pt_table *table);
