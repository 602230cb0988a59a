// thp.h - transparent huge pages: the settings of /sys/kernel/mm/transparent_hugepage, and what they allow.
//
// Linux 6.12: mm/huge_memory.c __thp_vma_allowable_orders, vma_thp_gfp_mask; include/linux/huge_mm.h thp_vma_suitable_order;
// mm/khugepaged.c alloc_hugepage_khugepaged_gfpmask. Only 2MB: the smaller sizes (mTHP) have their default, `never`.
// Left out: the first try of a NUMA kernel with __GFP_NORETRY (mm/mempolicy.c), prctl(PR_SET_THP_DISABLE).
#pragma once

#include "phys/alloc.h"
#include "vm/areas.h"

enum thp_enabled { THP_ALWAYS, THP_MADVISE, THP_NEVER };
enum thp_defrag { THP_DEFRAG_ALWAYS, THP_DEFRAG_DEFER, THP_DEFRAG_DEFER_MADVISE, THP_DEFRAG_MADVISE, THP_DEFRAG_NEVER, THP_DEFRAG_VALUES };

struct thp {
    enum thp_enabled enabled;
    enum thp_defrag defrag;
    bool use_zero_page;             // reads get 2MB of zeros
    bool khugepaged_defrag;         // khugepaged may compact and reclaim
    uint32_t max_ptes_none, max_ptes_swap, max_ptes_shared;      // of 512 entries
    uint32_t pages_to_scan;         // entries that khugepaged looks at in one wake-up
};

/// enabled always (CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS), defrag madvise, zero page, khugepaged with defrag, 511, 64, 256, 4096.
struct thp thp_default(void);

/// The settings after a boot with so many managed frames: below PHYS_THP_BOOT_FRAMES, enabled never, defrag never, no zero page,
/// khugepaged without defrag (mm/huge_memory.c hugepage_init clears transparent_hugepage_flags).
struct thp thp_boot(uint64_t managed_frames);

/// True if a fault in the area may get 2MB: settings and advice. The area's size is a question of its own (thp_holds).
bool thp_fault_allowed(const struct thp *thp, const struct area *area);

/// True if the area holds the aligned 2MB around `page`.
bool thp_holds(const struct area *area, uint64_t page);

/// True if khugepaged looks at the area: settings, advice, one aligned 2MB, and a fault that gave it an `anon`.
bool thp_scan_allowed(const struct thp *thp, const struct area *area);

/// The request of a write fault.
struct phys_request thp_fault_request(const struct thp *thp, const struct area *area, uint32_t cpu);

/// The request of the huge zero page: unmovable, and it may always reclaim (get_huge_zero_page).
struct phys_request thp_zero_request(uint32_t cpu);

/// The request of khugepaged.
struct phys_request thp_collapse_request(const struct thp *thp, uint32_t cpu);
