#include "vm/fault_huge.h"

#include "vm/cow.h"

static uint32_t block(struct process *process, const struct phys_request *request, enum phys_outcome *outcome) {
    const struct phys_result result = phys_obtain(process->system->phys, request);
    *outcome = result.outcome;
    return result.frame;
}

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

static bool huge_zero(struct process *process, uint64_t page, struct pt_table *table, const pt_entry *slot, uint32_t cpu,
                      enum fault_try attempt, struct fault *fault) {
    struct vm_system *system = process->system;
    const uint32_t deposit = held_table(process, cpu, fault);
    if (deposit == PHYS_NO_FRAME) return true;
    if (system->huge_zero == PHYS_NO_FRAME) {
        const struct phys_request request = thp_zero_request(cpu);
        enum phys_outcome outcome = PHYS_NO_MEMORY;
        if (attempt != FAULT_WITHOUT_HUGE) system->huge_zero = block(process, &request, &outcome);
        if (system->huge_zero == PHYS_NO_FRAME) {
            system->counts.thp_zero_page_alloc_failed += outcome == PHYS_NO_MEMORY;
            --fault->tables.count;
            if (outcome == PHYS_NO_MEMORY) vm_free(system, deposit, 0, cpu);
            else process->held_table = deposit;
            return refused(process, outcome, fault);
        }
        ++system->counts.thp_zero_page_alloc;
    }
    if (!process->uses_huge_zero) ++system->huge_zero_users;
    process->uses_huge_zero = true;
    pt_deposit_frame(&process->pt, table, deposit);
    pt_write(&process->pt, slot, page, 1, pt_make(system->huge_zero, PT_PRESENT | PT_YOUNG | PT_ZERO), PT_BY_FAULT);
    fault->kind = FAULT_ZERO;
    fault->order = PHYS_THP_ORDER;
    return true;
}

static bool new_block(struct process *process, const struct area *area, uint64_t page, struct pt_table *table, const pt_entry *slot,
                      uint32_t cpu, enum fault_try attempt, struct fault *fault) {
    struct vm_system *system = process->system;
    const struct phys_request request = thp_fault_request(&system->thp, area, cpu);
    enum phys_outcome outcome = PHYS_NO_MEMORY;
    const uint32_t frame = attempt == FAULT_WITHOUT_HUGE ? PHYS_NO_FRAME : block(process, &request, &outcome);
    if (frame == PHYS_NO_FRAME) return refused(process, outcome, fault);
    const uint32_t deposit = table_frame(process, cpu, fault);
    if (deposit == PHYS_NO_FRAME) {
        vm_free(system, frame, PHYS_THP_ORDER, cpu);
        return true;
    }
    fault->lru_drained = vm_lru_add(system, frame, process_place(process, page & ~(uint64_t)(PT_SLOTS - 1)), cpu);
    pt_deposit_frame(&process->pt, table, deposit);
    const unsigned rights = area->flags & AREA_WRITE ? PT_WRITE : 0;
    pt_write(&process->pt, slot, page, 1, pt_make(frame, PT_PRESENT | PT_YOUNG | PT_DIRTY | rights), PT_BY_FAULT);
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

bool fault_huge(struct process *process, size_t index, uint64_t page, bool write, uint32_t cpu, enum fault_try attempt,
                struct pt_table *table, struct fault *fault) {
    const pt_entry *slot = &table->slot[pt_index(page, 1)];
    const struct area *area = &process->areas.item[index];
    if (pt_present(*slot)) return protected(process, page, table, slot, fault);
    if (*slot != 0 || !thp_fault_allowed(&process->system->thp, area) || !thp_holds(area, page)) return false;
    areas_need_anon(&process->areas, index);
    process_register(process, area);
    if (!write && process->system->thp.use_zero_page) return huge_zero(process, page, table, slot, cpu, attempt, fault);
    return new_block(process, area, page, table, slot, cpu, attempt, fault);
}
