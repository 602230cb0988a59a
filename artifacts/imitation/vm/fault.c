#include "vm/fault.h"

#include "vm/cow.h"
#include "vm/fault_file.h"
#include "vm/fault_huge.h"
#include "vm/hugetlb.h"
#include "vm/policy.h"
#include "vm/swap_in.h"

const char *fault_kind_name(int kind) {
    static const char *const names[FAULT_KINDS] = {"none", "page", "zero",       "copy",       "reuse",        "file",
                                                   "bus",  "swap", "swap-cache", "bad-access", "not-modelled", "needs"};
    return kind >= 0 && kind < FAULT_KINDS ? names[kind] : "?";
}

static bool allows(const struct area *area, bool write) {
    if (write) return area->flags & AREA_WRITE;
    return area->flags & AREA_RIGHTS;      // each right includes reads, without protection keys
}

void fault_page(const struct missing *missing, struct fault *fault) {
    struct process *process = missing->process;
    const struct phys_request request = vm_request(process, missing->page, 0, PHYS_MOVABLE, missing->cpu);
    areas_need_anon(&process->areas, missing->area);
    const struct phys_result result = vm_obtain(process->system, &request);
    if (result.outcome != PHYS_GOT_FRAMES) {
        fault_needs(fault, result.outcome, 0);
        return;
    }
    fault->kind = *missing->slot == 0 ? FAULT_PAGE : FAULT_COPY;
    fault->frame = result.frame;
    const unsigned flags = new_page_flags(&process->areas.item[missing->area]);
    pt_write(&process->pt, missing->slot, missing->page, 0, pt_make(result.frame, flags), PT_BY_FAULT);
    fault->lru_drained = vm_lru_add(process->system, result.frame, process_place(process, missing->page), missing->cpu);
    ++process->anonymous_pages;
}

void fault_zero_page(const struct missing *missing, struct fault *fault) {
    pt_write(&missing->process->pt, missing->slot, missing->page, 0, pt_make(0, PT_PRESENT | PT_YOUNG | PT_ZERO), PT_BY_FAULT);
    fault->kind = FAULT_ZERO;
}

static void small(struct process *process, size_t area, uint64_t page, bool write, uint32_t cpu, struct fault *fault) {
    struct pt_table *table = pt_reach(&process->pt, page, 0, cpu, &fault->tables, &fault->outcome);
    if (!table) {
        fault_needs(fault, fault->outcome, 0);
        return;
    }
    const pt_entry *slot = &table->slot[pt_index(page, 0)];
    if (*slot & PT_SWAP) {
        swap_in(process, &process->areas.item[area], page, write, cpu, slot, fault);
        if (write && pt_present(*slot) && !(*slot & PT_WRITE)) cow_write(process, area, page, slot, cpu, fault);
    } else if (*slot == 0 || *slot & PT_ZERO) {
        const struct missing missing = {process, area, page, write, cpu, FAULT_FIRST, 0, table, slot};
        process->system->policy->on_fault(&missing, fault);
    } else {
        cow_write(process, area, page, slot, cpu, fault);
    }
}

/// True if the processor needs no help.
static bool hardware(struct process *process, uint64_t page, bool write) {
    unsigned level;
    const pt_entry *slot = pt_find(&process->pt, page, &level);
    if (!slot || !pt_present(*slot) || (write && !(*slot & PT_WRITE))) return false;
    const pt_entry used = *slot | (write ? PT_YOUNG | PT_DIRTY : PT_YOUNG);
    if (used != *slot) pt_write(&process->pt, slot, page, level, used, PT_BY_ACCESS);
    return true;
}

struct fault fault_access(struct process *process, uint64_t page, bool write, uint32_t cpu, enum fault_try attempt) {
    struct fault fault = {.frame = PHYS_NO_FRAME, .from = PHYS_NO_FRAME};
    struct area *area = areas_at(&process->areas, page);
    if (!area || !allows(area, write)) {
        fault.kind = FAULT_BAD_ACCESS;
        return fault;
    }
    if (hardware(process, page, write)) return fault;
    if (area->flags & AREA_HUGETLB) {
        hugetlb_fault(process, (size_t)(area - process->areas.item), page, write, cpu, &fault);
        return fault;
    }
    struct file *file = area->file != 0 ? file_named(&process->system->files, area->file) : NULL;
    if (area->file != 0 && !file) {
        fault.kind = FAULT_NOT_MODELLED;
        return fault;
    }
    struct pt_table *table = pt_reach(&process->pt, page, 1, cpu, &fault.tables, &fault.outcome);
    if (!table) {
        fault_needs(&fault, fault.outcome, 0);
        return fault;
    }
    const size_t index = (size_t)(area - process->areas.item);
    if (file) fault_file(process, file, index, page, write, cpu, table, &fault);
    else if (!fault_huge(process, index, page, write, cpu, attempt, table, &fault)) small(process, index, page, write, cpu, &fault);
    return fault;
}

struct fault fault_resolve(struct process *process, uint64_t page, bool write, uint32_t cpu) {
    const struct fault first = fault_access(process, page, write, cpu, FAULT_FIRST);
    if (first.kind != FAULT_NEEDS || first.needs_order == 0) return first;
    struct fault fault = fault_access(process, page, write, cpu, FAULT_WITHOUT_HUGE);
    struct pt_new tables = first.tables;
    for (uint32_t i = 0; i < fault.tables.count; ++i) tables.frame[tables.count++] = fault.tables.frame[i];
    fault.tables = tables;
    return fault;
}
