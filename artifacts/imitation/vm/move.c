#include "vm/move.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/// Pages up to the next border of a slot of `level`, in the source or the target.
static uint64_t extent(unsigned level, uint64_t from, uint64_t end, uint64_t to) {
    const uint64_t mask = pt_slot_pages(level) - 1;
    return least(least((from | mask) + 1 - from, end - from), (to | mask) + 1 - to);
}

static bool can_align_down(struct process *process, uint64_t page) {
    const struct area *area = areas_at(&process->areas, page);
    return area && area->start == page && areas_free(&process->areas, page & ~(pt_slot_pages(1) - 1), page);
}

/// The entry of `slot`, of level `level`: a mapping, a swap entry, or a table with all below it.
static void move_entry(const struct process *process, unsigned level, const pt_entry *slot, uint64_t from, const pt_entry *into,
                       uint64_t to) {
    pt_write(&process->pt, into, to, level, *slot, PT_BY_MOVE);
    pt_write(&process->pt, slot, from, level, 0, PT_BY_MOVE);
}

/// One range below a level-1 slot. False: a table got no frame.
static bool move_small(struct process *process, struct pt_table *source, const pt_entry *slot, uint64_t from, uint64_t to, uint64_t pages,
                       uint32_t cpu) {
    struct pt_new added = {0};
    enum phys_outcome outcome;
    struct pt_table *target = pt_reach(&process->pt, to, 1, cpu, &added, &outcome);
    if (!target) return false;
    const pt_entry *into = &target->slot[pt_index(to, 1)];
    const bool whole = pages == PT_SLOTS && *into == 0;
    if (!pt_is_table(*slot)) {
        if (whole) {
            if (source != target) pt_deposit_frame(&process->pt, target, pt_withdraw_frame(&process->pt, source));
            move_entry(process, 1, slot, from, into, to);
            return true;
        }
        process_split(process, source, slot, from, PT_BY_MOVE);
    } else if (whole) {
        move_entry(process, 1, slot, from, into, to);
        return true;
    }
    struct pt_table *old = pt_below(*slot), *new = pt_reach(&process->pt, to, 0, cpu, &added, &outcome);
    if (!new) return false;
    for (uint64_t i = 0; i < pages; ++i) {
        const pt_entry *entry = &old->slot[pt_index(from + i, 0)];
        if (*entry != 0) move_entry(process, 0, entry, from + i, &new->slot[pt_index(to + i, 0)], to + i);
    }
    return true;
}

/// The mappings of [to, to + pages) came from `from`.
static void note_moved(struct process *process, uint64_t from, uint64_t to, uint64_t pages) {
    struct rmap *rmap = &process->system->lru.rmap;
    for (uint64_t i = 0, step; i < pages; i += step) {
        unsigned level = 0;
        const pt_entry *slot = pt_find(&process->pt, to + i, &level);
        step = slot ? pt_slot_pages(level) : pt_slot_pages(level) - ((to + i) & (pt_slot_pages(level) - 1));
        if (slot && pt_present(*slot) && !(*slot & PT_ZERO))
            rmap_move(rmap, pt_value(*slot), process_place(process, from + i), process_place(process, to + i));
    }
}

uint64_t move_pages(struct process *process, uint64_t from, uint64_t to, uint64_t pages, uint32_t cpu) {
    const uint64_t end = from + pages, mask = pt_slot_pages(1) - 1, start = from;
    struct pt *pt = &process->pt;
    const bool alike = (from & mask) != 0 && (from & mask) == (to & mask) && pages >= PT_SLOTS - (from & mask);
    if (alike && can_align_down(process, from) && can_align_down(process, to)) {
        from &= ~mask;
        to &= ~mask;
    }
    for (uint64_t step; from < end; from += step, to += step) {
        struct pt_new added = {0};
        enum phys_outcome outcome;
        unsigned missing = 0;
        step = extent(2, from, end, to);
        struct pt_table *upper = pt_find_table(pt, from, 2, &missing);
        if (!upper || upper->slot[pt_index(from, 2)] == 0) continue;
        struct pt_table *new_upper = pt_reach(pt, to, 2, cpu, &added, &outcome);
        if (!new_upper) break;
        const pt_entry *old_slot = &upper->slot[pt_index(from, 2)], *new_slot = &new_upper->slot[pt_index(to, 2)];
        if (step == pt_slot_pages(2) && *new_slot == 0) {
            move_entry(process, 2, old_slot, from, new_slot, to);
            note_moved(process, from, to, step);
            continue;
        }
        step = extent(1, from, end, to);
        struct pt_table *middle = pt_below(*old_slot);
        const pt_entry *slot = &middle->slot[pt_index(from, 1)];
        if (*slot == 0) continue;
        if (!move_small(process, middle, slot, from, to, step, cpu)) break;
        note_moved(process, from, to, step);     // the next step may need reclaim, which asks where pages are mapped
    }
    return from < start ? 0 : from - start;
}
