#include "vm/file_owner.h"

#include <stdlib.h>

#include "base/host.h"
#include "vm/process.h"

static bool mapped(void *context, uint32_t folio) {
    const struct vm_system *system = context;
    const uint32_t pages = lru_pages(&system->lru, folio);
    for (uint32_t i = 0; i < pages; ++i)
        if (rmap_mapped(&system->lru.rmap, folio + i)) return true;
    return false;
}

static const pt_entry *entry_of(const struct vm_system *system, rmap_place place, struct process **process) {
    unsigned level;
    *process = system->process[rmap_process(place)];
    return pt_find(&(*process)->pt, rmap_page(place), &level);
}

static uint32_t referenced(void *context, uint32_t folio, bool *executable) {
    const struct vm_system *system = context;
    const uint32_t pages = lru_pages(&system->lru, folio);
    const struct area *last = NULL;
    uint32_t count = 0;
    *executable = false;
    for (uint32_t i = 0; i < pages; ++i) {
        rmap_place place;
        for (struct rmap_walk walk = rmap_start(&system->lru.rmap, folio + i); rmap_next(&walk, &place);) {
            struct process *process;
            const pt_entry *entry = entry_of(system, place, &process);
            if (!(*entry & PT_YOUNG)) continue;
            pt_write(&process->pt, entry, rmap_page(place), 0, *entry & ~(pt_entry)PT_YOUNG, PT_BY_AGING);
            const struct area *area = areas_at(&process->areas, rmap_page(place));
            count += area != last;               // an area counts once, however many entries of the folio are young
            *executable |= (area->flags & AREA_EXEC) != 0;
            last = area;
        }
    }
    return count;
}

static bool unmap(void *context, uint32_t folio, uint32_t cpu) {
    struct vm_system *system = context;
    const uint32_t pages = lru_pages(&system->lru, folio);
    (void)cpu;
    for (uint32_t i = 0; i < pages; ++i)
        while (rmap_mapped(&system->lru.rmap, folio + i)) {
            const rmap_place place = rmap_oldest(&system->lru.rmap, folio + i);
            struct process *process;
            const pt_entry *entry = entry_of(system, place, &process);
            if (*entry & PT_DIRTY) lru_set(&system->lru, folio, LRU_DIRTY);
            pt_write(&process->pt, entry, rmap_page(place), 0, 0, PT_BY_RECLAIM);
            --process->file_pages;
            rmap_remove(&system->lru.rmap, folio + i, place);
        }
    return true;
}

static bool leave(void *context, uint32_t folio, uint64_t shadow, uint32_t cpu) {
    struct vm_system *system = context;
    (void)cpu;
    file_remove(&system->files, folio, shadow);
    return true;
}

static bool migrate(void *context, uint32_t from, uint32_t to, uint32_t cpu) {
    struct vm_system *system = context;
    const uint32_t pages = lru_pages(&system->lru, from);
    (void)cpu;
    for (uint32_t i = 0; i < pages; ++i) {
        rmap_place place;
        for (struct rmap_walk walk = rmap_start(&system->lru.rmap, from + i); rmap_next(&walk, &place);) {
            struct process *process;
            const pt_entry *entry = entry_of(system, place, &process);
            pt_write(&process->pt, entry, rmap_page(place), 0, pt_make(to + i, (unsigned)(*entry & UINT32_MAX)), PT_BY_MIGRATION);
        }
        if (rmap_mapped(&system->lru.rmap, from + i)) rmap_give(&system->lru.rmap, from + i, to + i);
    }
    file_move(&system->files, from, to);
    return true;
}

void file_owner_create(struct vm_system *system) {
    system->file_owner = host_alloc(sizeof *system->file_owner);
    *system->file_owner = (struct lru_owner){
        .name = "file", .context = system, .mapped = mapped, .referenced = referenced, .unmap = unmap, .remove = leave, .migrate = migrate};
    lru_set_owner(&system->lru, LRU_OWNER_FILE, system->file_owner);
}

void file_owner_destroy(struct vm_system *system) {
    free(system->file_owner);
    system->file_owner = NULL;
}
