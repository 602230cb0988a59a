#include "cli/vm_replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/lines.h"
#include "cli/vm_counters.h"
#include "cli/vm_show.h"
#include "file/read.h"
#include "vm/fork.h"
#include "vm/hugetlb.h"
#include "vm/khugepaged.h"
#include "vm/place.h"
#include "vm/slow_path.h"

enum { PAGE_SHIFT = 12 };
static const uint64_t place_low_page = 16;                    // vm.mmap_min_addr, 64KB
static const uint64_t place_high_page = 0x7ffff7fff;         // below a stack without randomization

/// A child, by the number that the events give it.
struct child {
    uint64_t number;
    struct process process;
};

struct replay {
    struct process *process;         // whose events are read
    struct process *first;           // number 0
    struct child **child;
    size_t children, room;
    FILE *out;
    struct vm_replay_counts *counts;
    bool idles;                      // after each access that woke kswapd
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
    int huge = -1;
    const bool any = field_is(line, 1, "any");
    if ((!any && !pages_at(line, 1, &page)) || !pages_at(line, 2, &pages) || !rights_at(line, 3, &flags))
        return "mmap is followed by ADDR LEN RIGHTS; ADDR and LEN are multiples of 4096 bytes";
    for (uint32_t at = 4; at < line->count; ++at) {
        if (field_is(line, at, "noreserve")) flags |= AREA_NORESERVE;
        else if (field_is(line, at, "shared")) flags |= AREA_SHARED;
        else if (field_is(line, at, "hugetlb=2MB")) huge = HUGETLB_2MB;
        else if (field_is(line, at, "hugetlb=1GB")) huge = HUGETLB_1GB;
        else if (!keyed(line, at, "file=", UINT32_MAX, &file) && !keyed(line, at, "offset=", INT64_MAX, &offset))
            return "options of mmap are noreserve, shared, file=N, offset=BYTES, hugetlb=2MB and hugetlb=1GB";
    }
    if (offset % (1u << PAGE_SHIFT) != 0) return "the offset is a multiple of 4096 bytes";
    if (any && (file != 0 || flags & AREA_SHARED))
        return "only private anonymous memory can have the address any: Linux places files and shared memory by other rules; give "
               "their address";
    if (huge >= 0 && (any || file != 0)) return "huge pages of a pool are private anonymous memory with an address";
    if (huge >= 0) return hugetlb_map(replay->process, page, pages, flags, (enum hugetlb_size)huge, 0);
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
    static const char *const words[] = {"hugepage", "nohugepage", "dontneed", "pageout"};
    uint64_t page, pages;
    int advice = 0;
    while (advice < 4 && !field_is(line, 3, words[advice])) ++advice;
    if (line->count != 4 || advice == 4 || !pages_at(line, 1, &page) || !pages_at(line, 2, &pages))
        return "madvise is followed by ADDR LEN hugepage|nohugepage|dontneed|pageout";
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
    const bool mapped = fault->kind != FAULT_BAD_ACCESS && fault->kind != FAULT_BUS && fault->kind != FAULT_NOT_MODELLED;
    if (mapped) fprintf(out, " order=%u", fault->order);
    if (fault->frame != PHYS_NO_FRAME) fprintf(out, " frame=%u", fault->frame);
    if (fault->from != PHYS_NO_FRAME) fprintf(out, " from=%u", fault->from);
    for (uint32_t i = 0; i < fault->tables.count; ++i) fprintf(out, "%s%u", i == 0 ? " tables=" : ",", fault->tables.frame[i]);
    if (fault->around > 0) fprintf(out, " around=%u", fault->around);
    if (fault->major) fprintf(out, " major");
    fprintf(out, "%s%s%s\n", fault->fallback ? " fallback" : "", fault->split ? " split" : "", fault->lru_drained ? " lru" : "");
}

/// One access. *ends: nothing could be there, so the other pages of the event are left out.
static const char *touch_page(struct replay *replay, uint64_t page, bool write, bool *ends) {
    const struct fault fault = fault_resolve(replay->process, page, write, 0);
    if (fault.kind == FAULT_NEEDS)
        return "memory is full, and nothing more can be reclaimed: here Linux kills a process (OOM); simulate more memory or swap, or touch "
               "less";
    *ends = fault.kind == FAULT_BAD_ACCESS || fault.kind == FAULT_BUS || fault.kind == FAULT_NOT_MODELLED;
    ++replay->counts->faults[fault.kind][fault.order > 0];
    if (fault.kind != FAULT_NONE) print_fault(replay->out, page, write, &fault);
    replay->counts->kswapd_passes += vm_counters_background(replay->process->system, replay->idles);
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

static const char *run_scan(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "scan is followed by nothing";
    replay->counts->collapsed += khugepaged_wake(replay->process->system, 0);
    return NULL;
}

static const char *run_kswapd(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "kswapd is followed by nothing";
    kswapd_pass(&replay->process->system->reclaim, 0);
    ++replay->counts->kswapd_passes;
    return NULL;
}

static const char *run_reclaim(struct replay *replay, const struct line *line) {
    uint64_t pages;
    if (line->count != 2 || !pages_at(line, 1, &pages)) return "reclaim is followed by LEN, a multiple of 4096 bytes";
    fprintf(replay->out, "reclaim pages=%" PRIu64 "\n", reclaim_request(&replay->process->system->reclaim, pages, 0));
    return NULL;
}

static const char *run_counters(struct replay *replay, const struct line *line) {
    return vm_counters_event(replay->process->system, line, &replay->idles);
}

static const char *run_compact(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "compact is followed by nothing";
    compact_all(&replay->process->system->compact, 0);
    return NULL;
}

static const char *run_pages(struct replay *replay, const struct line *line) {
    uint64_t page, pages;
    if (line->count != 3 || !pages_at(line, 1, &page) || !pages_at(line, 2, &pages) || page >= PT_PAGES || pages > PT_PAGES - page)
        return "pages is followed by ADDR LEN, multiples of 4096 bytes below address 2^47";
    vm_show_pages(replay->process, page, pages, replay->out);
    return NULL;
}

static const char *run_kcompactd(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "kcompactd is followed by nothing";
    compact_proactive(&replay->process->system->compact, 0);
    return NULL;
}

static bool bytes_at(const struct line *line, uint32_t field, uint64_t most, uint64_t *bytes) {
    return (field_hex(line, field, bytes) || field_number(line, field, 0, most, bytes)) && *bytes <= most;
}

static const char *run_file(struct replay *replay, const struct line *line) {
    uint64_t number, bytes;
    const bool large = line->count == 4 && field_is(line, 3, "large");
    if ((line->count != 3 && !large) || !field_number(line, 1, 1, UINT32_MAX, &number) || !bytes_at(line, 2, FILE_MOST_BYTES, &bytes))
        return "file is followed by N SIZE, and large if it has large folios; SIZE is at most 2^47 bytes";
    return file_open(&replay->process->system->files, (uint32_t)number, bytes, large);
}

static const char *run_transfer(struct replay *replay, const struct line *line) {
    struct file_cache *files = &replay->process->system->files;
    uint64_t number, offset, bytes;
    if (line->count != 4 || !field_number(line, 1, 1, UINT32_MAX, &number) || !bytes_at(line, 2, FILE_MOST_BYTES, &offset) ||
        !bytes_at(line, 3, FILE_MOST_BYTES - offset, &bytes))
        return "read and write are followed by N OFFSET LEN, in bytes; OFFSET + LEN is at most 2^47";
    struct file *file = file_named(files, (uint32_t)number);
    const bool write = field_is(line, 0, "write");
    if (!file) return "no such file: give its size with the event file first";
    if (write && file->large) return "writes to a file with large folios are not modelled";
    const struct file_done done = write ? file_write(files, file, offset, bytes, 0) : file_read(files, file, offset, bytes, 0);
    if (done.outcome != PHYS_GOT_FRAMES) return "memory is full: simulate more memory, or read less";
    fprintf(replay->out, "%s %" PRIu64 " bytes=%" PRIu64 "\n", write ? "write" : "read", number, done.bytes);
    return NULL;
}

static const char *run_drop_caches(struct replay *replay, const struct line *line) {
    if (line->count != 1) return "drop-caches is followed by nothing";
    fprintf(replay->out, "drop-caches pages=%" PRIu64 "\n", file_drop_caches(&replay->process->system->files, 0));
    return NULL;
}

static const char *run_hugetlb(struct replay *replay, const struct line *line) {
    uint64_t pages;
    const enum hugetlb_size size = field_is(line, 1, "1GB") ? HUGETLB_1GB : HUGETLB_2MB;
    if (line->count != 3 || (size == HUGETLB_2MB && !field_is(line, 1, "2MB")) || !field_number(line, 2, 0, UINT32_MAX, &pages))
        return "hugetlb is followed by 2MB or 1GB, and the pages that the pool shall have";
    const uint64_t got = hugetlb_resize(&replay->process->system->hugetlb, size, pages, 0);
    fprintf(replay->out, "hugetlb %s pages=%" PRIu64 "\n", size == HUGETLB_2MB ? "2MB" : "1GB", got);
    return NULL;
}

static struct process *numbered(const struct replay *replay, uint64_t number) {
    for (size_t i = 0; i < replay->children; ++i)
        if (replay->child[i]->number == number) return &replay->child[i]->process;
    return number == 0 ? replay->first : NULL;
}

static const char *run_fork(struct replay *replay, const struct line *line) {
    uint64_t number;
    if (line->count != 2 || !field_number(line, 1, 1, UINT32_MAX, &number)) return "fork is followed by N, the child's number, not 0";
    if (numbered(replay, number)) return "this process exists";
    struct child *child = host_alloc(sizeof *child);
    const struct fork_result result = process_fork(&child->process, replay->process, 0);
    if (result.has_swap || result.outcome != PHYS_GOT_FRAMES) {
        free(child);
        return result.has_swap ? "a swapped page has more processes than a slot of swap counts here: fork less"
                               : "memory is full: simulate more memory";
    }
    child->number = number;
    replay->child = host_grow(replay->child, &replay->room, replay->children + 1, sizeof *replay->child);
    replay->child[replay->children++] = child;
    fprintf(replay->out, "fork %" PRIu64 " tables=%" PRIu64 " pages=%" PRIu64 "\n", number, result.tables, result.pages);
    return NULL;
}

static const char *run_process(struct replay *replay, const struct line *line) {
    uint64_t number;
    struct process *process = NULL;
    if (line->count == 2 && field_number(line, 1, 0, UINT32_MAX, &number)) process = numbered(replay, number);
    if (!process) return "process is followed by the number of a process: 0, or one that fork made";
    replay->process = process;
    return NULL;
}

static void end_child(struct replay *replay, size_t index) {
    process_exit(&replay->child[index]->process, 0);
    free(replay->child[index]);
    memmove(replay->child + index, replay->child + index + 1, (--replay->children - index) * sizeof *replay->child);
}

static const char *run_exit(struct replay *replay, const struct line *line) {
    size_t index = 0;
    if (line->count != 1) return "exit is followed by nothing: it ends the process whose events are read";
    if (replay->process == replay->first) return "process 0 ends with the last event";
    while (&replay->child[index]->process != replay->process) ++index;
    end_child(replay, index);
    replay->process = replay->first;
    return NULL;
}

static const char *run_line(struct replay *replay, const struct line *line) {
    static const struct {
        const char *key;
        const char *(*run)(struct replay *, const struct line *);
    } events[] = {{"mmap", run_mmap},
                  {"munmap", run_munmap},
                  {"mprotect", run_mprotect},
                  {"mremap", run_mremap},
                  {"madvise", run_madvise},
                  {"heap", run_heap},
                  {"brk", run_brk},
                  {"touch", run_touch},
                  {"scan", run_scan},
                  {"kswapd", run_kswapd},
                  {"reclaim", run_reclaim},
                  {"compact", run_compact},
                  {"kcompactd", run_kcompactd},
                  {"pages", run_pages},
                  {"file", run_file},
                  {"read", run_transfer},
                  {"write", run_transfer},
                  {"drop-caches", run_drop_caches},
                  {"fork", run_fork},
                  {"process", run_process},
                  {"exit", run_exit},
                  {"hugetlb", run_hugetlb},
                  {"idle", run_counters},
                  {"flush-counters", run_counters}};
    for (size_t i = 0; i < sizeof events / sizeof *events; ++i)
        if (field_is(line, 0, events[i].key)) return events[i].run(replay, line);
    return "events are mmap, munmap, mprotect, mremap, madvise, heap, brk, touch, scan, kswapd, reclaim, compact, kcompactd, pages, file, read, write, "
           "drop-caches, fork, process, exit, hugetlb, idle and flush-counters";
}

bool vm_replay_run(struct process *process, const char *text, size_t bytes, const char *name, bool decisions, bool changes, FILE *out,
                   struct vm_replay_counts *counts, struct error *error) {
    struct replay replay = {.process = process, .first = process, .out = out, .counts = counts};
    struct phys *phys = process->system->phys;
    struct lines lines;
    struct line line;
    const char *rule = NULL;
    *counts = (struct vm_replay_counts){0};
    phys->events = vm_show_events(out, decisions, changes);
    lines_start(&lines, text, bytes, name);
    while (!rule && lines_next(&lines, &line)) {
        const uint32_t last = line.count - 1;
        if (decisions || changes) fprintf(out, "> %.*s\n", (int)(line.field[last] + line.length[last] - line.field[0]), line.field[0]);
        rule = run_line(&replay, &line);
    }
    phys->events = (struct events){0};
    while (replay.children > 0) end_child(&replay, 0);
    free(replay.child);
    if (!rule && !lines.broken && (fflush(out) != 0 || ferror(out))) rule = "the output cannot be written";
    if (!rule && !lines.broken) return true;
    return lines_refuse(&lines, rule ? rule : lines.broken, "correct this event; the events above it ran", error);
}
