// eager.c - an example of a policy: eager paging. mmap takes blocks for the whole area at once: the largest power of two that is not above the rest,
// or, if there is none, the next smaller one. Its pages are 4KB. No fault follows.
//
// V. Karakostas et al., Redundant Memory Mappings for Fast Access to Large Memories, ISCA 2015, section 4.3. Left out: blocks above order 10.
#include "vm/policy.h"

static void on_map(struct process *process, size_t area, uint64_t page, uint64_t end, uint32_t cpu) {
    struct phys *phys = process->system->phys;
    struct error error;
    for (unsigned order = PHYS_MAX_ORDER; page < end;) {
        while (order > 0 && UINT64_C(1) << order > end - page) --order;
        struct phys_request request = vm_request(process, page, order, PHYS_MOVABLE, cpu);
        request.may_reclaim = order == 0;
        const struct phys_result block = vm_obtain(process->system, &request);
        if (block.outcome != PHYS_GOT_FRAMES) {
            if (order-- == 0) return;  // the rest comes with faults
            continue;
        }
        if (order > 0 && !phys_split_used(phys, block.frame, 0, &error)) error_stop(&error);
        for (uint32_t i = 0; i < UINT32_C(1) << order; ++i)
            if (!policy_place(process, area, page + i, block.frame + i, cpu)) vm_free(process->system, block.frame + i, 0, cpu);
        page += UINT64_C(1) << order;
    }
}

static bool on_fault(const struct missing *missing, struct fault *fault) {
    if (missing->level == 0) fault_page(missing, fault);
    return missing->level == 0;
}

const struct vm_policy eager = {.on_map = on_map, .on_fault = on_fault};
