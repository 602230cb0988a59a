#include "vm/khugepaged.h"

struct scan {
    struct vm_system *system;
    uint32_t cpu;
    bool no_block;          // the last call ended with a refused block
    uint64_t collapsed;
};

/// Ranges of one area from scan_page on. True: the call ends here, after an allocation or enough progress.
static bool scan_area(struct scan *scan, struct process *process, const struct area *area, uint32_t pages, uint32_t *progress) {
    struct vm_system *system = scan->system;
    const struct events *sink = &system->phys->events;
    const uint64_t start = (area->start + PT_SLOTS - 1) / PT_SLOTS * PT_SLOTS, end = area->end / PT_SLOTS * PT_SLOTS;
    if (system->scan_page > end) {
        ++*progress;
        return false;
    }
    if (system->scan_page < start) system->scan_page = start;
    while (system->scan_page < end) {
        enum phys_outcome outcome;
        const uint64_t page = system->scan_page;
        const enum collapse_result result = collapse_range(process, page, scan->cpu, &outcome);
        if (sink->scan) sink->scan(sink->context, process, page, result);
        scan->collapsed += result == COLLAPSE_DONE;
        scan->no_block = result == COLLAPSE_NO_BLOCK;
        system->scan_page += PT_SLOTS;
        *progress += PT_SLOTS;
        const bool asked = result == COLLAPSE_DONE || result == COLLAPSE_NO_BLOCK || result == COLLAPSE_SWAP_IN;
        if (asked || *progress >= pages) return true;
    }
    return false;
}

static uint32_t scan_process(struct scan *scan, uint32_t pages) {
    struct vm_system *system = scan->system;
    if (!system->scanning) system->scan_at = system->scan_page = 0;
    system->scanning = true;
    struct process *process = system->scanned[system->scan_at];
    uint32_t progress = 1;
    scan->no_block = false;
    for (size_t i = areas_from(&process->areas, system->scan_page); i < process->areas.count; ++i) {
        const struct area *area = &process->areas.item[i];
        if (!thp_scan_allowed(&system->thp, area)) ++progress;
        else if (scan_area(scan, process, area, pages, &progress)) return progress;
    }
    system->scan_page = 0;
    if (++system->scan_at < system->scanned_count) return progress;
    system->scanning = false;
    system->scan_at = 0;
    ++system->counts.thp_full_scans;
    return progress;
}

uint64_t khugepaged_wake(struct vm_system *system, uint32_t cpu) {
    struct scan scan = {.system = system, .cpu = cpu};
    const uint32_t pages = system->thp.pages_to_scan;
    uint32_t progress = 0, starts = 0;
    bool slept = false;
    vm_lru_drain(system);
    while (progress < pages) {
        starts += !system->scanning;
        if (system->scanned_count == 0 || system->thp.enabled == THP_NEVER || starts > 1) break;
        progress += scan_process(&scan, pages - progress);
        if (!scan.no_block || progress >= pages) continue;
        if (slept) break;
        slept = true;
    }
    return scan.collapsed;
}
