#include "vm/process.h"

#include <string.h>

#include "base/host.h"
#include "pt/huge.h"
#include "vm/hugetlb.h"
#include "vm/unmap.h"

static void border(void *context, uint64_t page) {
    struct process *process = context;
    unsigned missing;
    if (page % PT_SLOTS == 0) return;
    struct pt_table *table = pt_find_table(&process->pt, page, 1, &missing);
    const pt_entry *slot = table ? &table->slot[pt_index(page, 1)] : NULL;
    if (slot && pt_present(*slot)) process_split(process, table, slot, page, PT_BY_CALL);
}

enum phys_outcome process_create(struct process *process, struct vm_system *system, unsigned root_order, uint32_t cpu) {
    *process = (struct process){.system = system, .held_table = PHYS_NO_FRAME};
    process->areas.border = border;
    process->areas.context = process;
    process->areas.slabs = system->slabs;
    process->areas.events = &system->phys->events;
    process->number = vm_register(system, process);
    if (process->number == 0) return PHYS_NO_MEMORY;
    const enum phys_outcome outcome = pt_create(&process->pt, system->phys, root_order, cpu);
    if (outcome != PHYS_GOT_FRAMES) vm_unregister(system, process->number);
    return outcome;
}

/// khugepaged forgets the process; if it was at work on it, it goes on with the next one (collect_mm_slot).
static void unregister(struct process *process) {
    struct vm_system *system = process->system;
    size_t at = 0;
    if (!process->registered) return;
    while (system->scanned[at] != process) ++at;
    memmove(system->scanned + at, system->scanned + at + 1, (--system->scanned_count - at) * sizeof *system->scanned);
    if (at < system->scan_at) --system->scan_at;
    if (!system->scanning || at != system->scan_at) return;
    system->scan_page = 0;
    if (at < system->scanned_count) return;
    system->scanning = false;
    system->scan_at = 0;
    ++system->counts.thp_full_scans;
}

void process_exit(struct process *process, uint32_t cpu) {
    unregister(process);
    if (process->held_table != PHYS_NO_FRAME) vm_free(process->system, process->held_table, 0, cpu);
    process->held_table = PHYS_NO_FRAME;
    unmap_range(process, 0, PT_PAGES, cpu);
    hugetlb_forget(process);
    pt_destroy(&process->pt, cpu);
    areas_destroy(&process->areas);
    vm_unregister(process->system, process->number);
    process->system->huge_zero_users -= process->uses_huge_zero;
}

void process_split(struct process *process, struct pt_table *table, const pt_entry *slot, uint64_t page, enum pt_cause cause) {
    const pt_entry huge = *slot;
    pt_split(&process->pt, table, slot, page, cause);
    if (!(huge & PT_ZERO)) {
        const uint64_t start = page & ~(uint64_t)(PT_SLOTS - 1);
        uint32_t *mappings = &process->system->mappings[pt_value(huge) >> PHYS_PAGEBLOCK_ORDER];
        *mappings = *mappings == 0 ? PT_SLOTS : *mappings + PT_SLOTS - 1;      // shared: one of them became 512
        for (uint32_t i = 1; i < PT_SLOTS; ++i) rmap_add(&process->system->lru.rmap, pt_value(huge) + i, process_place(process, start + i));
    }
    ++process->system->counts.thp_split_pmd;
}

void process_register_fork(struct process *process) {
    struct vm_system *system = process->system;
    process->registered = true;
    system->scanned = host_grow(system->scanned, &system->scanned_room, system->scanned_count + 1, sizeof *system->scanned);
    system->scanned[system->scanned_count++] = process;
}

void process_register(struct process *process, const struct area *area) {
    if (!process->registered && thp_scan_allowed(&process->system->thp, area)) process_register_fork(process);
}
