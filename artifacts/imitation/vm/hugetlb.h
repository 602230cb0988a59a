// hugetlb.h - areas of huge pages from a pool: private anonymous ones (MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB).
//
// Linux 6.12: mm/hugetlb.c hugetlb_reserve_pages, hugetlb_no_page, hugetlb_wp, alloc_hugetlb_folio, unmap_ref_private,
// __unmap_hugepage_range, hugetlb_vm_op_close, copy_hugetlb_page_range, hugetlb_vm_op_split. Rules:
// - mmap promises a page of the pool for each page of the area, or fails; with AREA_NORESERVE it does not. Areas never merge
//   (VM_DONTEXPAND); their borders are multiples of the page size.
// - A fault makes tables down to the level above the page (a pmd or a pud slot, no deposit), and takes a promised page, or one that is not
//   promised to anybody; else SIGBUS, FAULT_BUS. A read maps it without the right to write; the first write gets it then.
// - fork: the child has the mappings, both without the right to write, and no promises. Who writes to a page with more than one mapping copies
//   it: its owner, too, does not use a promise for that. If the owner finds no page, the children lose theirs: the owner
//   reuses its own, and a child that comes back gets SIGBUS.
// - An unmapped page of the owner that nothing else maps is promised to the area again, and promises that an area did not use
//   end with it.
// Left out: shared mappings and files of hugetlbfs, mprotect, mremap and madvise of such areas, surplus pages, tables that are shared.
#pragma once

#include "vm/fault.h"
#include "vm/gather.h"

/// Promises of one mmap to its process. Bits: pages whose promise was used or given up.
struct huge_promise {
    uint64_t start, end;  // pages of 4KB
    uint64_t *used;
    enum hugetlb_size size;
};

static inline enum hugetlb_size hugetlb_size_of(const struct area *area) {
    return area->flags & AREA_HUGETLB_1GB ? HUGETLB_1GB : HUGETLB_2MB;
}

/// mmap at a fixed place. `flags` may have AREA_NORESERVE. NULL, or the rule that is broken.
const char *hugetlb_map(struct process *process, uint64_t page, uint64_t pages, uint32_t flags, enum hugetlb_size size, uint32_t cpu);

/// The rule that borders at `page` and `end` break in an area of huge pages there; NULL: none.
const char *hugetlb_borders(struct process *process, uint64_t page, uint64_t end);

/// A fault in an area of huge pages that allows the access.
void hugetlb_fault(struct process *process, size_t area, uint64_t page, bool write, uint32_t cpu, struct fault *fault);

/// Pages [page, end) of one area lose their mappings and promises.
void hugetlb_unmap(struct process *process, struct gather *gather, uint64_t page, uint64_t end);

/// fork: one area. False: a table got no frame.
bool hugetlb_copy(struct process *child, struct process *parent, const struct area *area, uint32_t cpu, enum phys_outcome *outcome,
                  uint64_t *copied);

/// Exit: what is left of the promises of a process.
void hugetlb_forget(struct process *process);
