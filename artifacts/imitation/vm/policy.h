// policy.h - who decides about the private anonymous memory of processes: what a new area gets, what a fault maps, and which frames.
//
// What is common to all policies (areas, page tables, reverse mappings, LRU lists, reclaim, swap, copies on write) is no part of a policy. It uses
// the mechanisms of fault.h: fault_block, fault_huge_zero, fault_page, fault_zero_page, and policy_place.
// A policy is one file in vm/policies/ and one line in vm/policies.def. `system->policy_state` is its own.
// Left out: areas of files and of huge pages from pools, which no policy sees.
#pragma once

#include "vm/fault.h"

/// A page that nothing maps. Level 1: there is no table for its 2MB either. Level 0: its entry is empty, or, for a write, the zero page.
struct missing {
    struct process *process;
    size_t area;  // index
    uint64_t page;
    bool write;
    uint32_t cpu;
    enum fault_try attempt;
    unsigned level;
    struct pt_table *table;  // of this level
    const pt_entry *slot;
};

struct vm_policy {
    /// NULL: nothing to prepare, or to give back.
    void (*start)(struct vm_system *system);
    void (*end)(struct vm_system *system);
    /// mmap, brk or mremap made [page, end) part of the area. NULL: nothing happens before the first access.
    void (*on_map)(struct process *process, size_t area, uint64_t page, uint64_t end, uint32_t cpu);
    /// Nothing is mapped in [page, end) any more, after munmap, brk, mremap (the old place), MADV_DONTNEED, a new mapping or exit: its pages are
    /// freed or have moved. NULL: nothing to give back.
    void (*on_unmap)(struct process *process, uint64_t page, uint64_t end, uint32_t cpu);
    /// True: the page is mapped, or the fault needs something (fault_needs). False, at level 1 only: the fault goes on at level 0.
    bool (*on_fault)(const struct missing *missing, struct fault *fault);
    /// Frames for a page of a process (request->process, page). NULL: phys_obtain.
    struct phys_result (*placement)(struct vm_system *system, const struct phys_request *request);
    /// A request found no memory, before compaction and reclaim. True: frames were given back, and it tries again. NULL: nothing to give.
    bool (*on_pressure)(struct vm_system *system, const struct phys_request *request);
};

/// A policy by the name of its line; NULL: there is none. And the names: NULL at the end.
const struct vm_policy *policy_named(const char *name);
const char *policy_name(size_t number);

/// The system, which has no process yet, has this policy from now on.
void policy_use(struct vm_system *system, const struct vm_policy *policy);

/// For on_map: `page` of the area is mapped to the frame, a block of order 0 that the policy took, as after a write. False: no frame for a table; the
/// frame is still the policy's. pre: nothing maps the page.
bool policy_place(struct process *process, size_t area, uint64_t page, uint32_t frame, uint32_t cpu);

/// Tell the policy that [page, end) of the area was mapped or unmapped, if it sees the area.
void policy_mapped(struct process *process, size_t area, uint64_t page, uint64_t end, uint32_t cpu);
void policy_unmapped(struct process *process, const struct area *area, uint64_t page, uint64_t end, uint32_t cpu);
