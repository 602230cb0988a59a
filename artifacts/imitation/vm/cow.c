#include "vm/cow.h"

static void reuse(const struct process *process, uint64_t page, const pt_entry *slot, struct fault *fault) {
    pt_write(&process->pt, slot, page, 0, (*slot & ~(pt_entry)PT_SHARED) | PT_WRITE | PT_YOUNG | PT_DIRTY, PT_BY_FAULT);
    fault->kind = FAULT_REUSE;
    fault->frame = pt_value(*slot);
}

/// wp_can_reuse_anon_folio.
static bool can_reuse(struct vm_system *system, uint32_t frame, uint32_t cpu) {
    if (system->mappings[frame >> PHYS_PAGEBLOCK_ORDER] > 0) return false;
    const uint32_t cached = lru_has(&system->lru, frame, LRU_IN_SWAP_CACHE) ? 1 : 0, mapped = rmap_count(&system->lru.rmap, frame);
    if (mapped + cached + (lru_has(&system->lru, frame, LRU_IN_BATCH) ? 1 : 0) > 3) return false;
    if (!lru_has(&system->lru, frame, LRU_ON_LIST)) lru_drain(&system->lru, cpu);
    if (mapped > 1 || lru_has(&system->lru, frame, LRU_IN_BATCH)) return false;
    if (cached) swap_release(&system->swap, frame, cpu);
    return !lru_has(&system->lru, frame, LRU_IN_SWAP_CACHE);
}

/// wp_page_copy.
static void copy(struct process *process, size_t area, uint64_t page, const pt_entry *slot, uint32_t cpu, struct fault *fault) {
    struct vm_system *system = process->system;
    const pt_entry old = *slot;
    const struct phys_request request = vm_request(process, page, 0, PHYS_MOVABLE, cpu);
    areas_need_anon(&process->areas, area);
    const uint32_t source = frames_block_of(&system->phys->frames, pt_value(old));
    lru_set(&system->lru, source, LRU_LOCKED);            // the fault holds the old page: reclaim and compaction leave it
    const struct phys_result result = vm_obtain(system, &request);
    lru_clear(&system->lru, source, LRU_LOCKED);
    if (result.outcome != PHYS_GOT_FRAMES) {
        fault_needs(fault, result.outcome, 0);
        return;
    }
    pt_write(&process->pt, slot, page, 0, pt_make(result.frame, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY), PT_BY_FAULT);
    fault->kind = FAULT_COPY;
    fault->frame = result.frame;
    fault->from = pt_value(old);
    fault->lru_drained = vm_lru_add(system, result.frame, process_place(process, page), cpu);
    rmap_remove(&system->lru.rmap, pt_value(old), process_place(process, page));
    if (old & PT_FILE) {
        --process->file_pages;
        ++process->anonymous_pages;
    } else if (!rmap_mapped(&system->lru.rmap, pt_value(old)) || system->mappings[pt_value(old) >> PHYS_PAGEBLOCK_ORDER] > 0) {
        vm_put_page(system, pt_value(old), cpu);
    }
}

void cow_write(struct process *process, size_t area, uint64_t page, const pt_entry *slot, uint32_t cpu, struct fault *fault) {
    struct vm_system *system = process->system;
    const pt_entry entry = *slot;
    if (entry & PT_FILE && process->areas.item[area].flags & AREA_SHARED) {
        lru_set(&system->lru, file_folio(&system->files, pt_value(entry)), LRU_DIRTY);
        reuse(process, page, slot, fault);
    } else if (!(entry & PT_FILE) && (!(entry & PT_SHARED) || can_reuse(system, pt_value(entry), cpu))) {
        reuse(process, page, slot, fault);
    } else {
        copy(process, area, page, slot, cpu, fault);
    }
}

bool cow_owns_block(const struct vm_system *system, pt_entry entry) {
    return !(entry & PT_SHARED) || system->mappings[pt_value(entry) >> PHYS_PAGEBLOCK_ORDER] <= 1;
}
