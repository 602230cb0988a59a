// entry.h - one slot of a page table: nothing, a mapping, a swap entry, or (above the lowest level) a table.
//
// Encoding, 64 bits: 0 is nothing. PT_PRESENT: a mapping of a frame (bits 32 to 63), or of zeros (PT_ZERO: the zero page, whose
// frame the kernel owns; 2MB of zeros have the frame of the huge zero page). PT_SWAP: a slot of swap (bits 32 to 63). Otherwise
// the slot is the host's address of a table, which has its two lowest bits clear.
// A mapping's size follows from its level: 4KB at level 0, 2MB at level 1.
//
// Linux: arch/x86/include/asm/pgtable_types.h (_PAGE_PRESENT, _RW, _ACCESSED, _DIRTY, _PSE). A new mapping is young (PAGE_COPY
// and the others contain _PAGE_ACCESSED). PROT_NONE keeps entries present in software, so it needs no bit here: the area refuses
// the access.
// Left out: user-space protection keys, soft-dirty, userfaultfd's bit, migration entries, device entries.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t pt_entry;

enum pt_bit {
    PT_PRESENT = 1 << 0,
    PT_SWAP = 1 << 1,
    PT_WRITE = 1 << 2,
    PT_YOUNG = 1 << 3,
    PT_DIRTY = 1 << 4,
    PT_ZERO = 1 << 5,
    PT_FILE = 1 << 6,      // a page of a file in the page cache; without it, an anonymous page
    PT_SHARED = 1 << 7,    // an anonymous page that a fork shared: not PageAnonExclusive
};

enum { PT_SLOTS = 512, PT_SLOTS_SHIFT = 9, PT_LEVELS = 4, PT_TOP = PT_LEVELS - 1 };

/// Pages of 4KB that one slot of a level covers: 1, 512 (2MB), 2^18 (1GB), 2^27 (512GB).
static inline uint64_t pt_slot_pages(unsigned level) { return UINT64_C(1) << (PT_SLOTS_SHIFT * level); }

static inline unsigned pt_index(uint64_t page, unsigned level) { return (unsigned)(page >> (PT_SLOTS_SHIFT * level)) & (PT_SLOTS - 1u); }

static inline pt_entry pt_make(uint32_t value, unsigned bits) { return (uint64_t)value << 32 | bits; }

static inline bool pt_present(pt_entry entry) { return entry & PT_PRESENT; }

static inline bool pt_is_table(pt_entry entry) { return entry != 0 && !(entry & (PT_PRESENT | PT_SWAP)); }

/// The frame of a mapping, or the slot of a swap entry.
static inline uint32_t pt_value(pt_entry entry) { return (uint32_t)(entry >> 32); }
