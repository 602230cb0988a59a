// collapse.h - khugepaged's decision for one 2MB range, and the collapse itself.
//
// Linux 6.12: mm/khugepaged.c hpage_collapse_scan_pmd, __collapse_huge_page_isolate, collapse_huge_page,
// __collapse_huge_page_copy_succeeded.
// The request for the block can reclaim: then the entries are looked at once more (__collapse_huge_page_isolate).
// The scan stops at the first entry that exceeds a limit, in ascending order; a zero page counts as none. A page is young if its
// entry is. A page is shared if a fork shared it and another process still maps it. Order of the collapse: the new block is allocated first; then the old pages are
// freed in ascending order, after them blocks that were split and have no mapping left, in the order of their first mappings in the
// range; the table of the range is deposited.
// Left out: swap-in before a collapse, pages that are pinned or locked, files.
#pragma once

#include "vm/process.h"

enum collapse_result {
    COLLAPSE_DONE,
    COLLAPSE_NO_TABLE,  // no level-1 table (SCAN_PMD_NULL)
    COLLAPSE_EMPTY,  // no table of level 0 (SCAN_PMD_NONE)
    COLLAPSE_MAPPED,  // 2MB already (SCAN_PMD_MAPPED)
    COLLAPSE_MANY_NONE,  // limits exceeded (SCAN_EXCEED_NONE_PTE, _SWAP_PTE, _SHARED_PTE)
    COLLAPSE_MANY_SWAP,
    COLLAPSE_MANY_SHARED,
    COLLAPSE_READ_ONLY,  // no writable page (SCAN_PAGE_RO)
    COLLAPSE_NOT_YOUNG,  // no young page; or, with swapped ones, fewer than 256 (SCAN_LACK_REFERENCED_PAGE)
    COLLAPSE_NO_BLOCK,  // physical memory refused 2MB (SCAN_ALLOC_HUGE_PAGE_FAIL)
    COLLAPSE_SWAP_IN,  // would collapse, after pages came back from swap: not modelled
    COLLAPSE_NOT_PRESENT,  // reclaim for the block took a page of the range (SCAN_PTE_NON_PRESENT)
    COLLAPSE_RESULTS
};

const char *collapse_result_name(int result);

/// Of the 512 entries of a range.
struct collapse_counts {
    uint32_t none;  // empty, or the zero page
    uint32_t swap;  // swapped
    uint32_t shared;  // present and mapped by more than one process
    uint32_t young;  // present and young
    bool writable;  // at least one present page is writable
};

/// What khugepaged decides for these counts, if at most one limit is exceeded; COLLAPSE_DONE: go on. With more than one, the
/// order of the entries decides which is named; here none, then swap, then shared.
enum collapse_result collapse_decide(const struct thp *thp, const struct collapse_counts *counts);

/// The decision on the PT_SLOTS entries of a table of level 0, read in ascending order until a limit is exceeded. *counts: of the entries read.
/// system->mappings has a word for each 2MB of the frames in them.
enum collapse_result collapse_scan(const struct vm_system *system, const pt_entry *entry, struct collapse_counts *counts);

/// Scans the range of `page`, a multiple of 512 in an area that thp_scan_allowed; collapses it if the decision is so and there
/// is a block. *outcome is what physical memory said.
enum collapse_result collapse_range(struct process *process, uint64_t page, uint32_t cpu, enum phys_outcome *outcome);
