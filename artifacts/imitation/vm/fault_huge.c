#include "vm/fault_huge.h"

#include "vm/cow.h"
#include "vm/policy.h"

/// Why there is no block: the caller can help (true), or the fault falls back to 4KB.
static bool refused(struct process *process, enum phys_outcome outcome, struct fault *fault) {
    if (outcome == PHYS_NO_MEMORY) {
        ++process->system->counts.thp_fault_fallback;
        fault->fallback = true;
        return false;
    }
    fault_needs(fault, outcome, PHYS_THP_ORDER);
    return true;
}

static uint32_t table_frame(struct process *process, uint32_t cpu, struct fault *fault) {
    enum phys_outcome outcome;
    const uint32_t frame = pt_take_frame(&process->pt, cpu, &outcome);
    if (frame == PHYS_NO_FRAME) fault_needs(fault, outcome, 0);
    else fault->tables.frame[fault->tables.count++] = frame;
    return frame;
}

/// The table of a fault that asks for the huge zero page: the one that it holds since it asked first, or a new one.
static uint32_t held_table(struct process *process, uint32_t cpu, struct fault *fault) {
    const uint32_t held = process->held_table;
    if (held == PHYS_NO_FRAME) return table_frame(process, cpu, fault);
    process->held_table = PHYS_NO_FRAME;
    fault->tables.frame[fault->tables.count++] = held;
    return held;
}

bool fault_huge_zero(const struct missing *missing, struct fault *fault) {
    struct process *process = missing->process;
    const uint32_t cpu = missing->cpu;
    struct vm_system *system = process->system;
    const uint32_t deposit = held_table(process, cpu, fault);
    if (deposit == PHYS_NO_FRAME) return true;
    if (system->huge_zero == PHYS_NO_FRAME) {
        const struct phys_request request = thp_zero_request(cpu);
        struct phys_result block = {PHYS_NO_MEMORY, PHYS_NO_FRAME};
        if (missing->attempt != FAULT_WITHOUT_HUGE) block = phys_obtain(system->phys, &request);
        system->huge_zero = block.frame;
        if (system->huge_zero == PHYS_NO_FRAME) {
            system->counts.thp_zero_page_alloc_failed += block.outcome == PHYS_NO_MEMORY;
            --fault->tables.count;
            if (block.outcome == PHYS_NO_MEMORY) vm_free(system, deposit, 0, cpu);
            else process->held_table = deposit;
            return refused(process, block.outcome, fault);
        }
        ++system->counts.thp_zero_page_alloc;
    }
    if (!process->uses_huge_zero) ++system->huge_zero_users;
    process->uses_huge_zero = true;
    pt_deposit_frame(&process->pt, missing->table, deposit);
    pt_write(&process->pt, missing->slot, missing->page, 1, pt_make(system->huge_zero, PT_PRESENT | PT_YOUNG | PT_ZERO), PT_BY_FAULT);
    fault->kind = FAULT_ZERO;
    fault->order = PHYS_THP_ORDER;
    return true;
}

bool fault_block(const struct missing *missing, const struct phys_request *asked, struct fault *fault) {
    struct process *process = missing->process;
    struct vm_system *system = process->system;
    const struct area *area = &process->areas.item[missing->area];
    const uint32_t cpu = missing->cpu;
    const uint64_t page = missing->page & ~(uint64_t)(PT_SLOTS - 1);
    struct phys_request request = *asked;
    request.process = process->number;
    request.page = page;
    struct phys_result block = {PHYS_NO_MEMORY, PHYS_NO_FRAME};
    if (missing->attempt != FAULT_WITHOUT_HUGE) block = vm_obtain(system, &request);
    const uint32_t frame = block.frame;
    if (frame == PHYS_NO_FRAME) return refused(process, block.outcome, fault);
    const uint32_t deposit = table_frame(process, cpu, fault);
    if (deposit == PHYS_NO_FRAME) {
        vm_free(system, frame, PHYS_THP_ORDER, cpu);
        return true;
    }
    fault->lru_drained = vm_lru_add(system, frame, process_place(process, page), cpu);
    pt_deposit_frame(&process->pt, missing->table, deposit);
    pt_write(&process->pt, missing->slot, page, 1, pt_make(frame, new_page_flags(area)), PT_BY_FAULT);
    process->anonymous_pages += PT_SLOTS;
    ++system->counts.thp_fault_alloc;
    fault->kind = FAULT_PAGE;
    fault->order = PHYS_THP_ORDER;
    fault->frame = frame;
    return true;
}

/// A write to a 2MB mapping without the right to write.
static bool protected(struct process *process, uint64_t page, struct pt_table *table, const pt_entry *slot, struct fault *fault) {
    if (*slot & PT_ZERO || !cow_owns_block(process->system, *slot)) {
        process_split(process, table, slot, page, PT_BY_FAULT);
        fault->split = true;
        return false;
    }
    pt_write(&process->pt, slot, page, 1, (*slot & ~(pt_entry)PT_SHARED) | PT_WRITE | PT_YOUNG | PT_DIRTY, PT_BY_FAULT);
    fault->kind = FAULT_REUSE;
    fault->order = PHYS_THP_ORDER;
    fault->frame = pt_value(*slot);
    return true;
}

bool fault_huge(struct process *process, size_t area, uint64_t page, bool write, uint32_t cpu, enum fault_try attempt,
                struct pt_table *table, struct fault *fault) {
    const pt_entry *slot = &table->slot[pt_index(page, 1)];
    if (pt_present(*slot)) return protected(process, page, table, slot, fault);
    const struct missing missing = {process, area, page, write, cpu, attempt, 1, table, slot};
    return *slot == 0 && process->system->policy->on_fault(&missing, fault);
}
