// process.h - one process: its areas and its page table, and the calls that change them.
//
// Contract: addresses and lengths are in pages of 4KB. A call returns NULL, or the rule that it breaks; then nothing changed,
// except where Linux also stops half way (process_protect, process_advise, process_remap). Calls that free memory need it, too
// (gather.h), but never fail for it.
// Linux 6.12: mm/mmap.c (mmap, brk, exit_mmap), mm/vma.c (munmap), mm/mprotect.c, mm/madvise.c, mm/mremap.c.
// Left out: threads (calls come one after another), mlock, resource limits, overcommit refusals, guard gaps of stacks.
#pragma once

#include "phys/alloc.h"
#include "pt/table.h"
#include "vm/system.h"

struct process {
    struct vm_system *system;
    uint32_t number;                   // in the system; rmap.h
    struct pt pt;
    struct areas areas;
    uint64_t heap_start, heap_end;     // pages [start, end): brk; 0: no heap
    uint64_t anonymous_pages;          // mapped, without zero pages (MM_ANONPAGES)
    uint64_t swapped_pages;            // swap entries (MM_SWAPENTS)
    uint64_t file_pages;               // mapped (MM_FILEPAGES)
    uint64_t hugetlb_pages;            // of 4KB, mapped
    struct huge_promise *promise;      // of its areas of huge pages (hugetlb.h)
    size_t promises, promise_room;
    bool uses_huge_zero;
    uint32_t held_table;               // frame that a fault holds while it needs memory for the huge zero page; PHYS_NO_FRAME: none
    bool registered;                   // khugepaged knows it
};

/// PHYS_GOT_FRAMES, or why the root table got no frames; PHYS_NO_MEMORY also if there are RMAP_MOST_PROCESSES processes. root_order:
/// table.h.
enum phys_outcome process_create(struct process *process, struct vm_system *system, unsigned root_order, uint32_t cpu);

/// exit: every frame goes back, except the huge zero page, which is the system's.
void process_exit(struct process *process, uint32_t cpu);

/// mmap at a fixed place; what was there is unmapped. `flags` without AREA_ACCOUNT; file and offset (pages) as in areas.h,
/// offset 0 if file is 0.
const char *process_map(struct process *process, uint64_t page, uint64_t pages, uint32_t flags, uint32_t file, uint64_t offset,
                        uint32_t cpu);
const char *process_unmap(struct process *process, uint64_t page, uint64_t pages, uint32_t cpu);

/// mprotect: `rights` of AREA_RIGHTS.
const char *process_protect(struct process *process, uint64_t page, uint64_t pages, uint32_t rights);

enum process_advice { ADVICE_HUGEPAGE, ADVICE_NOHUGEPAGE, ADVICE_DONTNEED, ADVICE_PAGEOUT };
const char *process_advise(struct process *process, uint64_t page, uint64_t pages, enum process_advice advice, uint32_t cpu);

/// mremap: to == page shrinks or grows in place; any other `to` moves (MREMAP_MAYMOVE | MREMAP_FIXED).
const char *process_remap(struct process *process, uint64_t page, uint64_t old_pages, uint64_t new_pages, uint64_t to, uint32_t cpu);

/// The heap starts at `page`, empty; then brk sets its end.
const char *process_heap(struct process *process, uint64_t page);
const char *process_brk(struct process *process, uint64_t end, uint32_t cpu);

/// The place of one of its mappings (rmap.h).
static inline rmap_place process_place(const struct process *process, uint64_t page) { return rmap_make(process->number, page); }

/// A request for `page` that may do what phys_request_default says.
static inline struct phys_request vm_request(const struct process *process, uint64_t page, unsigned order, enum phys_type type,
                                             uint32_t cpu) {
    struct phys_request request = phys_request_default(order, type);
    request.cpu = (uint8_t)cpu;
    request.process = process->number;
    request.page = page;
    return request;
}

/// Shared by the files of this folder: bits of a new anonymous page, which is young and dirty, whether a read or a write asked for it.
static inline unsigned new_page_flags(const struct area *area) {
    return PT_PRESENT | PT_YOUNG | PT_DIRTY | (area->flags & AREA_WRITE ? PT_WRITE : 0);
}

/// Shared by the files of this folder: splits the 2MB mapping of `page` in `slot`; registers the process with khugepaged if the area
/// allows it.
void process_split(struct process *process, struct pt_table *table, const pt_entry *slot, uint64_t page, enum pt_cause cause);
void process_register(struct process *process, const struct area *area);

/// Registers the child of a process that is (khugepaged_fork).
void process_register_fork(struct process *process);
