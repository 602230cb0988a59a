#include "pt/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/host.h"

const char *pt_cause_name(int cause) {
    static const char *const names[PT_CAUSES] = {"fault", "around", "access",  "table",     "call",     "protect", "move",
                                                 "fork",  "aging",  "reclaim", "migration", "collapse", "policy"};
    return cause >= 0 && cause < PT_CAUSES ? names[cause] : "?";
}

static size_t entry_text(char *text, size_t room, const char *name, pt_entry entry) {
    static const struct {
        unsigned bit;
        char letter;
    } bits[] = {{PT_WRITE, 'w'}, {PT_YOUNG, 'y'}, {PT_DIRTY, 'd'}, {PT_FILE, 'f'}, {PT_SHARED, 's'}};
    char letters[] = "     ", *end = letters;
    if (entry == 0 || pt_is_table(entry)) return (size_t)snprintf(text, room, " %s=%s", name, entry == 0 ? "none" : "table");
    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
        if (entry & bits[i].bit) *end++ = bits[i].letter;
    *end = '\0';
    const char *kind = entry & PT_SWAP ? "slot" : entry & PT_ZERO ? "zero" : "frame";
    return (size_t)snprintf(text, room, " %s=%s:%u%s%s", name, kind, pt_value(entry), end > letters ? ":" : "", letters);
}

size_t pt_change_text(const struct pt_change *change, char text[PT_CHANGE_TEXT_BYTES]) {
    size_t at = (size_t)snprintf(text, PT_CHANGE_TEXT_BYTES, "entry page=0x%" PRIx64 " level=%u cause=%s", change->page, change->level,
                                 pt_cause_name(change->cause));
    at += entry_text(text + at, PT_CHANGE_TEXT_BYTES - at, "old", change->old);
    return at + entry_text(text + at, PT_CHANGE_TEXT_BYTES - at, "new", change->entry);
}

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

const pt_entry *pt_find(const struct pt *pt, uint64_t page, unsigned *level) {
    struct pt_table *table = pt->root;
    for (*level = PT_TOP;; --*level) {
        const pt_entry *slot = &table->slot[pt_index(page, *level)];
        if (*slot == 0) return NULL;
        if (!pt_is_table(*slot)) return slot;
        table = pt_below(*slot);
    }
}

struct pt_table *pt_reach(struct pt *pt, uint64_t page, unsigned level, uint32_t cpu, struct pt_new *added, enum phys_outcome *outcome) {
    struct pt_table *table = pt->root;
    *outcome = PHYS_GOT_FRAMES;
    for (unsigned at = PT_TOP; at > level; --at) {
        const pt_entry *slot = &table->slot[pt_index(page, at)];
        if (*slot == 0) {
            const uint32_t frame = pt_take_frame(pt, cpu, outcome);
            if (frame == PHYS_NO_FRAME) return NULL;
            pt_write(pt, slot, page, at, pt_to_table(pt_new_table(frame)), PT_BY_TABLE);
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
