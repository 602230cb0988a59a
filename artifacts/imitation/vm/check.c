#include "vm/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"

struct check {
    const struct vm_system *system;
    struct process *process;
    uint64_t *seen;               // frames that a table, mapping or deposit has
    uint16_t *mappings;           // of split blocks, as counted
    uint64_t tables[PT_LEVELS], deposited, pages;
    const char *broken;
};

static void see(struct check *check, uint32_t frame, unsigned order, unsigned block_order) {
    const struct frames *frames = &check->system->phys->frames;
    const uint32_t head = frame >> block_order << block_order, count = UINT32_C(1) << order;
    if (frame >= frames->count || !frame_is(frames, head, FRAME_USED, block_order)) {
        check->broken = "a frame of a process is in use with its order";
    } else if (bitmap_count(check->seen, frame, count) != 0) {
        check->broken = "no frame is used twice";
    } else {
        bitmap_set(check->seen, frame, count);
    }
}

static void check_mapping(struct check *check, pt_entry entry, uint64_t page, unsigned level) {
    const struct area *area = areas_at(&check->process->areas, page);
    const uint32_t block = pt_value(entry) >> PHYS_PAGEBLOCK_ORDER;
    if (!area || page + pt_slot_pages(level) > area->end) check->broken = "a mapping lies in one area";
    if (area && entry & PT_WRITE && !(area->flags & AREA_WRITE)) check->broken = "a mapping allows no more than its area";
    if (entry & PT_ZERO) {
        if (level == 1 && pt_value(entry) != check->system->huge_zero) check->broken = "2MB of zeros are the huge zero page";
        if (entry & PT_WRITE) check->broken = "zero pages are not writable";
        return;
    }
    check->pages += pt_slot_pages(level);
    if (level == 1) {
        see(check, pt_value(entry), PHYS_THP_ORDER, PHYS_THP_ORDER);
    } else if (check->system->mappings[block] > 0) {
        see(check, pt_value(entry), 0, PHYS_THP_ORDER);
        ++check->mappings[block];
    } else {
        see(check, pt_value(entry), 0, 0);
    }
}

static void check_table(struct check *check, const struct pt_table *table, unsigned level, uint64_t page) {
    uint32_t huge = 0;
    ++check->tables[level];
    const unsigned order = level == PT_TOP ? check->process->pt.root_order : 0;
    see(check, table->frame, order, order);
    for (unsigned i = 0; i < PT_SLOTS && !check->broken; ++i) {
        const uint64_t at = page + i * pt_slot_pages(level);
        if (table->slot[i] == 0) continue;
        if (level > 0 && pt_is_table(table->slot[i])) {
            check_table(check, pt_below(table->slot[i]), level - 1, at);
            continue;
        }
        if (level > 1) check->broken = "only levels 0 and 1 map pages";
        huge += level == 1;
        if (pt_present(table->slot[i])) check_mapping(check, table->slot[i], at, level);
    }
    const struct pt_deposits *deposits = table->deposits;
    const uint32_t count = deposits ? deposits->count : 0;
    if (count != huge) check->broken = "each 2MB mapping has a deposited table";
    for (uint32_t i = 0; i < count; ++i)
        see(check, i == 0 ? deposits->head : deposits->ring[(deposits->first + i - 1) % PT_SLOTS], 0, 0);
    check->deposited += count;
    check->tables[0] += count;
}

static void check_areas(struct check *check) {
    const struct areas *areas = &check->process->areas;
    for (size_t i = 0; i < areas->count; ++i) {
        const struct area *area = &areas->item[i];
        if (area->start >= area->end || area->end > PT_PAGES) check->broken = "an area has pages below address 2^47";
        if (i > 0 && area[-1].end > area->start) check->broken = "areas are ascending and disjoint";
        const bool untouched = area->file == 0 && area->anon == 0;
        if (untouched && area->offset != area->start) check->broken = "an untouched area starts at its offset";
    }
}

static void check_process(struct check *check, struct process *process) {
    check->process = process;
    memset(check->tables, 0, sizeof check->tables);
    check->deposited = check->pages = 0;
    check_areas(check);
    check_table(check, process->pt.root, PT_TOP, 0);
    if (check->broken) return;
    if (memcmp(check->tables, process->pt.tables, sizeof check->tables) != 0) check->broken = "a process counts its tables";
    if (check->deposited != process->pt.deposited) check->broken = "a process counts its deposited tables";
    if (check->pages != process->anonymous_pages) check->broken = "a process counts its pages";
}

const char *vm_check(const struct vm_system *system, struct process *const *processes, size_t count) {
    const size_t blocks = system->phys->frames.count >> PHYS_PAGEBLOCK_ORDER;
    struct check check = {.system = system};
    check.seen = host_alloc(bitmap_words(system->phys->frames.count) * sizeof *check.seen);
    check.mappings = host_alloc(blocks * sizeof *check.mappings);
    if (system->huge_zero != PHYS_NO_FRAME) see(&check, system->huge_zero, PHYS_THP_ORDER, PHYS_THP_ORDER);
    for (size_t i = 0; i < count && !check.broken; ++i) check_process(&check, processes[i]);
    if (!check.broken && memcmp(check.mappings, system->mappings, blocks * sizeof *check.mappings) != 0)
        check.broken = "a split block counts its mappings";
    free(check.seen);
    free(check.mappings);
    return check.broken;
}
