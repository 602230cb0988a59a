#include "vm/system.h"

#include <stdlib.h>

#include "base/host.h"
#include "vm/anon.h"
#include "vm/file_owner.h"
#include "vm/policy.h"

void vm_create(struct vm_system *system, struct phys *phys, const struct thp *thp) {
    *system = (struct vm_system){.phys = phys, .thp = *thp, .huge_zero = PHYS_NO_FRAME};
    lru_create(&system->lru, phys);
    swap_create(&system->swap, &system->lru, 0, false);
    reclaim_create(&system->reclaim, &system->lru, &system->swap);
    compact_create(&system->compact, &system->lru);
    anon_setup(system);
    system->page_cluster = 3;
    file_cache_create(&system->files, phys, &system->lru);
    file_owner_create(system);
    hugetlb_create(&system->hugetlb, phys);
    policy_use(system, policy_named("linux-6.12"));
    system->mappings = host_alloc((phys->frames.count >> PHYS_PAGEBLOCK_ORDER) * sizeof *system->mappings);
}

void vm_destroy(struct vm_system *system) {
    policy_use(system, NULL);
    vm_lru_drain(system);
    vm_shrink_huge_zero(system, 0);
    file_cache_destroy(&system->files, 0);
    file_owner_destroy(system);
    hugetlb_destroy(&system->hugetlb, 0);
    compact_destroy(&system->compact);
    swap_destroy(&system->swap);
    lru_destroy(&system->lru);
    system->phys->help = (struct phys_help){0};
    free(system->process);
    free(system->mappings);
    free(system->scanned);
    *system = (struct vm_system){.huge_zero = PHYS_NO_FRAME};
}

bool vm_lru_add(struct vm_system *system, uint32_t frame, rmap_place place, uint32_t cpu) {
    lru_own(&system->lru, frame, LRU_OWNER_ANON, LRU_SWAPBACKED);
    rmap_set(&system->lru.rmap, frame, place);
    return lru_add(&system->lru, frame, cpu);
}

void vm_swap_on(struct vm_system *system, uint32_t pages, bool synchronous) {
    swap_destroy(&system->swap);
    swap_create(&system->swap, &system->lru, pages, synchronous);
    system->files.free_swap = &system->swap.free;
}

void vm_lru_drain(struct vm_system *system) { lru_drain_all(&system->lru); }

uint32_t vm_register(struct vm_system *system, struct process *process) {
    size_t number = 1;
    while (number < system->processes && system->process[number]) ++number;
    if (number >= system->processes) {
        system->processes = number + 1;
        system->process = host_grow(system->process, &system->process_room, system->processes, sizeof *system->process);
    }
    if (number > RMAP_MOST_PROCESSES) return 0;
    system->process[number] = process;
    return (uint32_t)number;
}

void vm_unregister(struct vm_system *system, uint32_t number) { system->process[number] = NULL; }

bool vm_shrink_huge_zero(struct vm_system *system, uint32_t cpu) {
    if (system->huge_zero == PHYS_NO_FRAME || system->huge_zero_users > 0) return false;
    vm_free(system, system->huge_zero, PHYS_THP_ORDER, cpu);
    system->huge_zero = PHYS_NO_FRAME;
    return true;
}

void vm_put_page(struct vm_system *system, uint32_t frame, uint32_t cpu) {
    const uint32_t block = frame >> PHYS_PAGEBLOCK_ORDER;
    if (system->mappings[block] == 0) anon_free(system, frame, cpu);
    else if (--system->mappings[block] == 0) anon_free(system, block << PHYS_PAGEBLOCK_ORDER, cpu);
}

void vm_free(struct vm_system *system, uint32_t frame, unsigned order, uint32_t cpu) {
    struct error error;
    if (lru_flags(&system->lru, frame) != 0) lru_forget(&system->lru, frame);
    if (!phys_free(system->phys, frame, order, cpu, &error)) error_stop(&error);
}
