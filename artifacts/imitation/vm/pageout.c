#include "vm/pageout.h"

static const char *const part = "pageout of a part of a 2MB page is not modelled: give a range that holds it, with nothing unmapped";

/// A page that nobody else maps joins the list.
static void isolate(struct lru *lru, uint32_t frame, uint32_t list) {
    if (!lru_has(lru, frame, LRU_ON_LIST) || rmap_shared(&lru->rmap, frame)) return;
    lru_clear(lru, frame, LRU_REFERENCED);
    if (lru_has(lru, frame, LRU_ACTIVE)) lru_set(lru, frame, LRU_WORKINGSET);
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE)) return;
    lru_isolate(lru, frame);
    lru_clear(lru, frame, LRU_ACTIVE);
    list_add_first(lru->links, list, frame);
}

/// The pages of one page table.
static const char *pageout_table(struct process *process, uint64_t page, uint64_t end, uint32_t cpu) {
    struct vm_system *system = process->system;
    struct lru *lru = &system->lru;
    const uint32_t list = reclaim_list(&system->reclaim);
    const char *broken = NULL;
    for (; page < end && !broken; ++page) {
        unsigned level;
        const pt_entry *slot = pt_find(&process->pt, page, &level);
        const pt_entry entry = slot ? *slot : 0;
        if (!pt_present(entry) || entry & (PT_ZERO | PT_FILE)) continue;
        const uint32_t frame = pt_value(entry);
        if (level > 0 && (page % PT_SLOTS != 0 || end - page < PT_SLOTS)) broken = part;
        if (level == 0 && system->mappings[frame >> PHYS_PAGEBLOCK_ORDER] > 0) broken = part;
        if (broken) break;
        if (level == 0 || system->mappings[frame >> PHYS_PAGEBLOCK_ORDER] == 0) isolate(lru, frame, list);
        if (level > 0) break;
    }
    reclaim_pages(&system->reclaim, cpu);
    return broken;
}

const char *pageout_range(struct process *process, uint64_t page, uint64_t end, uint32_t cpu) {
    const char *broken = NULL;
    lru_drain(&process->system->lru, cpu);
    while (page < end && !broken) {
        const uint64_t next = (page & ~(uint64_t)(PT_SLOTS - 1)) + PT_SLOTS;
        broken = pageout_table(process, page, next < end ? next : end, cpu);
        page = next;
    }
    return broken;
}
