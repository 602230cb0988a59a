#include "vm/anon.h"

#include "vm/process.h"

static struct process *process_of(const struct vm_system *system, rmap_place place) { return system->process[rmap_process(place)]; }

const pt_entry *anon_entry(const struct vm_system *system, rmap_place place, unsigned *level) {
    return pt_find(&process_of(system, place)->pt, rmap_page(place), level);
}

static uint32_t *mappings_of(const struct vm_system *system, uint32_t frame) { return &system->mappings[frame >> PHYS_PAGEBLOCK_ORDER]; }

static bool mapped(void *context, uint32_t frame) {
    const struct vm_system *system = context;
    return rmap_mapped(&system->lru.rmap, frame) || *mappings_of(system, frame) > 0;
}

/// Clears the young bits of one frame's mappings. *last: the area that was counted last.
static uint32_t clear_young(struct vm_system *system, uint32_t frame, const struct area **last, bool *executable) {
    rmap_place place;
    uint32_t young = 0;
    for (struct rmap_walk walk = rmap_start(&system->lru.rmap, frame); rmap_next(&walk, &place);) {
        unsigned level;
        const pt_entry *entry = anon_entry(system, place, &level);
        if (!(*entry & PT_YOUNG)) continue;
        struct process *process = process_of(system, place);
        pt_write(&process->pt, entry, rmap_page(place), level, *entry & ~(pt_entry)PT_YOUNG, PT_BY_AGING);
        const struct area *area = areas_at(&process->areas, rmap_page(place));
        if (area->flags & AREA_EXEC) *executable = true;
        young += area != *last;
        *last = area;
    }
    return young;
}

static uint32_t referenced(void *context, uint32_t frame, bool *executable) {
    struct vm_system *system = context;
    const struct area *last = NULL;
    const uint32_t pages = *mappings_of(system, frame) > 0 ? PT_SLOTS : 1;
    uint32_t young = 0;
    for (uint32_t i = 0; i < pages; ++i) young += clear_young(system, frame + i, &last, executable);
    return young;
}

/// 2MB mappings of the block become 4KB mappings.
static void split_mappings(struct vm_system *system, uint32_t frame) {
    rmap_place place;
    for (struct rmap_walk walk = rmap_start(&system->lru.rmap, frame); rmap_next(&walk, &place);) {
        unsigned level, missing;
        const pt_entry *entry = anon_entry(system, place, &level);
        if (level == 0) continue;
        struct process *process = process_of(system, place);
        process_split(process, pt_find_table(&process->pt, rmap_page(place), 1, &missing), entry, rmap_page(place), PT_BY_RECLAIM);
    }
}

void anon_split(struct vm_system *system, uint32_t frame, uint32_t list) {
    struct error error;
    const unsigned order = frame_order(&system->phys->frames, frame);
    split_mappings(system, frame);
    *mappings_of(system, frame) = 0;
    ++system->counts.thp_split_page;
    if (!phys_split_used(system->phys, frame, 0, &error)) error_stop(&error);
    lru_split(&system->lru, frame, order, list);
}

/// A block without a 2MB mapping, some of whose pages nothing maps.
static bool partly_mapped(struct vm_system *system, uint32_t frame) {
    rmap_place place;
    if (*mappings_of(system, frame) == 0) return false;
    for (struct rmap_walk walk = rmap_start(&system->lru.rmap, frame); rmap_next(&walk, &place);) {
        unsigned level;
        anon_entry(system, place, &level);
        if (level > 0) return false;
    }
    for (uint32_t i = 0; i < PT_SLOTS; ++i)
        if (!rmap_mapped(&system->lru.rmap, frame + i)) return true;
    return false;
}

static bool prepare(void *context, uint32_t frame, uint32_t list, uint32_t cpu) {
    struct vm_system *system = context;
    struct lru *lru = &system->lru;
    if (lru_has(lru, frame, LRU_IN_SWAP_CACHE)) return true;
    if (partly_mapped(system, frame)) anon_split(system, frame, list);
    const unsigned order = frame_order(&system->phys->frames, frame);
    uint32_t slot = swap_alloc(&system->swap, order, cpu);
    if (slot == SWAP_NONE && order > 0) {
        anon_split(system, frame, list);
        ++system->counts.thp_swpout_fallback;
        slot = swap_alloc(&system->swap, 0, cpu);
    }
    if (slot == SWAP_NONE) return false;
    swap_cache_add(&system->swap, frame, slot);
    lru_set(lru, frame, LRU_DIRTY);
    EVENTS_DECISION(&system->phys->events, "swap-cache frame=%u slot=%u pages=%u", frame, slot, lru_pages(lru, frame));
    return true;
}

static void keep(void *context, uint32_t frame, uint32_t cpu) {
    struct vm_system *system = context;
    if (lru_has(&system->lru, frame, LRU_IN_SWAP_CACHE) && swap_full(&system->swap)) swap_release(&system->swap, frame, cpu);
}

/// The mappings of one frame become swap entries of `slot`.
static bool to_swap(struct vm_system *system, uint32_t head, uint32_t frame, uint32_t slot) {
    while (rmap_mapped(&system->lru.rmap, frame)) {
        unsigned level;
        const rmap_place place = rmap_oldest(&system->lru.rmap, frame);
        struct process *process = process_of(system, place);
        const pt_entry *entry = anon_entry(system, place, &level);
        if (!swap_duplicate(&system->swap, slot)) return false;
        if (*entry & PT_DIRTY) lru_set(&system->lru, head, LRU_DIRTY);
        pt_write(&process->pt, entry, rmap_page(place), level, pt_make(slot, PT_SWAP | ((unsigned)*entry & PT_SHARED)), PT_BY_RECLAIM);
        rmap_remove(&system->lru.rmap, frame, place);
        --process->anonymous_pages;
        ++process->swapped_pages;
        if (*mappings_of(system, head) > 0) --*mappings_of(system, head);
    }
    return true;
}

static bool unmap(void *context, uint32_t frame, uint32_t cpu) {
    struct vm_system *system = context;
    const uint32_t pages = lru_pages(&system->lru, frame), slot = system->swap.slot_of[frame];
    (void)cpu;
    if (pages > 1) split_mappings(system, frame);
    for (uint32_t i = 0; i < pages; ++i)
        if (!to_swap(system, frame, frame + i, slot + i)) return false;
    return true;
}

static enum lru_written write_page(void *context, uint32_t frame, uint32_t cpu) {
    struct vm_system *system = context;
    (void)cpu;
    if (lru_pages(&system->lru, frame) > 1) ++system->counts.thp_swpout;
    EVENTS_DECISION(&system->phys->events, "swap-out frame=%u slot=%u pages=%u", frame, system->swap.slot_of[frame],
                    lru_pages(&system->lru, frame));
    return swap_write(&system->swap, frame);
}

static void finish_writes(void *context, uint32_t cpu) {
    struct vm_system *system = context;
    swap_finish_writes(&system->swap, cpu);
}

static bool remove_page(void *context, uint32_t frame, uint64_t shadow, uint32_t cpu) {
    struct vm_system *system = context;
    swap_cache_remove(&system->swap, frame, shadow, cpu);
    return true;
}

static void free_reclaimed(void *context, uint32_t frame, uint32_t cpu) {
    struct vm_system *system = context;
    vm_free(system, frame, frame_order(&system->phys->frames, frame), cpu);
}

static bool suitable(void *context, const struct zone *zone, unsigned order, enum phys_zone highest) {
    const struct vm_system *system = context;
    return compact_suitable(&system->compact, zone, order, highest);
}

static bool migrate(void *context, uint32_t from, uint32_t to, uint32_t cpu) {
    struct vm_system *system = context;
    struct rmap *rmap = &system->lru.rmap;
    rmap_place place;
    (void)cpu;
    if (frame_order(&system->phys->frames, from) > 0) return false;
    for (struct rmap_walk walk = rmap_start(rmap, from); rmap_next(&walk, &place);) {
        unsigned level;
        const pt_entry *entry = anon_entry(system, place, &level);
        pt_write(&process_of(system, place)->pt, entry, rmap_page(place), level, pt_make(to, (unsigned)*entry & UINT32_MAX),
                 PT_BY_MIGRATION);
    }
    rmap_give(rmap, from, to);
    if (!lru_has(&system->lru, from, LRU_IN_SWAP_CACHE)) return true;
    const uint32_t slot = system->swap.slot_of[from];
    system->swap.frame[slot] = to;
    system->swap.slot_of[to] = slot;
    return true;
}

void anon_free(struct vm_system *system, uint32_t frame, uint32_t cpu) {
    if (lru_has(&system->lru, frame, LRU_IN_SWAP_CACHE) && !swap_release(&system->swap, frame, cpu)) return;
    vm_free(system, frame, frame_order(&system->phys->frames, frame), cpu);
}

void anon_setup(struct vm_system *system) {
    system->anon = (struct lru_owner){.name = "anonymous",
                                      .context = system,
                                      .mapped = mapped,
                                      .referenced = referenced,
                                      .prepare = prepare,
                                      .keep = keep,
                                      .unmap = unmap,
                                      .write = write_page,
                                      .finish_writes = finish_writes,
                                      .remove = remove_page,
                                      .migrate = migrate};
    lru_set_owner(&system->lru, LRU_OWNER_ANON, &system->anon);
    system->reclaim.free = free_reclaimed;
    system->reclaim.suitable = suitable;
    system->reclaim.context = system;
    system->compact.free = free_reclaimed;
    system->compact.context = system;
}
