#include "vm/fork.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "vm/hugetlb.h"

struct copying {
    struct process *child, *parent;
    uint32_t cpu;
    bool shared;                 // the area is
    struct fork_result *fork;
};

static pt_entry child_entry(const struct copying *copying, pt_entry entry) {
    entry &= ~(pt_entry)PT_YOUNG;
    if (copying->shared) return entry & ~(pt_entry)PT_DIRTY;
    return entry & ~(pt_entry)PT_WRITE;
}

static void copy_entry(struct copying *copying, const pt_entry *from, const pt_entry *to, uint64_t page) {
    const struct pt *parent = &copying->parent->pt, *child = &copying->child->pt;
    struct rmap *rmap = &copying->child->system->lru.rmap;
    if (*from & PT_SWAP) {
        copying->fork->has_swap = !swap_duplicate(&copying->child->system->swap, pt_value(*from));
        if (copying->fork->has_swap) return;
        pt_write(parent, from, page, 0, *from | PT_SHARED, PT_BY_FORK);
        pt_write(child, to, page, 0, *from, PT_BY_FORK);
        ++copying->child->swapped_pages;
        ++copying->fork->pages;
        return;
    }
    const uint32_t frame = pt_value(*from);
    const pt_entry kept = copying->shared ? *from : *from & ~(pt_entry)PT_WRITE;
    pt_write(parent, from, page, 0, kept & (PT_ZERO | PT_FILE) ? kept : kept | PT_SHARED, PT_BY_FORK);
    if (!(*from & (PT_ZERO | PT_FILE))) {
        ++copying->child->anonymous_pages;
        uint32_t *mappings = &copying->child->system->mappings[frame >> PHYS_PAGEBLOCK_ORDER];
        if (*mappings > 0) ++*mappings;
    }
    if (*from & PT_FILE) ++copying->child->file_pages;
    pt_write(child, to, page, 0, child_entry(copying, *from), PT_BY_FORK);
    if (!(*from & PT_ZERO)) rmap_add(rmap, frame, process_place(copying->child, page));
    ++copying->fork->pages;
}

/// copy_huge_pmd; `table` and `to` are the child's.
static bool copy_huge(struct copying *copying, const pt_entry *from, struct pt_table *table, const pt_entry *to, uint64_t page) {
    struct process *child = copying->child;
    struct vm_system *system = child->system;
    const uint32_t deposit = pt_take_frame(&child->pt, copying->cpu, &copying->fork->outcome);
    if (deposit == PHYS_NO_FRAME) return false;
    if (*from & PT_ZERO) {
        if (!child->uses_huge_zero) ++system->huge_zero_users;
        child->uses_huge_zero = true;
    } else {
        uint32_t *mappings = &system->mappings[pt_value(*from) >> PHYS_PAGEBLOCK_ORDER];
        *mappings = *mappings == 0 ? 2 : *mappings + 1;
        child->anonymous_pages += PT_SLOTS;
        rmap_add(&system->lru.rmap, pt_value(*from), process_place(child, page));
    }
    pt_deposit_frame(&child->pt, table, deposit);
    const pt_entry shared = (*from & ~(pt_entry)PT_WRITE) | (*from & PT_ZERO ? 0 : PT_SHARED);
    pt_write(&copying->parent->pt, from, page, 1, shared, PT_BY_FORK);
    pt_write(&child->pt, to, page, 1, child_entry(copying, *from), PT_BY_FORK);
    ++copying->fork->pages;
    return true;
}

/// Pages [page, end) below one slot of level 1. False: no memory, or swap.
static bool copy_slot(struct copying *copying, const pt_entry *slot, uint64_t page, uint64_t end) {
    struct pt *pt = &copying->child->pt;
    struct pt_new added = {0};
    struct pt_table *table = pt_reach(pt, page, 1, copying->cpu, &added, &copying->fork->outcome);
    if (!table) return false;
    if (*slot == 0) return true;
    if (pt_present(*slot)) return copy_huge(copying, slot, table, &table->slot[pt_index(page, 1)], page);
    struct pt_table *from = pt_below(*slot), *to = pt_reach(pt, page, 0, copying->cpu, &added, &copying->fork->outcome);
    if (!to) return false;
    for (uint64_t at = page; at < end && !copying->fork->has_swap; ++at) {
        const unsigned i = pt_index(at, 0);
        if (from->slot[i] != 0) copy_entry(copying, &from->slot[i], &to->slot[i], at);
    }
    return !copying->fork->has_swap;
}

static bool copy_area(struct copying *copying, const struct area *area) {
    struct pt *pt = &copying->child->pt;
    copying->shared = area->flags & AREA_SHARED;
    for (uint64_t page = area->start, next; page < area->end; page = next) {
        unsigned missing = 1;
        struct pt_table *table = pt_find_table(&copying->parent->pt, page, 1, &missing);
        const uint64_t mask = pt_slot_pages(table ? 1 : missing) - 1;
        next = (page | mask) + 1 < area->end ? (page | mask) + 1 : area->end;
        if (table) {
            if (!copy_slot(copying, &table->slot[pt_index(page, 1)], page, next)) return false;
        } else if (missing < PT_TOP) {
            struct pt_new added = {0};
            if (!pt_reach(pt, page, missing, copying->cpu, &added, &copying->fork->outcome)) return false;
        }
    }
    return true;
}

static void copy_areas(struct process *child, const struct process *parent) {
    const size_t bytes = parent->areas.count * sizeof *parent->areas.item;
    child->areas.item = host_grow(NULL, &child->areas.room, parent->areas.count, sizeof *child->areas.item);
    child->areas.last_anon = parent->areas.last_anon;
    if (bytes > 0) memcpy(child->areas.item, parent->areas.item, bytes);
    if (child->areas.slabs)
        child->areas.objects = host_grow(NULL, &child->areas.objects_room, parent->areas.count, sizeof *child->areas.objects);
}

struct fork_result process_fork(struct process *child, struct process *parent, uint32_t cpu) {
    struct fork_result fork = {.outcome = process_create(child, parent->system, parent->pt.root_order, cpu)};
    struct copying copying = {.child = child, .parent = parent, .cpu = cpu, .fork = &fork};
    if (fork.outcome != PHYS_GOT_FRAMES) return fork;
    child->heap_start = parent->heap_start;
    child->heap_end = parent->heap_end;
    copy_areas(child, parent);
    bool whole = true;
    for (size_t i = 0; i < parent->areas.count && whole; ++i) {
        struct area *area = &child->areas.item[i];
        if (child->areas.slabs) child->areas.objects[i] = area_objects_copy(child->areas.slabs, &parent->areas.objects[i]);
        ++child->areas.count;
        areas_report(&child->areas, i);
        if (area->anon == 0) continue;
        if (child->areas.slabs) area_objects_fork(child->areas.slabs, &child->areas.objects[i]);
        area->anon = ++child->areas.last_anon;
        ++area->chain;
        if (area->flags & AREA_HUGETLB) whole = hugetlb_copy(child, parent, area, cpu, &fork.outcome, &fork.pages);
        else whole = copy_area(&copying, &parent->areas.item[i]);
    }
    if (!whole) {
        process_exit(child, cpu);
        return fork;
    }
    for (unsigned level = 0; level < PT_LEVELS; ++level) fork.tables += child->pt.tables[level];
    if (parent->registered) process_register_fork(child);
    return fork;
}
