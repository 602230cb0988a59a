// gather.h - frames on their way out of a process: freed in batches, after the mappings are gone.
//
// Linux: mm/mmu_gather.c tlb_next_batch, __tlb_remove_folio_pages_size, tlb_batch_pages_flush, tlb_finish_mmu;
// include/asm-generic/tlb.h (MMU_GATHER_BUNDLE 8; MAX_GATHER_BATCH (4096 - 16) / 8 = 510; MAX_GATHER_BATCH_COUNT
// 10000 / 510 = 19). The first 7 frames lie on the stack; each further 509 or so need a frame of
// their own (GFP_NOWAIT: unmovable), which goes back at the end. So an unmap of 7 or more pages allocates before it frees, and
// can change what later requests get.
// Without such a frame, or after 19 of them, what was gathered is freed at once.
// Left out: the table-freeing hook of KVM and Xen.
#pragma once

#include "vm/system.h"

enum { GATHER_KEPT = 255, GATHER_LOCAL = 8, GATHER_BATCH = 510, GATHER_BATCHES = 19 };

struct gathered {
    uint32_t frame;
    uint16_t order;              // of the block; GATHER_KEPT: it stays
    uint16_t pages;              // 4KB mappings of it that went: 1 for a small page; 0 for a whole block, a table, or what stays
};

struct gather {
    struct vm_system *system;
    uint32_t cpu;
    uint32_t batches, active;    // frames in use as batches; the batch that is filled, 0 is the one on the stack
    uint32_t used;               // words of the active batch
    uint32_t batch[GATHER_BATCHES];
    struct gathered *item;       // in order
    size_t count, room;
};

void gather_start(struct gather *gather, struct vm_system *system, uint32_t cpu);

/// A page table or a whole block.
void gather_block(struct gather *gather, uint32_t frame, unsigned order);

/// `pages` 4KB mappings of consecutive frames of one block, or one page of order 0 that nothing else maps. One mapping of 2MB of a shared
/// block counts as one page.
void gather_pages(struct gather *gather, uint32_t frame, uint32_t pages);

/// `pages` consecutive mappings, from `frame` on, of a block that stays: a page of a file, or an anonymous one that others map.
void gather_kept(struct gather *gather, uint32_t frame, uint32_t pages);

void gather_finish(struct gather *gather);
