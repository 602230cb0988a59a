// fault.h - one access of a program: the hardware's part if a mapping allows it, else the fault.
//
// Linux 6.12: arch/x86/mm/fault.c access_error; mm/memory.c __handle_mm_fault, handle_pte_fault, do_anonymous_page, do_wp_page,
// wp_page_copy; mm/huge_memory.c do_huge_pmd_anonymous_page, do_huge_pmd_wp_page. Order of allocations: tables from the top down
// to level 1; for 2MB the block, then the table to deposit (for 2MB of zeros the other way round); for 4KB the table of level 0,
// then the page.
// A write to the huge zero page splits it: 511 mappings of the zero page and one page, as 6.12 does.
// An access that a mapping allows is no fault: it sets young and dirty as a processor does. So no fault is spurious.
// Writes to shared pages: cow.h. Files: fault_file.h. Swap entries: swap_in.h.
// Left out: shared memory, hugetlb, NUMA hints. The first one is refused with a kind of its own.
#pragma once

#include "vm/process.h"

enum fault_kind {
    FAULT_NONE,             // the mapping allowed the access
    FAULT_PAGE,             // a new page of zeros: order 0 or 9
    FAULT_ZERO,             // a read got the zero page (order 0) or the huge zero page (order 9)
    FAULT_COPY,             // a write replaced the zero page, a page that a fork shared, or a page of a file, by a page of its own
    FAULT_REUSE,            // a write got the right to write to a page of its own
    FAULT_FILE,             // a page of a file was mapped, and maybe its neighbours
    FAULT_BUS,              // beyond the end of the file: SIGBUS
    FAULT_SWAP,             // a page came from swap
    FAULT_SWAP_CACHE,       // a page was in the swap cache still, or already
    FAULT_BAD_ACCESS,       // no area, or one that does not allow the access: SIGSEGV
    FAULT_NOT_MODELLED,     // a file that is not open (file_open), or shared memory
    FAULT_NEEDS,            // memory: `outcome` says what the caller does before it asks again
    FAULT_KINDS
};

/// What to do about a 2MB block: ask for it; go on without it (the fallback is counted).
enum fault_try { FAULT_FIRST, FAULT_WITHOUT_HUGE };

struct fault {
    enum fault_kind kind;
    unsigned order;                 // of the mapping: 0 or 9
    uint32_t frame;                 // of the page or block; PHYS_NO_FRAME: none, or the zero page
    uint32_t from;                  // FAULT_COPY: the frame that was copied; PHYS_NO_FRAME: zeros
    struct pt_new tables;           // frames of new tables; the last one is deposited if order is 9
    bool major;                     // the disk had to read for it
    uint32_t around;                // entries that fault-around set
    bool fallback;                  // 2MB were allowed, the area held them, and there was no block
    bool from_pool;                 // a page of hugetlbfs
    bool split;                     // a 2MB mapping was split on the way
    bool lru_drained;               // the CPU's LRU batch went to its list: each 31st page, and with each block
    enum phys_outcome outcome;      // FAULT_NEEDS: what physical memory asks for
    unsigned needs_order;           // FAULT_NEEDS: the order that was refused
};

/// Name of a kind: none, page, zero, copy, reuse, file, bus, swap, swap-cache, bad-access, not-modelled, needs.
const char *fault_kind_name(int kind);

/// One access to `page`. After FAULT_NEEDS, tables that were made stay; the table for the huge zero page is held by the process, and
/// reported when it is mapped. If `needs_order` is 9, the caller may go on with FAULT_WITHOUT_HUGE; it asks again with FAULT_FIRST.
struct fault fault_access(struct process *process, uint64_t page, bool write, uint32_t cpu, enum fault_try attempt);

/// The access, without 2MB if they are refused. `tables` has those of both attempts.
struct fault fault_resolve(struct process *process, uint64_t page, bool write, uint32_t cpu);

static inline void fault_needs(struct fault *fault, enum phys_outcome outcome, unsigned order) {
    fault->kind = FAULT_NEEDS;
    fault->outcome = outcome;
    fault->needs_order = order;
}

struct missing;

/// For policies: what a missing page gets (policy.h). 4KB: a page of its own, or for a read the zero page.
void fault_page(const struct missing *missing, struct fault *fault);
void fault_zero_page(const struct missing *missing, struct fault *fault);

/// 2MB, at level 1: a block, asked for with `request`, or the huge zero page. False: there is no block, and the fallback is counted.
bool fault_block(const struct missing *missing, const struct phys_request *request, struct fault *fault);
bool fault_huge_zero(const struct missing *missing, struct fault *fault);
