#include "pt/table.h"

#include <stdlib.h>

#include "base/host.h"

struct pt_table *pt_new_table(uint32_t frame) {
    struct pt_table *table = host_alloc(sizeof *table);
    table->frame = frame;
    return table;
}

void pt_forget_table(struct pt_table *table) {
    free(table->deposits);
    free(table);
}

static uint32_t take(struct phys *phys, unsigned order, uint32_t cpu, enum phys_outcome *outcome) {
    struct phys_request request = phys_request_default(order, PHYS_UNMOVABLE);
    request.cpu = (uint8_t)cpu;
    const struct phys_result result = phys_obtain(phys, &request);
    *outcome = result.outcome;
    return result.frame;
}

uint32_t pt_take_frame(struct pt *pt, uint32_t cpu, enum phys_outcome *outcome) { return take(pt->phys, 0, cpu, outcome); }

enum phys_outcome pt_create(struct pt *pt, struct phys *phys, unsigned root_order, uint32_t cpu) {
    enum phys_outcome outcome;
    *pt = (struct pt){.phys = phys, .root_order = root_order};
    const uint32_t frame = take(phys, root_order, cpu, &outcome);
    if (frame == PHYS_NO_FRAME) return outcome;
    pt->root = pt_new_table(frame);
    pt->tables[PT_TOP] = 1;
    return outcome;
}

void pt_destroy(struct pt *pt, uint32_t cpu) {
    struct error error;
    if (!pt->root) return;
    if (!phys_free(pt->phys, pt->root->frame, pt->root_order, cpu, &error)) error_stop(&error);
    pt_forget_table(pt->root);
    pt->root = NULL;
    pt->tables[PT_TOP] = 0;
}

struct pt_table *pt_find_table(const struct pt *pt, uint64_t page, unsigned level, unsigned *missing) {
    struct pt_table *table = pt->root;
    for (unsigned at = PT_TOP; at > level; --at) {
        const pt_entry entry = table->slot[pt_index(page, at)];
        if (!pt_is_table(entry)) {
            *missing = at;
            return NULL;
        }
        table = pt_below(entry);
    }
    return table;
}

pt_entry *pt_find(const struct pt *pt, uint64_t page, unsigned *level) {
    struct pt_table *table = pt->root;
    for (*level = PT_TOP;; --*level) {
        pt_entry *slot = &table->slot[pt_index(page, *level)];
        if (*slot == 0) return NULL;
        if (!pt_is_table(*slot)) return slot;
        table = pt_below(*slot);
    }
}

struct pt_table *pt_reach(struct pt *pt, uint64_t page, unsigned level, uint32_t cpu, struct pt_new *added, enum phys_outcome *outcome) {
    struct pt_table *table = pt->root;
    *outcome = PHYS_GOT_FRAMES;
    for (unsigned at = PT_TOP; at > level; --at) {
        pt_entry *slot = &table->slot[pt_index(page, at)];
        if (*slot == 0) {
            const uint32_t frame = pt_take_frame(pt, cpu, outcome);
            if (frame == PHYS_NO_FRAME) return NULL;
            *slot = pt_to_table(pt_new_table(frame));
            ++pt->tables[at - 1];
            added->frame[added->count++] = frame;
        }
        table = pt_below(*slot);
    }
    return table;
}

void pt_deposit_frame(struct pt *pt, struct pt_table *table, uint32_t frame) {
    if (!table->deposits) table->deposits = host_alloc(sizeof *table->deposits);
    pt_deposit(table->deposits, frame);
    ++pt->deposited;
    ++pt->tables[0];
}

uint32_t pt_withdraw_frame(struct pt *pt, struct pt_table *table) {
    --pt->deposited;
    --pt->tables[0];
    return pt_withdraw(table->deposits);
}
