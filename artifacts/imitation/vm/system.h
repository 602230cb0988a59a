// system.h - what all processes share: physical memory, settings, LRU lists, reverse mappings, the huge zero page, counters.
//
// Contract: one thread; every call names its CPU. A system and its processes depend on nothing else, so equal calls give equal
// decisions.
// Linux: mm/huge_memory.c (huge zero page, deferred split), names of counters as in /proc/vmstat where there is one.
// A 2MB block whose mapping was split stays one block until its last 4KB mapping goes: Linux frees it then, or when memory is
// short and the shrinker of partially mapped blocks runs (deferred_split_scan), which is left out.
#pragma once

#include "compact/compact.h"
#include "file/cache.h"
#include "hugetlb/pool.h"
#include "reclaim/reclaim.h"
#include "vm/thp.h"

struct vm_counts {
    uint64_t pgmajfault;           // faults that had to read a file or swap
    uint64_t thp_fault_alloc, thp_fault_fallback, thp_zero_page_alloc, thp_zero_page_alloc_failed;
    uint64_t thp_split_page, thp_swpout, thp_swpout_fallback;
    uint64_t thp_split_pmd, thp_collapse_alloc, thp_collapse_alloc_failed, thp_full_scans;
};

struct process;
struct vm_policy;

struct vm_system {
    struct phys *phys;
    struct thp thp;
    const struct vm_policy *policy;        // who decides (policy.h); linux-6.12 at first
    void *policy_state;
    struct vm_counts counts;
    struct lru lru;
    struct lru_owner anon;         // of anonymous pages (anon.h)
    struct swap swap;
    struct reclaim reclaim;
    struct compact compact;
    uint32_t page_cluster;         // swap reads 2^this pages at once, at most; 3 (mm/swap.c swap_setup)
    struct process **process;      // by number, from 1 on; NULL: unused
    size_t processes, process_room;
    uint32_t *mappings;            // for each 2MB of frames: 0, or the mappings, of 4KB and 2MB, of a block that is shared or was split
    struct area_slabs *slabs;      // what areas of processes created from now on cost; NULL: nothing. The caller's
    struct file_cache files;
    struct hugetlb hugetlb;        // pools
    struct lru_owner *file_owner;  // of pages of files, for the LRU lists (file_owner.h)
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

/// A new anonymous block, mapped at `place`: it gets its owner and goes into the CPU's batch. True if the batch went to the LRU
/// lists: the 31st page and every 2MB block do that (folio_add_new_anon_rmap, folio_add_lru_vma).
bool vm_lru_add(struct vm_system *system, uint32_t frame, rmap_place place, uint32_t cpu);

/// Sends the batches of all CPUs to the LRU lists. Linux's unmap drains the own CPU's only; pages of other batches are freed
/// later there.
void vm_lru_drain(struct vm_system *system);

/// The shrinker of the huge zero page: frees it if no process uses it. True if it did.
bool vm_shrink_huge_zero(struct vm_system *system, uint32_t cpu);

/// Frames for a page of a process: by the policy's placement.
struct phys_result vm_obtain(struct vm_system *system, const struct phys_request *request);

/// A swap area of `pages`, its header included, from now on; processes have no swap entries yet. Faults then reclaim (slow_path.h).
void vm_swap_on(struct vm_system *system, uint32_t pages, bool synchronous);

/// A process gets its number, at most RMAP_MOST_PROCESSES; 0: there is none left. And it gives it back.
uint32_t vm_register(struct vm_system *system, struct process *process);
void vm_unregister(struct vm_system *system, uint32_t number);

/// An anonymous frame that lost its last 4KB mapping (rmap.h: it is gone already): frees it, or the whole 2MB block after its last one.
void vm_put_page(struct vm_system *system, uint32_t frame, uint32_t cpu);

/// Frees a block that nothing maps; it leaves its LRU list. A block that is not in use is an error of this program: it stops with a message.
void vm_free(struct vm_system *system, uint32_t frame, unsigned order, uint32_t cpu);
