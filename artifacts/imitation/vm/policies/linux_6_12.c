// linux_6_12.c - the policy of Linux 6.12: 2MB at a fault where the settings allow it, else 4KB; nothing before the first access.
//
// Linux: mm/huge_memory.c do_huge_pmd_anonymous_page; mm/memory.c do_anonymous_page. thp.h has the settings.
#include "vm/policy.h"

static bool on_fault(const struct missing *missing, struct fault *fault) {
    struct process *process = missing->process;
    const struct thp *thp = &process->system->thp;
    const struct area *area = &process->areas.item[missing->area];
    if (missing->level == 0) {
        if (missing->write) fault_page(missing, fault);
        else fault_zero_page(missing, fault);
        return true;
    }
    if (!thp_fault_allowed(thp, area) || !thp_holds(area, missing->page)) return false;
    areas_need_anon(&process->areas, missing->area);
    process_register(process, area);
    if (!missing->write && thp->use_zero_page) return fault_huge_zero(missing, fault);
    const struct phys_request request = thp_fault_request(thp, area, missing->cpu);
    return fault_block(missing, &request, fault);
}

const struct vm_policy linux_6_12 = {.on_fault = on_fault};
