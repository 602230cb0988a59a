#include "vm/system.h"

#include <stdlib.h>

#include "base/host.h"

void vm_create(struct vm_system *system, struct phys *phys, const struct thp *thp) {
    *system = (struct vm_system){.phys = phys, .thp = *thp, .huge_zero = PHYS_NO_FRAME};
    system->lru = host_alloc(phys->cpus * sizeof *system->lru);
    system->mappings = host_alloc((phys->frames.count >> PHYS_PAGEBLOCK_ORDER) * sizeof *system->mappings);
}

void vm_destroy(struct vm_system *system) {
    vm_lru_drain(system);
    vm_shrink_huge_zero(system, 0);
    free(system->lru);
    free(system->mappings);
    free(system->scanned);
    *system = (struct vm_system){.huge_zero = PHYS_NO_FRAME};
}

static void drain(struct vm_system *system, struct lru_batch *batch) {
    struct error error;
    if (batch->count == 0) return;
    for (uint32_t i = 0; i < batch->count; ++i)
        if (!phys_set_lru(system->phys, batch->frame[i], true, &error)) error_stop(&error);
    batch->count = 0;
    ++system->counts.lru_drains;
}

bool vm_lru_add(struct vm_system *system, uint32_t frame, uint32_t cpu) {
    struct lru_batch *batch = &system->lru[cpu];
    batch->frame[batch->count++] = frame;
    if (batch->count < LRU_BATCH && frame_order(&system->phys->frames, frame) == 0) return false;
    drain(system, batch);
    return true;
}

void vm_lru_drain(struct vm_system *system) {
    for (uint32_t cpu = 0; cpu < system->phys->cpus; ++cpu) drain(system, &system->lru[cpu]);
}

bool vm_shrink_huge_zero(struct vm_system *system, uint32_t cpu) {
    if (system->huge_zero == PHYS_NO_FRAME || system->huge_zero_users > 0) return false;
    vm_free(system, system->huge_zero, PHYS_THP_ORDER, cpu);
    system->huge_zero = PHYS_NO_FRAME;
    return true;
}

void vm_put_page(struct vm_system *system, uint32_t frame, uint32_t cpu) {
    const uint32_t block = frame >> PHYS_PAGEBLOCK_ORDER;
    if (system->mappings[block] == 0)
        vm_free(system, frame, 0, cpu);
    else if (--system->mappings[block] == 0)
        vm_free(system, block << PHYS_PAGEBLOCK_ORDER, PHYS_THP_ORDER, cpu);
}

void vm_free(struct vm_system *system, uint32_t frame, unsigned order, uint32_t cpu) {
    struct error error;
    if (!phys_free(system->phys, frame, order, cpu, &error)) error_stop(&error);
}
