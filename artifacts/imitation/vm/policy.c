#include "vm/policy.h"

#include <string.h>

#define POLICY(symbol, name) extern const struct vm_policy symbol;
#include "vm/policies.def"
#undef POLICY

static const struct {
    const char *name;
    const struct vm_policy *policy;
} rows[] = {
#define POLICY(symbol, name) {name, &symbol},
#include "vm/policies.def"
#undef POLICY
};

const struct vm_policy *policy_named(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (strcmp(name, rows[i].name) == 0) return rows[i].policy;
    return NULL;
}

const char *policy_name(size_t number) { return number < sizeof rows / sizeof *rows ? rows[number].name : NULL; }

void policy_use(struct vm_system *system, const struct vm_policy *policy) {
    if (system->policy && system->policy->end) system->policy->end(system);
    system->policy = policy;
    if (policy && policy->start) policy->start(system);
}

static bool sees(const struct area *area) { return area->file == 0 && !(area->flags & (AREA_SHARED | AREA_HUGETLB)); }

void policy_mapped(struct process *process, size_t area, uint64_t page, uint64_t end, uint32_t cpu) {
    const struct vm_policy *policy = process->system->policy;
    if (policy->on_map && page < end && sees(&process->areas.item[area])) policy->on_map(process, area, page, end, cpu);
}

void policy_unmapped(struct process *process, const struct area *area, uint64_t page, uint64_t end, uint32_t cpu) {
    const struct vm_policy *policy = process->system->policy;
    if (policy->on_unmap && sees(area)) policy->on_unmap(process, page, end, cpu);
}

bool policy_place(struct process *process, size_t area, uint64_t page, uint32_t frame, uint32_t cpu) {
    struct pt_new added = {0};
    enum phys_outcome outcome;
    struct pt_table *table = pt_reach(&process->pt, page, 0, cpu, &added, &outcome);
    if (!table) return false;
    areas_need_anon(&process->areas, area);
    const unsigned flags = new_page_flags(&process->areas.item[area]);
    pt_write(&process->pt, &table->slot[pt_index(page, 0)], page, 0, pt_make(frame, flags), PT_BY_POLICY);
    vm_lru_add(process->system, frame, process_place(process, page), cpu);
    ++process->anonymous_pages;
    return true;
}

struct phys_result vm_obtain(struct vm_system *system, const struct phys_request *request) {
    if (system->policy->placement) return system->policy->placement(system, request);
    return phys_obtain(system->phys, request);
}
