#include "pt/free.h"

struct freeing {
    struct pt *pt;
    uint64_t floor, ceiling;
    pt_give *give;
    void *context;
};

/// `slot` of level `level` + 1 has the table.
static void free_table(struct freeing *freeing, const pt_entry *slot, unsigned level, uint64_t page) {
    struct pt_table *table = pt_below(*slot);
    pt_write(freeing->pt, slot, page, level + 1, 0, PT_BY_TABLE);
    --freeing->pt->tables[level];
    freeing->give(freeing->context, table->frame);
    pt_forget_table(table);
}

/// Frees the tables below `*slot`, which is a table of `level` > 0, and that table if its whole range is free.
static void free_below(struct freeing *freeing, const pt_entry *slot, unsigned level, uint64_t page, uint64_t end) {
    struct pt_table *table = pt_below(*slot);
    const uint64_t span = pt_slot_pages(level), whole = pt_slot_pages(level + 1), start = page & ~(whole - 1);
    for (uint64_t at = page, next; at != end; at = next) {
        next = (at & ~(span - 1)) + span;
        if (next > end) next = end;
        const pt_entry *below = &table->slot[pt_index(at, level)];
        if (!pt_is_table(*below)) continue;
        if (level > 1) free_below(freeing, below, level - 1, at, next);
        else free_table(freeing, below, 0, at);
    }
    const uint64_t ceiling = freeing->ceiling & ~(whole - 1);
    if (start < freeing->floor || (freeing->ceiling != 0 && ceiling == 0) || end - 1 > ceiling - 1) return;
    free_table(freeing, slot, level, page);
}

void pt_free_range(struct pt *pt, uint64_t page, uint64_t end, uint64_t floor, uint64_t ceiling, pt_give *give, void *context) {
    struct freeing freeing = {pt, floor, ceiling, give, context};
    const uint64_t mask = ~(pt_slot_pages(1) - 1);
    page &= mask;
    if (page < floor) page += PT_SLOTS;
    if (ceiling != 0 && (freeing.ceiling = ceiling & mask) == 0) return;
    if (end - 1 > freeing.ceiling - 1) end -= PT_SLOTS;
    if (page > end - 1) return;
    for (uint64_t at = page, next; at != end; at = next) {
        next = (at & ~(pt_slot_pages(PT_TOP) - 1)) + pt_slot_pages(PT_TOP);
        if (next > end) next = end;
        const pt_entry *slot = &pt->root->slot[pt_index(at, PT_TOP)];
        if (pt_is_table(*slot)) free_below(&freeing, slot, PT_TOP - 1, at, next);
    }
}
