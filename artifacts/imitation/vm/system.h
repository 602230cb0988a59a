// system.h - what all processes share: physical memory, settings, LRU batches, the huge zero page, counters.
//
// Contract: one thread; every call names its CPU. A system and its processes depend on nothing else, so equal calls give equal
// decisions.
// Linux: mm/swap.c (batches of 31 pages on their way to an LRU list, one for each CPU), mm/huge_memory.c (huge zero page,
// deferred split), names of counters as in /proc/vmstat where there is one.
// A 2MB block whose mapping was split stays one block until its last 4KB mapping goes: Linux frees it then, or when memory is
// short and the shrinker of partially mapped blocks runs (deferred_split_scan), which is left out.
#pragma once

#include "vm/thp.h"

enum { LRU_BATCH = 31 };           // PAGEVEC_SIZE, include/linux/pagevec.h

struct lru_batch {
    uint32_t count;
    uint32_t frame[LRU_BATCH];
};

struct vm_counts {
    uint64_t thp_fault_alloc, thp_fault_fallback, thp_zero_page_alloc, thp_zero_page_alloc_failed;
    uint64_t thp_split_pmd, thp_collapse_alloc, thp_collapse_alloc_failed, thp_full_scans;
    uint64_t lru_drains;           // batches that went to the LRU lists
};

struct process;

struct vm_system {
    struct phys *phys;
    struct thp thp;
    struct vm_counts counts;
    struct lru_batch *lru;         // one for each CPU
    uint16_t *mappings;            // for each 2MB of frames: 4KB mappings of a block whose 2MB mapping was split; else 0
    uint32_t huge_zero;            // first frame of 2MB of zeros; PHYS_NO_FRAME: not allocated
    uint32_t huge_zero_users;      // processes that used it
    struct process **scanned;      // processes that khugepaged knows, oldest first
    size_t scanned_count, scanned_room, scan_at;
    uint64_t scan_page;            // where khugepaged goes on in scanned[scan_at]
    bool scanning;                 // a full scan has begun
};

void vm_create(struct vm_system *system, struct phys *phys, const struct thp *thp);

/// All processes have ended. The huge zero page and the batches are given back.
void vm_destroy(struct vm_system *system);

/// Puts a block into the CPU's batch. True if the batch went to the LRU lists: the 31st page and every 2MB block do that
/// (folio_batch_add_and_move).
bool vm_lru_add(struct vm_system *system, uint32_t frame, uint32_t cpu);

/// Sends the batches of all CPUs to the LRU lists. Linux's unmap drains the own CPU's only; pages of other batches are freed
/// later there.
void vm_lru_drain(struct vm_system *system);

/// The shrinker of the huge zero page: frees it if no process uses it. True if it did.
bool vm_shrink_huge_zero(struct vm_system *system, uint32_t cpu);

/// Takes away one 4KB mapping of an anonymous frame: frees it, or the whole 2MB block after its last mapping.
void vm_put_page(struct vm_system *system, uint32_t frame, uint32_t cpu);

/// Frees a block that nothing maps. A block that is not in use is an error of this program: it stops with a message.
void vm_free(struct vm_system *system, uint32_t frame, unsigned order, uint32_t cpu);
