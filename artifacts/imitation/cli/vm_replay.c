#include "cli/vm_replay.h"

#include <inttypes.h>
#include <string.h>

#include "base/lines.h"
#include "phys/watermarks.h"
#include "vm/khugepaged.h"
#include "vm/place.h"

enum { PAGE_SHIFT = 12 };
static const uint64_t place_low_page = 16;                    // vm.mmap_min_addr, 64KB
static const uint64_t place_high_page = 0x7ffff7fff;         // below a stack without randomization

struct replay {
    struct process *process;
    FILE *out;
    struct vm_replay_counts *counts;
};

/// A number of bytes that is a multiple of 4096, as pages.
static bool pages_at(const struct line *line, uint32_t field, uint64_t *pages) {
    uint64_t bytes;
    if (!field_hex(line, field, &bytes) && !field_number(line, field, 0, INT64_MAX, &bytes)) return false;
    *pages = bytes >> PAGE_SHIFT;
    return (bytes & ((1u << PAGE_SHIFT) - 1)) == 0;
}

static bool rights_at(const struct line *line, uint32_t field, uint32_t *rights) {
    *rights = 0;
    if (field >= line->count) return false;
    if (field_is(line, field, "none")) return true;
    for (uint32_t i = 0; i < line->length[field]; ++i) {
        const char letter = line->field[field][i];
        const uint32_t right = letter == 'r' ? AREA_READ : letter == 'w' ? AREA_WRITE : letter == 'x' ? AREA_EXEC : 0;
        if (right == 0 || *rights & right) return false;
        *rights |= right;
    }
    return true;
}

/// `KEY=NUMBER` in a field: the number.
static bool keyed(const struct line *line, uint32_t field, const char *key, uint64_t most, uint64_t *value) {
    const uint32_t length = (uint32_t)strlen(key);
    if (field >= line->count || line->length[field] <= length || memcmp(line->field[field], key, length) != 0) return false;
    struct line rest = *line;
    rest.field[field] += length;
    rest.length[field] -= length;
    return field_number(&rest, field, 0, most, value);
}

static const char *run_mmap(struct replay *replay, const struct line *line) {
    uint64_t page = 0, pages, file = 0, offset = 0;
    uint32_t flags;
    const bool any = field_is(line, 1, "any");
    if ((!any && !pages_at(line, 1, &page)) || !pages_at(line, 2, &pages) || !rights_at(line, 3, &flags))
        return "mmap is followed by ADDR LEN RIGHTS; ADDR and LEN are multiples of 4096 bytes";
    for (uint32_t at = 4; at < line->count; ++at) {
        if (field_is(line, at, "noreserve"))
            flags |= AREA_NORESERVE;
        else if (field_is(line, at, "shared"))
            flags |= AREA_SHARED;
        else if (!keyed(line, at, "file=", UINT32_MAX, &file) && !keyed(line, at, "offset=", INT64_MAX, &offset))
            return "options of mmap are noreserve, shared, file=N and offset=BYTES";
    }
    if (offset % (1u << PAGE_SHIFT) != 0) return "the offset is a multiple of 4096 bytes";
    if (any && (file != 0 || flags & AREA_SHARED))
        return "only private anonymous memory can have the address any: Linux places files and shared memory by other rules; give "
               "their address";
    if (any) {
        page = pages > 0 ? place_area(&replay->process->areas, pages, place_low_page, place_high_page) : 0;
        if (page == 0) return "no gap is large enough";
        fprintf(replay->out, "place 0x%" PRIx64 "\n", page << PAGE_SHIFT);
    }
    return process_map(replay->process, page, pages, flags, (uint32_t)file, offset >> PAGE_SHIFT, 0);
}

static const char *run_munmap(struct replay *replay, const struct line *line) {
    uint64_t page, pages;
    if (line->count != 3 || !pages_at(line, 1, &page) || !pages_at(line, 2, &pages))
        return "munmap is followed by ADDR LEN, multiples of 4096 bytes";
    return process_unmap(replay->process, page, pages, 0);
}

static const char *run_mprotect(struct replay *replay, const struct line *line) {
    uint64_t page, pages;
    uint32_t rights;
    if (line->count != 4 || !pages_at(line, 1, &page) || !pages_at(line, 2, &pages) || !rights_at(line, 3, &rights))
        return "mprotect is followed by ADDR LEN RIGHTS";
    return process_protect(replay->process, page, pages, rights);
}

static const char *run_mremap(struct replay *replay, const struct line *line) {
    uint64_t page, old_pages = 0, new_pages = 0, to;
    const bool moves = line->count == 5;
    const bool sizes = pages_at(line, 2, &old_pages) && pages_at(line, 3, &new_pages);
    if ((line->count != 4 && !moves) || !pages_at(line, 1, &page) || !sizes)
        return "mremap is followed by ADDR OLD NEW, and TO if it moves";
    to = page;
    if (moves && !pages_at(line, 4, &to)) return "TO is an address";
    return process_remap(replay->process, page, old_pages, new_pages, to, 0);
}

static const char *run_madvise(struct replay *replay, const struct line *line) {
    static const char *const words[] = {"hugepage", "nohugepage", "dontneed"};
    uint64_t page, pages;
    int advice = 0;
    while (advice < 3 && !field_is(line, 3, words[advice])) ++advice;
    if (line->count != 4 || advice == 3 || !pages_at(line, 1, &page) || !pages_at(line, 2, &pages))
        return "madvise is followed by ADDR LEN hugepage|nohugepage|dontneed";
    return process_advise(replay->process, page, pages, (enum process_advice)advice, 0);
}

static const char *run_heap(struct replay *replay, const struct line *line) {
    uint64_t page;
    if (line->count != 2 || !pages_at(line, 1, &page)) return "heap is followed by ADDR, a multiple of 4096 bytes";
    return process_heap(replay->process, page);
}

static const char *run_brk(struct replay *replay, const struct line *line) {
    uint64_t page;
    if (line->count != 2 || !pages_at(line, 1, &page)) return "brk is followed by ADDR, a multiple of 4096 bytes";
    return process_brk(replay->process, page, 0);
}

static void print_fault(FILE *out, uint64_t page, bool write, const struct fault *fault) {
    fprintf(out, "fault 0x%" PRIx64 " %c %s", page << PAGE_SHIFT, write ? 'w' : 'r', fault_kind_name(fault->kind));
    if (fault->kind != FAULT_BAD_ACCESS && fault->kind != FAULT_NOT_MODELLED) fprintf(out, " order=%u", fault->order);
    if (fault->frame != PHYS_NO_FRAME) fprintf(out, " frame=%u", fault->frame);
    for (uint32_t i = 0; i < fault->tables.count; ++i) fprintf(out, "%s%u", i == 0 ? " tables=" : ",", fault->tables.frame[i]);
    fprintf(out, "%s%s%s\n", fault->fallback ? " fallback" : "", fault->split ? " split" : "", fault->lru_drained ? " lru" : "");
}

/// One access. *ends: nothing could be there, so the other pages of the event are left out.
static const char *touch_page(struct replay *replay, uint64_t page, bool write, bool *ends) {
    struct fault fault = fault_access(replay->process, page, write, 0, FAULT_FIRST);
    if (fault.kind == FAULT_NEEDS && fault.needs_order > 0) {
        const struct pt_new tables = fault.tables;
        ++replay->counts->compactions;
        fault = fault_access(replay->process, page, write, 0, FAULT_WITHOUT_HUGE);
        struct pt_new all = tables;      // both attempts made tables for this fault
        for (uint32_t i = 0; i < fault.tables.count; ++i) all.frame[all.count++] = fault.tables.frame[i];
        fault.tables = all;
    }
    if (fault.kind == FAULT_NEEDS) return "memory is full, and reclaim is not modelled: simulate more memory, or touch less";
    *ends = fault.kind == FAULT_BAD_ACCESS || fault.kind == FAULT_NOT_MODELLED;
    ++replay->counts->faults[fault.kind][fault.order > 0];
    if (fault.kind != FAULT_NONE) print_fault(replay->out, page, write, &fault);
    return NULL;
}

static const char *run_touch(struct replay *replay, const struct line *line) {
    uint64_t page, pages = 1, bytes;
    const bool write = field_is(line, 2, "w");
    const bool address = field_hex(line, 1, &bytes) || field_number(line, 1, 0, INT64_MAX, &bytes);
    if (!address || (!write && !field_is(line, 2, "r")) || line->count > 4 || (line->count == 4 && !pages_at(line, 3, &pages)))
        return "touch is followed by ADDR r|w, and LEN in multiples of 4096 bytes";
    page = bytes >> PAGE_SHIFT;
    if (page >= PT_PAGES || pages > PT_PAGES - page) return "an access lies below address 2^47";
    const char *broken = NULL;
    bool ends = false;
    for (uint64_t i = 0; i < pages && !broken && !ends; ++i) broken = touch_page(replay, page + i, write, &ends);
    return broken;
}

static void print_range(void *context, const struct process *process, uint64_t page, enum collapse_result result) {
    (void)process;
    fprintf(context, "scan 0x%" PRIx64 " %s\n", page << PAGE_SHIFT, collapse_result_name(result));
}

static const char *run_scan(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "scan is followed by nothing";
    replay->counts->collapsed += khugepaged_wake(replay->process->system, 0, print_range, replay->out);
    return NULL;
}

static const char *run_kswapd(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "kswapd is followed by nothing";
    watermark_kswapd_pass(replay->process->system->phys, PHYS_NORMAL, 0);
    return NULL;
}

static const char *run_line(struct replay *replay, const struct line *line) {
    static const struct {
        const char *key;
        const char *(*run)(struct replay *, const struct line *);
    } events[] = {{"mmap", run_mmap}, {"munmap", run_munmap}, {"mprotect", run_mprotect}, {"mremap", run_mremap},
                  {"madvise", run_madvise}, {"heap", run_heap}, {"brk", run_brk}, {"touch", run_touch}, {"scan", run_scan},
                  {"kswapd", run_kswapd}};
    for (size_t i = 0; i < sizeof events / sizeof *events; ++i)
        if (field_is(line, 0, events[i].key)) return events[i].run(replay, line);
    return "events are mmap, munmap, mprotect, mremap, madvise, heap, brk, touch, scan and kswapd";
}

bool vm_replay_run(struct process *process, const char *text, size_t bytes, const char *name, bool decisions, FILE *out,
                   struct vm_replay_counts *counts, struct error *error) {
    struct replay replay = {process, out, counts};
    struct phys *phys = process->system->phys;
    struct lines lines;
    struct line line;
    const char *rule = NULL;
    *counts = (struct vm_replay_counts){0};
    phys->log = decisions ? phys_event_print : NULL;
    phys->log_context = out;
    lines_start(&lines, text, bytes, name);
    while (!rule && lines_next(&lines, &line)) {
        const uint32_t last = line.count - 1;
        if (decisions) fprintf(out, "> %.*s\n", (int)(line.field[last] + line.length[last] - line.field[0]), line.field[0]);
        rule = run_line(&replay, &line);
    }
    phys->log = NULL;
    if (!rule && !lines.broken && (fflush(out) != 0 || ferror(out))) rule = "the output cannot be written";
    if (!rule && !lines.broken) return true;
    return lines_refuse(&lines, rule ? rule : lines.broken, "correct this event; the events above it ran", error);
}
