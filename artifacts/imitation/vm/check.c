#include "vm/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "lru/check.h"

struct check {
    const struct vm_system *system;
    struct process *process;
    uint64_t *seen;               // frames that a table, mapping or deposit has
    uint64_t *shared;             // those that entries with PT_SHARED or PT_FILE map: more than one may
    uint32_t *mappings;           // of blocks that are shared or were split, as counted
    uint64_t tables[PT_LEVELS], deposited, pages, file_pages, hugetlb_pages, swapped;
    uint32_t *entries;            // swap entries of each slot
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

/// A page of a pool; fork lets several processes map it.
static void see_hugetlb(struct check *check, pt_entry entry, unsigned level) {
    const unsigned order = level == 1 ? PHYS_THP_ORDER : PHYS_MAX_ORDER;
    check->hugetlb_pages += pt_slot_pages(level);
    for (uint32_t i = 0; i < pt_slot_pages(level); i += UINT32_C(1) << order) {
        const uint32_t frame = pt_value(entry) + i;
        if (bitmap_get(check->shared, frame) && rmap_shared(&check->system->lru.rmap, pt_value(entry))) continue;
        see(check, frame, order, order);
        bitmap_set(check->shared, frame, 1);
    }
}

/// A mapping: of a page of its own, or of one that others may map in the same way.
static void see_mapping(struct check *check, pt_entry entry, unsigned order, unsigned block_order) {
    const uint32_t frame = pt_value(entry), count = UINT32_C(1) << order;
    const bool may_share = entry & (PT_SHARED | PT_FILE);
    for (uint32_t i = 0; may_share && i < count; ++i)       // the pages that only such entries map so far
        if (bitmap_get(check->shared, frame + i)) bitmap_clear(check->seen, frame + i, 1);
    see(check, frame, order, block_order);
    if (may_share) bitmap_set(check->shared, frame, count);
}

static void check_file_page(struct check *check, const struct area *area, pt_entry entry, uint64_t page) {
    const struct file *file = area && area->file != 0 ? file_named(&check->system->files, area->file) : NULL;
    const uint32_t frame = pt_value(entry);
    ++check->file_pages;
    if (!file || file_frame(file, area->offset + (page - area->start)) != frame) {
        check->broken = "a mapping of a file has the frame that the page cache has";
        return;
    }
    const uint32_t folio = file_folio(&check->system->files, frame);
    see_mapping(check, entry, 0, frame_order(&check->system->phys->frames, folio));
    if (entry & PT_WRITE && !(area->flags & AREA_SHARED)) check->broken = "a private mapping of a file is not writable";
}

static bool noted(const struct check *check, uint32_t frame, uint64_t page) {
    rmap_place place;
    for (struct rmap_walk walk = rmap_start(&check->system->lru.rmap, frame); rmap_next(&walk, &place);)
        if (place == process_place(check->process, page)) return true;
    return false;
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
    if (!noted(check, pt_value(entry), page)) check->broken = "a frame names its mappings";
    if (area && area->flags & AREA_HUGETLB) {
        see_hugetlb(check, entry, level);
        return;
    }
    if (level > 1) check->broken = "only levels 0 and 1 map pages, but for huge pages of a pool";
    if (entry & PT_FILE) {
        check_file_page(check, area, entry, page);
        return;
    }
    if (entry & PT_WRITE && entry & PT_SHARED) check->broken = "a shared anonymous page is not writable";
    check->pages += pt_slot_pages(level);
    if (level == 1) {
        see_mapping(check, entry, PHYS_THP_ORDER, PHYS_THP_ORDER);
        check->mappings[block] += check->system->mappings[block] > 0;
    } else if (check->system->mappings[block] > 0) {
        see_mapping(check, entry, 0, PHYS_THP_ORDER);
        ++check->mappings[block];
    } else {
        see_mapping(check, entry, 0, 0);
    }
}

static void check_swapped(struct check *check, pt_entry entry, unsigned level) {
    const uint32_t slot = pt_value(entry);
    ++check->swapped;
    if (level != 0 || slot == 0 || slot >= check->system->swap.slots) check->broken = "a swap entry is of 4KB and has a slot";
    else ++check->entries[slot];
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
        const struct area *area = areas_at(&check->process->areas, at);
        huge += level == 1 && !(area && area->flags & AREA_HUGETLB);
        if (pt_present(table->slot[i])) check_mapping(check, table->slot[i], at, level);
        if (table->slot[i] & PT_SWAP) check_swapped(check, table->slot[i], level);
    }
    const struct pt_deposits *deposits = table->deposits;
    const uint32_t count = deposits ? deposits->count : 0;
    if (count != huge) check->broken = "each 2MB mapping has a deposited table";
    for (uint32_t i = 0; i < count; ++i) see(check, i == 0 ? deposits->head : deposits->ring[(deposits->first + i - 1) % PT_SLOTS], 0, 0);
    check->deposited += count;
    check->tables[0] += count;
}

static void check_areas(struct check *check) {
    const struct areas *areas = &check->process->areas;
    for (size_t i = 0; i < areas->count; ++i) {
        const struct area *area = &areas->item[i];
        if (area->start >= area->end || area->end > PT_PAGES) check->broken = "an area has pages below address 2^47";
        if (i > 0 && area[-1].end > area->start) check->broken = "areas are ascending and disjoint";
        if (areas->slabs && areas->objects[i].links != area->chain) check->broken = "an area has a link for each element of its list";
        const bool untouched = area->file == 0 && area->anon == 0;
        if (untouched && area->offset != area->start) check->broken = "an untouched area starts at its offset";
    }
}

static void check_process(struct check *check, struct process *process) {
    check->process = process;
    memset(check->tables, 0, sizeof check->tables);
    check->deposited = check->pages = check->file_pages = check->hugetlb_pages = check->swapped = 0;
    check_areas(check);
    check_table(check, process->pt.root, PT_TOP, 0);
    if (check->broken) return;
    if (memcmp(check->tables, process->pt.tables, sizeof check->tables) != 0) check->broken = "a process counts its tables";
    if (check->deposited != process->pt.deposited) check->broken = "a process counts its deposited tables";
    if (check->pages != process->anonymous_pages) check->broken = "a process counts its pages";
    if (check->swapped != process->swapped_pages) check->broken = "a process counts its swap entries";
    if (check->file_pages != process->file_pages) check->broken = "a process counts its pages of files";
    if (check->hugetlb_pages != process->hugetlb_pages) check->broken = "a process counts its huge pages";
}

const char *vm_check(const struct vm_system *system, struct process *const *processes, size_t count) {
    const size_t blocks = system->phys->frames.count >> PHYS_PAGEBLOCK_ORDER;
    struct check check = {.system = system};
    check.seen = host_alloc(bitmap_words(system->phys->frames.count) * sizeof *check.seen);
    check.entries = host_alloc((size_t)system->swap.slots * sizeof *check.entries);
    check.shared = host_alloc(bitmap_words(system->phys->frames.count) * sizeof *check.shared);
    check.mappings = host_alloc(blocks * sizeof *check.mappings);
    if (system->huge_zero != PHYS_NO_FRAME) see(&check, system->huge_zero, PHYS_THP_ORDER, PHYS_THP_ORDER);
    for (size_t i = 0; i < count && !check.broken; ++i) check_process(&check, processes[i]);
    if (!check.broken && memcmp(check.mappings, system->mappings, blocks * sizeof *check.mappings) != 0)
        check.broken = "a shared or split block counts its mappings";
    for (uint32_t slot = 1; slot < system->swap.slots && !check.broken; ++slot)
        if (check.entries[slot] != swap_entries(&system->swap, slot)) check.broken = "a slot counts its swap entries";
    if (!check.broken) check.broken = swap_check(&system->swap);
    if (!check.broken) check.broken = lru_check(&system->lru);
    free(check.entries);
    free(check.seen);
    free(check.shared);
    free(check.mappings);
    return check.broken;
}
