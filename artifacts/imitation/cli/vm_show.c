#include "cli/vm_show.h"

#include <inttypes.h>

#include "vm/collapse.h"

enum { PAGE_SHIFT = 12 };
enum kind { NOTHING, FRAME, ZERO, SLOT };

struct run {
    enum kind kind;
    uint64_t page, value, count;
};

static void print_run(const struct run *run, FILE *out) {
    if (run->kind == NOTHING) return;
    fprintf(out, "pages 0x%" PRIx64, run->page << PAGE_SHIFT);
    if (run->kind == ZERO) fprintf(out, " zero");
    else fprintf(out, " %s=%" PRIu64, run->kind == SLOT ? "slot" : "frame", run->value);
    fprintf(out, " count=%" PRIu64 "\n", run->count);
}

static struct run entry_at(const struct process *process, uint64_t page) {
    struct run run = {.page = page, .count = 1};
    unsigned level = 0;
    const pt_entry *found = pt_find(&process->pt, page, &level);
    const pt_entry entry = found ? *found : 0;
    if (entry == 0 || pt_is_table(entry)) return run;
    run.kind = entry & PT_SWAP ? SLOT : entry & PT_ZERO ? ZERO : FRAME;
    run.value = run.kind == ZERO ? 0 : pt_value(entry) + (page & (pt_slot_pages(level) - 1));
    return run;
}

static void print_text(void *out, const char *text) { fprintf(out, "  %s\n", text); }

static void print_slab(void *out, const char *cache, bool added, uint32_t frame, unsigned order) {
    fprintf(out, "  slab-%s cache=%s frame=%u order=%u\n", added ? "new" : "free", cache, frame, order);
}

static void print_entry(void *out, const struct pt_change *change) {
    char text[PT_CHANGE_TEXT_BYTES];
    pt_change_text(change, text);
    print_text(out, text);
}

static void print_area(void *out, const struct area_change *change) {
    fprintf(out, "  area start=0x%" PRIx64 " end=0x%" PRIx64, change->start << PAGE_SHIFT, change->end << PAGE_SHIFT);
    if (change->area) fprintf(out, " flags=0x%x file=%u\n", change->area->flags, change->area->file);
    else fputs(" gone\n", out);
}

static void print_range(void *out, const struct process *process, uint64_t page, int result) {
    (void)process;
    fprintf(out, "scan 0x%" PRIx64 " %s\n", page << PAGE_SHIFT, collapse_result_name(result));
}

struct events vm_show_events(FILE *out, bool decisions, bool changes) {
    struct events events = {.context = out, .scan = print_range};
    if (decisions) {
        events.frames = phys_event_print;
        events.file = file_event_print;
        events.slab = print_slab;
        events.decision = print_text;
    }
    if (changes) {
        events.entry = print_entry;
        events.area = print_area;
    }
    return events;
}

void vm_show_pages(const struct process *process, uint64_t page, uint64_t pages, FILE *out) {
    struct run run = {.kind = NOTHING};
    for (uint64_t end = page + pages; page < end; ++page) {
        const struct run next = entry_at(process, page);
        const bool follows =
            next.kind == run.kind && next.page == run.page + run.count && (next.kind == ZERO || next.value == run.value + run.count);
        if (follows) {
            ++run.count;
            continue;
        }
        print_run(&run, out);
        run = next;
    }
    print_run(&run, out);
}
