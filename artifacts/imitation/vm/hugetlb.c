#include "vm/hugetlb.h"

#include <stdlib.h>

#include "base/bitmap.h"
#include "base/host.h"
#include "vm/unmap.h"

static unsigned level_of(enum hugetlb_size size) { return size == HUGETLB_1GB ? 2 : 1; }

static uint64_t pages_of(enum hugetlb_size size) { return UINT64_C(1) << hugetlb_order(size); }

static struct hugetlb_pool *pool_of(struct process *process, enum hugetlb_size size) { return &process->system->hugetlb.pool[size]; }

/// A promise of [start, end) with the bits of an older one that begins at `from`.
static void add_promise(struct process *process, uint64_t start, uint64_t end, enum hugetlb_size size, const struct huge_promise *from) {
    const uint64_t count = (end - start) >> hugetlb_order(size);
    uint64_t *used = host_alloc(bitmap_words(count) * sizeof *used);
    for (uint64_t i = 0; from && i < count; ++i)
        if (bitmap_get(from->used, ((start - from->start) >> hugetlb_order(size)) + i)) bitmap_set(used, i, 1);
    process->promise = host_grow(process->promise, &process->promise_room, process->promises + 1, sizeof *process->promise);
    process->promise[process->promises++] = (struct huge_promise){start, end, used, size};
}

const char *hugetlb_map(struct process *process, uint64_t page, uint64_t pages, uint32_t flags, enum hugetlb_size size, uint32_t cpu) {
    const uint64_t each = pages_of(size), count = pages / each;
    if (page % each != 0 || pages % each != 0) return "address and length of huge pages are multiples of their size";
    if (flags & AREA_SHARED) return "shared mappings of huge pages are not modelled";
    const bool promised = !(flags & AREA_NORESERVE);
    const char *rule = process_map(process, page, pages, flags | (size == HUGETLB_1GB ? AREA_HUGETLB_1GB : AREA_HUGETLB_2MB), 0, 0, cpu);
    if (rule) return rule;
    if (!promised) return NULL;
    if (!hugetlb_reserve(pool_of(process, size), count)) {
        unmap_range(process, page, page + pages, cpu);
        return "the pool has too few pages that are free and not promised: make it larger with the event hugetlb";
    }
    add_promise(process, page, page + pages, size, NULL);
    return NULL;
}

const char *hugetlb_borders(struct process *process, uint64_t page, uint64_t end) {
    const uint64_t border[] = {page, end};
    for (int i = 0; i < 2; ++i) {
        const struct area *area = areas_at(&process->areas, border[i]);
        if (!area || !(area->flags & AREA_HUGETLB)) continue;
        if (border[i] % pages_of(hugetlb_size_of(area)) != 0) return "an area of huge pages ends at a multiple of their size";
    }
    return NULL;
}

/// The promise for a page that was not used yet; NULL: none. *bit: its bit.
static struct huge_promise *promise_for(struct process *process, uint64_t page, uint64_t *bit) {
    for (size_t i = 0; i < process->promises; ++i) {
        struct huge_promise *promise = &process->promise[i];
        if (page < promise->start || page >= promise->end) continue;
        *bit = (page - promise->start) >> hugetlb_order(promise->size);
        return promise;
    }
    return NULL;
}

static uint32_t take_page(struct process *process, uint64_t page, enum hugetlb_size size) {
    uint64_t bit;
    struct huge_promise *promise = promise_for(process, page, &bit);
    const bool promised = promise && !bitmap_get(promise->used, bit);
    const uint32_t frame = hugetlb_take(pool_of(process, size), promised);
    if (frame != PHYS_NO_FRAME && promised) bitmap_set(promise->used, bit, 1);
    return frame;
}

static void got(struct fault *fault, enum fault_kind kind, unsigned order, uint32_t frame) {
    fault->kind = kind;
    fault->order = order;
    fault->frame = frame;
    fault->from_pool = true;
}

static void map_frame(struct process *process, const pt_entry *slot, uint64_t start, enum hugetlb_size size, uint32_t frame, bool write) {
    const unsigned bits = PT_PRESENT | PT_YOUNG | (write ? PT_WRITE | PT_DIRTY : 0);
    pt_write(&process->pt, slot, start, level_of(size), pt_make(frame, bits), PT_BY_FAULT);
    rmap_add(&process->system->lru.rmap, frame, process_place(process, start));
}

/// unmap_ref_private: the other processes that map the frame lose it, and their areas are marked.
static void take_from_children(struct process *process, uint32_t frame, uint64_t start) {
    struct vm_system *system = process->system;
    const rmap_place own = process_place(process, start);
    while (rmap_shared(&system->lru.rmap, frame)) {
        rmap_place place;
        struct rmap_walk walk = rmap_start(&system->lru.rmap, frame);
        while (rmap_next(&walk, &place) && place == own) continue;
        struct process *other = system->process[rmap_process(place)];
        unsigned level;
        const pt_entry *slot = pt_find(&other->pt, rmap_page(place), &level);
        struct area *area = areas_at(&other->areas, rmap_page(place));
        other->hugetlb_pages -= pt_slot_pages(level);
        area->flags |= AREA_HUGETLB_LOST;
        areas_report(&other->areas, (size_t)(area - other->areas.item));
        pt_write(&other->pt, slot, rmap_page(place), level, 0, PT_BY_FORK);
        rmap_remove(&system->lru.rmap, frame, place);
    }
}

/// hugetlb_wp.
static void write_shared(struct process *process, const pt_entry *slot, uint64_t start, enum hugetlb_size size, struct fault *fault) {
    struct vm_system *system = process->system;
    const uint32_t old = pt_value(*slot);
    uint64_t bit;
    const struct huge_promise *promise = promise_for(process, start, &bit);
    if (rmap_shared(&system->lru.rmap, old)) {       // nobody uses a promise for a copy
        const uint32_t frame = hugetlb_take(pool_of(process, size), false);
        if (frame != PHYS_NO_FRAME) {
            rmap_remove(&system->lru.rmap, old, process_place(process, start));
            map_frame(process, slot, start, size, frame, true);
            got(fault, FAULT_COPY, hugetlb_order(size), frame);
            fault->from = old;
            return;
        }
        if (!promise) {
            fault->kind = FAULT_BUS;
            return;
        }
        take_from_children(process, old, start);
    }
    pt_write(&process->pt, slot, start, level_of(size), *slot | PT_WRITE | PT_YOUNG | PT_DIRTY, PT_BY_FAULT);
    got(fault, FAULT_REUSE, hugetlb_order(size), old);
}

void hugetlb_fault(struct process *process, size_t index, uint64_t page, bool write, uint32_t cpu, struct fault *fault) {
    const struct area *area = &process->areas.item[index];
    const enum hugetlb_size size = hugetlb_size_of(area);
    const uint64_t start = page & ~(pages_of(size) - 1);
    const unsigned level = level_of(size);
    struct pt_table *table = pt_reach(&process->pt, page, level, cpu, &fault->tables, &fault->outcome);
    if (!table) {
        fault_needs(fault, fault->outcome, 0);
        return;
    }
    const pt_entry *slot = &table->slot[pt_index(page, level)];
    if (pt_present(*slot)) {
        write_shared(process, slot, start, size, fault);
        return;
    }
    if (!(area->flags & AREA_HUGETLB_LOST)) areas_need_anon(&process->areas, index);
    const uint32_t frame = area->flags & AREA_HUGETLB_LOST ? PHYS_NO_FRAME : take_page(process, start, size);
    if (frame == PHYS_NO_FRAME) {
        fault->kind = FAULT_BUS;
        return;
    }
    map_frame(process, slot, start, size, frame, write);
    process->hugetlb_pages += pages_of(size);
    got(fault, FAULT_PAGE, hugetlb_order(size), frame);
}

static void unmap_page(struct process *process, struct gather *gather, const pt_entry *slot, uint64_t start, enum hugetlb_size size) {
    struct vm_system *system = process->system;
    const uint32_t frame = pt_value(*slot);
    uint64_t bit;
    pt_write(&process->pt, slot, start, level_of(size), 0, PT_BY_CALL);
    process->hugetlb_pages -= pages_of(size);
    rmap_remove(&system->lru.rmap, frame, process_place(process, start));
    gather_kept(gather, frame, 1);
    if (rmap_mapped(&system->lru.rmap, frame)) return;
    struct huge_promise *promise = promise_for(process, start, &bit);
    const bool restore = promise && pool_of(process, size)->surplus == 0;
    if (restore) bitmap_clear(promise->used, bit, 1);
    hugetlb_give(&system->hugetlb, size, frame, restore, gather->cpu);
}

static void end_promise(struct process *process, uint64_t start, enum hugetlb_size size) {
    uint64_t bit;
    struct huge_promise *promise = promise_for(process, start, &bit);
    if (!promise || bitmap_get(promise->used, bit)) return;
    bitmap_set(promise->used, bit, 1);
    hugetlb_unreserve(pool_of(process, size), 1);
}

/// Promises end where their area is gone: a later area there has a promise of its own.
static void cut_promises(struct process *process, uint64_t page, uint64_t end) {
    for (size_t i = process->promises; i-- > 0;) {
        const struct huge_promise old = process->promise[i];
        if (old.end <= page || old.start >= end) continue;
        process->promise[i] = process->promise[--process->promises];
        if (old.start < page) add_promise(process, old.start, page, old.size, &old);
        if (old.end > end) add_promise(process, end, old.end, old.size, &old);
        free(old.used);
    }
}

void hugetlb_unmap(struct process *process, struct gather *gather, uint64_t page, uint64_t end) {
    const struct area *area = areas_at(&process->areas, page);
    const enum hugetlb_size size = hugetlb_size_of(area);
    const unsigned level = level_of(size);
    for (uint64_t start = page; start < end; start += pages_of(size)) {
        unsigned missing;
        struct pt_table *table = pt_find_table(&process->pt, start, level, &missing);
        const pt_entry *slot = table ? &table->slot[pt_index(start, level)] : NULL;
        if (slot && pt_present(*slot)) unmap_page(process, gather, slot, start, size);
        end_promise(process, start, size);
    }
    cut_promises(process, page, end);
}

bool hugetlb_copy(struct process *child, struct process *parent, const struct area *area, uint32_t cpu, enum phys_outcome *outcome,
                  uint64_t *copied) {
    const enum hugetlb_size size = hugetlb_size_of(area);
    const unsigned level = level_of(size);
    for (uint64_t start = area->start; start < area->end; start += pages_of(size)) {
        struct pt_new added = {0};
        unsigned missing;
        struct pt_table *table = pt_find_table(&parent->pt, start, level, &missing);
        if (!table) continue;
        struct pt_table *into = pt_reach(&child->pt, start, level, cpu, &added, outcome);
        if (!into) return false;
        const pt_entry *slot = &table->slot[pt_index(start, level)];
        if (!pt_present(*slot)) continue;
        pt_write(&parent->pt, slot, start, level, *slot & ~(pt_entry)PT_WRITE, PT_BY_FORK);
        pt_write(&child->pt, &into->slot[pt_index(start, level)], start, level, *slot, PT_BY_FORK);
        rmap_add(&child->system->lru.rmap, pt_value(*slot), process_place(child, start));
        child->hugetlb_pages += pages_of(size);
        ++*copied;
    }
    return true;
}

void hugetlb_forget(struct process *process) {
    for (size_t i = 0; i < process->promises; ++i) free(process->promise[i].used);
    free(process->promise);
    process->promise = NULL;
    process->promises = process->promise_room = 0;
}
