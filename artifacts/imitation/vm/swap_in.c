#include "vm/swap_in.h"

#include "lru/workingset.h"
#include "vm/anon.h"

// An area's word: page of the last fault << 12 | window << 6 | hits. None yet: 4 hits.
enum { WINDOW_SHIFT = 6, HITS_MASK = 63, PAGE_SHIFT = 12, WINDOW_MASK = 63 };

static uint64_t info_of(const struct area *area) { return area->swap_readahead != 0 ? area->swap_readahead : 4; }

static void set_info(struct area *area, uint64_t page, uint32_t window, uint32_t hits) {
    area->swap_readahead = page << PAGE_SHIFT | (uint64_t)(window & WINDOW_MASK) << WINDOW_SHIFT | (hits & HITS_MASK);
}

/// swap_cache_get_folio: a page of the swap cache is used. PHYS_NO_FRAME: it is not there.
static uint32_t look_up(struct vm_system *system, struct area *area, uint64_t page, uint32_t slot) {
    const uint32_t frame = swap_cached(&system->swap, slot);
    if (frame == PHYS_NO_FRAME) return PHYS_NO_FRAME;
    const uint32_t head = frames_block_of(&system->phys->frames, frame);
    if (head != frame || frame_order(&system->phys->frames, head) > 0) return frame;
    const uint64_t info = info_of(area);
    uint32_t hits = (uint32_t)info & HITS_MASK;
    if (lru_test_clear(&system->lru, frame, LRU_RECLAIM)) {
        ++system->swap.counts.swap_ra_hit;
        if (hits < HITS_MASK) ++hits;
    }
    set_info(area, page, (uint32_t)(info >> WINDOW_SHIFT) & WINDOW_MASK, hits);
    return frame;
}

static uint32_t new_frame(const struct process *process, uint64_t page, uint32_t cpu, enum phys_outcome *outcome) {
    struct vm_system *system = process->system;
    const struct phys_request request = vm_request(process, page, 0, PHYS_MOVABLE, cpu);
    const struct phys_result result = vm_obtain(system, &request);
    *outcome = result.outcome;
    if (result.outcome == PHYS_GOT_FRAMES) lru_own(&system->lru, result.frame, LRU_OWNER_ANON, LRU_SWAPBACKED);
    return result.frame;
}

/// __read_swap_cache_async: the page of a slot in the swap cache, read if it was not there. PHYS_NO_FRAME: no memory, or nobody has it.
static uint32_t read_page(const struct process *process, uint64_t page, uint32_t slot, uint32_t cpu, bool ahead,
                          enum phys_outcome *outcome) {
    struct vm_system *system = process->system;
    struct swap *swap = &system->swap;
    *outcome = PHYS_GOT_FRAMES;
    if (swap_cached(swap, slot) != PHYS_NO_FRAME) return swap_cached(swap, slot);
    if (swap_entries(swap, slot) == 0) return PHYS_NO_FRAME;
    const uint32_t frame = new_frame(process, page, cpu, outcome);
    if (frame == PHYS_NO_FRAME) return PHYS_NO_FRAME;
    swap_hold(swap, slot);
    const uint64_t shadow = swap_cache_add(swap, frame, slot);
    if (shadow != 0) workingset_refault(&system->lru, frame, shadow, swap->free > 0);
    lru_add(&system->lru, frame, cpu);
    swap_read(swap, frame);
    if (ahead) {
        lru_set(&system->lru, frame, LRU_RECLAIM);
        ++swap->counts.swap_ra;
    }
    EVENTS_DECISION(&system->phys->events, "swap-in frame=%u slot=%u%s", frame, slot, ahead ? " ahead" : "");
    return frame;
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

/// swap_vma_ra_win. Returns pages [*start, *end); the window's size.
static uint32_t window(const struct vm_system *system, struct area *area, uint64_t page, uint64_t *start, uint64_t *end) {
    const uint32_t largest = UINT32_C(1) << (system->page_cluster < 5 ? system->page_cluster : 5);
    if (largest == 1) return 1;
    const uint64_t info = info_of(area), previous = info >> PAGE_SHIFT;
    const uint32_t pages = swap_window(previous, page, (uint32_t)info & HITS_MASK, largest, (uint32_t)(info >> WINDOW_SHIFT) & WINDOW_MASK);
    set_info(area, page, pages, 0);
    if (pages == 1) return 1;
    int64_t left = (int64_t)page - (pages - 1) / 2;
    if (page == previous + 1) left = (int64_t)page;
    if (previous == page + 1) left = (int64_t)page - pages + 1;
    const uint64_t right = (uint64_t)(left + pages), table = page & ~(uint64_t)(PT_SLOTS - 1);
    *start = most(most(left < 0 ? 0 : (uint64_t)left, area->start), table);
    *end = right < area->end ? right : area->end;
    if (*end > table + PT_SLOTS) *end = table + PT_SLOTS;
    return pages;
}

static uint32_t read_window(struct process *process, struct area *area, uint64_t page, uint32_t cpu, const pt_entry *slot,
                            enum phys_outcome *outcome) {
    struct vm_system *system = process->system;
    uint64_t start = page, end = page;
    if (window(system, area, page, &start, &end) > 1) {
        const pt_entry *first = slot - pt_index(page, 0);
        for (uint64_t at = start; at < end; ++at) {
            const pt_entry entry = first[pt_index(at, 0)];
            if (entry & PT_SWAP) read_page(process, at, pt_value(entry), cpu, at != page, outcome);
        }
        lru_drain(&system->lru, cpu);
    }
    return read_page(process, page, pt_value(*slot), cpu, false, outcome);
}

/// A page that never joins the swap cache.
static uint32_t read_alone(const struct process *process, uint64_t page, uint32_t slot, uint32_t cpu, enum phys_outcome *outcome) {
    struct vm_system *system = process->system;
    struct swap *swap = &system->swap;
    const uint32_t frame = new_frame(process, page, cpu, outcome);
    if (frame == PHYS_NO_FRAME) return PHYS_NO_FRAME;
    swap_hold(swap, slot);
    if (swap->shadow[slot] != 0) workingset_refault(&system->lru, frame, swap->shadow[slot], swap->free > 0);
    lru_add(&system->lru, frame, cpu);
    swap->slot_of[frame] = slot;
    swap_read(swap, frame);
    EVENTS_DECISION(&system->phys->events, "swap-in frame=%u slot=%u alone", frame, slot);
    return frame;
}

/// Entries that one fault maps: a larger page in the swap cache is mapped as a whole if all its entries are there, in their order and
/// with equal bits (swap_pte_batch). *first: place of the first one below `page`.
static uint32_t entries_of(const struct vm_system *system, const struct area *area, uint64_t page, const pt_entry *slot, uint32_t frame,
                           uint32_t *first) {
    const uint32_t head = frames_block_of(&system->phys->frames, frame), pages = lru_pages(&system->lru, head), at = frame - head;
    const uint64_t table = page & ~(uint64_t)(PT_SLOTS - 1);
    *first = 0;
    if (pages == 1 || page < most(table, area->start) + at) return 1;
    if (page - at + pages > area->end || page - at + pages > table + PT_SLOTS) return 1;
    for (uint32_t i = 0; i < pages; ++i)
        if (slot[(int64_t)i - at] != pt_make(pt_value(*slot) - at + i, (unsigned)*slot & UINT32_MAX)) return 1;
    *first = at;
    return pages;
}

/// The entry, and those of the same page around it, become mappings of `frame` and its neighbours.
static void map(struct process *process, const struct area *area, uint64_t page, bool write, uint32_t cpu, const pt_entry *slot,
                uint32_t frame, bool alone) {
    struct vm_system *system = process->system;
    struct lru *lru = &system->lru;
    const uint32_t head = frames_block_of(&system->phys->frames, frame);
    const bool exclusive = alone || !(*slot & PT_SHARED);
    bool sole = false;
    uint32_t first;
    const uint32_t pages = entries_of(system, area, page, slot, frame, &first);
    slot -= first;
    for (uint32_t i = 0; i < pages; ++i) swap_free(&system->swap, pt_value(slot[i]), cpu);
    if (lru_has(lru, head, LRU_IN_SWAP_CACHE)) {
        // A batch of a CPU holds the page, as a mapping does.
        const bool unmapped = !system->anon.mapped(system, head) && !lru_has(lru, head, LRU_IN_BATCH);
        if (swap_full(&system->swap) || (write && unmapped)) swap_release(&system->swap, head, cpu);
        sole = unmapped && !lru_has(lru, head, LRU_IN_SWAP_CACHE);
    }
    unsigned bits = PT_PRESENT | PT_YOUNG;
    if (!exclusive && !sole) {
        bits |= PT_SHARED;
    } else if (area->flags & AREA_WRITE) {
        bits |= PT_WRITE | (write ? PT_DIRTY : 0);
    }
    for (uint32_t i = 0; i < pages; ++i) {
        pt_write(&process->pt, &slot[i], page - first + i, 0, pt_make(frame - first + i, bits), PT_BY_FAULT);
        rmap_add(&lru->rmap, frame - first + i, process_place(process, page - first + i));
    }
    if (frame_order(&system->phys->frames, head) > 0) system->mappings[frame >> PHYS_PAGEBLOCK_ORDER] += pages;
    process->anonymous_pages += pages;
    process->swapped_pages -= pages;
}

void swap_in(struct process *process, struct area *area, uint64_t page, bool write, uint32_t cpu, const pt_entry *slot,
             struct fault *fault) {
    struct vm_system *system = process->system;
    struct swap *swap = &system->swap;
    const uint32_t at = pt_value(*slot);
    uint32_t frame = look_up(system, area, page, at);
    const bool cached = frame != PHYS_NO_FRAME, alone = !cached && swap->synchronous && swap_entries(swap, at) == 1;
    if (!cached) {
        frame = alone ? read_alone(process, page, at, cpu, &fault->outcome) : read_window(process, area, page, cpu, slot, &fault->outcome);
        if (frame == PHYS_NO_FRAME) {
            fault_needs(fault, fault->outcome, 0);
            return;
        }
        ++system->counts.pgmajfault;
    }
    if (write && !alone && !lru_has(&system->lru, frames_block_of(&system->phys->frames, frame), LRU_ON_LIST)) lru_drain(&system->lru, cpu);
    map(process, area, page, write, cpu, slot, frame, alone);
    if (alone) swap_unhold(swap, at, cpu);
    fault->kind = cached ? FAULT_SWAP_CACHE : FAULT_SWAP;
    fault->frame = frame;
}
