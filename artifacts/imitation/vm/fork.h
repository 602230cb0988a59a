// fork.h - a copy of a process: its areas, and the page tables of those that need it.
//
// Linux 6.12: kernel/fork.c dup_mmap; mm/memory.c vma_needs_copy, copy_page_range and the functions below it; mm/huge_memory.c
// copy_huge_pmd; mm/rmap.c anon_vma_fork; include/linux/khugepaged.h khugepaged_fork. Rules:
// - The root table first; then area after area, ascending. Only areas with an `anon` are copied: the child's faults find the others again.
//   So pages of files, zero pages and shared mappings of an area without an anonymous page are not.
// - Tables from the top down, as far as the parent has them, empty ones too. A 2MB mapping: the table to deposit.
// - Anonymous pages: both entries lose the right to write and get PT_SHARED; the child's is not young. Pages of files in private areas: the
//   child's entry is not writable and not young; in shared areas it is clean and not young.
// - Each area that has an `anon` gets one of its own in the child; its list is one longer (merge.h).
// - The child is known to khugepaged if the parent is.
// - Without memory for a table the child is taken down again; the parent's pages stay shared.
// - Swap entries: one entry more for the slot; both get PT_SHARED (copy_nonpresent_pte).
// Left out: an anon_vma of an ended process that Linux uses again (num_active_vmas); MADV_DONTFORK, MADV_WIPEONFORK; pinned pages;
// task structures and stacks.
#pragma once

#include "vm/process.h"

struct fork_result {
    enum phys_outcome outcome;  // PHYS_GOT_FRAMES, or what a table lacked
    uint64_t tables;  // that the child got, deposited ones too, the root as one
    uint64_t pages;  // entries copied, a 2MB mapping as one
    bool has_swap;  // a slot has SWAP_MOST_COUNT entries already: not modelled; there is no child
};

/// `child` is not a process yet; it is one afterwards if outcome is PHYS_GOT_FRAMES and has_swap is false.
struct fork_result process_fork(struct process *child, struct process *parent, uint32_t cpu);
