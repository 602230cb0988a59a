// calls.c - mmap, munmap, madvise, brk and mremap of a process (process.h). mprotect has a file of its own.
#include "vm/hugetlb.h"
#include "vm/move.h"
#include "vm/pageout.h"
#include "vm/policy.h"
#include "vm/unmap.h"

static const char *const outside = "a range has at least one page and ends below address 2^47";
static const char *const too_many = "a process has at most 65530 areas";
static const char *const no_area = "no area is there";
static const char *const no_huge = "madvise and mremap of areas of huge pages are not modelled";

static bool valid(uint64_t page, uint64_t pages) { return pages > 0 && page < PT_PAGES && pages <= PT_PAGES - page; }

/// Room for the areas that one call can add: Linux tests at each split.
static bool has_room(const struct process *process, size_t more) { return process->areas.count + more <= AREA_MOST; }

static void add_area(struct process *process, const struct area *area, enum areas_join join, uint32_t cpu) {
    bool merged;
    const struct area added = *area;
    const size_t index = areas_add(&process->areas, area, join, &merged);
    if (merged) process_register(process, &process->areas.item[index]);
    policy_mapped(process, index, added.start, added.end, cpu);
}

const char *process_map(struct process *process, uint64_t page, uint64_t pages, uint32_t flags, uint32_t file, uint64_t offset,
                        uint32_t cpu) {
    if (!valid(page, pages)) return outside;
    if (file == 0 && flags & AREA_SHARED) return "shared memory has the number of a file";
    if (offset != 0 && file == 0) return "only a file has an offset";
    if (!has_room(process, 2)) return too_many;
    const char *borders = hugetlb_borders(process, page, page + pages);
    if (borders) return borders;
    if ((flags & (AREA_NORESERVE | AREA_SHARED | AREA_WRITE)) == AREA_WRITE) flags |= AREA_ACCOUNT;
    unmap_range(process, page, page + pages, cpu);
    const struct area area = {page, page + pages, file == 0 ? page : offset, file, 0, flags, 0, 0};
    add_area(process, &area, AREAS_JOIN_BOTH, cpu);
    return NULL;
}

const char *process_unmap(struct process *process, uint64_t page, uint64_t pages, uint32_t cpu) {
    if (!valid(page, pages)) return outside;
    if (!has_room(process, 1)) return too_many;
    const char *borders = hugetlb_borders(process, page, page + pages);
    if (borders) return borders;
    unmap_range(process, page, page + pages, cpu);
    return NULL;
}

static void drop_pages(struct process *process, uint64_t page, uint64_t end, uint32_t cpu) {
    struct gather gather;
    vm_lru_drain(process->system);
    gather_start(&gather, process->system, cpu);
    unmap_pages(process, &gather, page, end);
    gather_finish(&gather);
    policy_unmapped(process, areas_at(&process->areas, page), page, end, cpu);
}

static size_t advise_huge(struct process *process, size_t index, uint64_t page, uint64_t end, bool huge) {
    struct area *area = &process->areas.item[index];
    const uint32_t other = area->flags & ~(uint32_t)(AREA_HUGEPAGE | AREA_NOHUGEPAGE);
    const uint32_t flags = other | (huge ? AREA_HUGEPAGE : AREA_NOHUGEPAGE);
    if (flags == area->flags) return index;
    bool merged;
    index = areas_change(&process->areas, index, page, end, flags, &merged);
    if (merged || huge) process_register(process, &process->areas.item[index]);
    return index;
}

const char *process_advise(struct process *process, uint64_t page, uint64_t pages, enum process_advice advice, uint32_t cpu) {
    struct areas *areas = &process->areas;
    const uint64_t end = page + pages;
    if (!valid(page, pages)) return outside;
    if (!has_room(process, 2)) return too_many;
    const char *hole = NULL;
    while (page < end) {
        size_t index = areas_from(areas, page);
        if (index == areas->count || areas->item[index].start >= end) return no_area;
        if (areas->item[index].start > page) {
            page = areas->item[index].start;
            hole = no_area;                       // Linux goes on, and reports it at the end
        }
        if (areas->item[index].flags & AREA_HUGETLB) return no_huge;
        const uint64_t last = areas->item[index].end < end ? areas->item[index].end : end;
        const char *broken = advice == ADVICE_PAGEOUT ? pageout_range(process, page, last, cpu) : NULL;
        if (broken) return broken;
        if (advice == ADVICE_DONTNEED) drop_pages(process, page, last, cpu);
        else if (advice != ADVICE_PAGEOUT) index = advise_huge(process, index, page, last, advice == ADVICE_HUGEPAGE);
        page = areas->item[index].end;
    }
    return hole;
}

const char *process_heap(struct process *process, uint64_t page) {
    if (!valid(page, 1) || page == 0) return outside;
    if (process->heap_start != 0) return "the heap has a start already";
    process->heap_start = process->heap_end = page;
    return NULL;
}

const char *process_brk(struct process *process, uint64_t end, uint32_t cpu) {
    const uint64_t old = process->heap_end;
    if (process->heap_start == 0) return "give the heap a start first";
    if (end < process->heap_start || end >= PT_PAGES) return "the heap's end lies at or above its start, below address 2^47";
    if (!has_room(process, 1)) return too_many;
    if (end < old) {
        if (areas_free(&process->areas, end, old)) return no_area;
        unmap_range(process, end, old, cpu);
    } else if (end > old) {
        if (!areas_free(&process->areas, old, end + 1)) return "another area is in the way, or less than a page above";
        const struct area area = {old, end, old, 0, 0, AREA_READ | AREA_WRITE | AREA_ACCOUNT, 0, 0};
        add_area(process, &area, old == process->heap_start ? AREAS_JOIN_NONE : AREAS_JOIN_BELOW, cpu);
    }
    process->heap_end = end;
    return NULL;
}

static const char *grow_in_place(struct process *process, const struct area *area, uint64_t page, uint64_t old_pages, uint64_t new_pages,
                                 uint32_t cpu) {
    if (page + old_pages != area->end) return "only the end of an area grows in place";
    if (!areas_free(&process->areas, area->end, page + new_pages)) return "another area is in the way";
    struct area more = *area;
    more.start = area->end;
    more.end = page + new_pages;
    more.offset = area->offset + (area->end - area->start);
    add_area(process, &more, AREAS_JOIN_BOTH, cpu);
    return NULL;
}

static const char *move_area(struct process *process, uint64_t page, uint64_t old_pages, uint64_t new_pages, uint64_t to, uint32_t cpu) {
    const struct area *area = areas_at(&process->areas, page);
    if (!area || page + old_pages > area->end) return "the old range lies in one area";
    struct area moved = *area;
    const bool untouched = area->file == 0 && area->anon == 0;
    moved.start = to;
    moved.end = to + new_pages;
    moved.offset = untouched ? to : area->offset + (page - area->start);
    bool merged;
    const size_t index = areas_add(&process->areas, &moved, AREAS_JOIN_BOTH, &merged);
    if (merged) process_register(process, &process->areas.item[index]);
    else areas_link(&process->areas, index, areas_from(&process->areas, page));
    const uint64_t done = move_pages(process, page, to, old_pages, cpu);
    if (done < old_pages) {
        move_pages(process, to, page, done, cpu);
        unmap_range(process, to, to + new_pages, cpu);
        return "a page table got no frame";
    }
    unmap_range(process, page, page + old_pages, cpu);
    policy_mapped(process, areas_from(&process->areas, to), to + old_pages, to + new_pages, cpu);
    return NULL;
}

const char *process_remap(struct process *process, uint64_t page, uint64_t old_pages, uint64_t new_pages, uint64_t to, uint32_t cpu) {
    if (!valid(page, old_pages) || !valid(page, new_pages) || !valid(to, new_pages)) return outside;
    const struct area *area = areas_at(&process->areas, page);
    if (!area) return no_area;
    if (!has_room(process, 6)) return too_many;
    if (area->flags & AREA_HUGETLB) return no_huge;
    const char *borders = hugetlb_borders(process, to, to + new_pages);
    if (borders) return borders;
    if (to == page) {
        if (new_pages > old_pages) return grow_in_place(process, area, page, old_pages, new_pages, cpu);
        unmap_range(process, page + new_pages, page + old_pages, cpu);
        return NULL;
    }
    if (page + old_pages > to && to + new_pages > page) return "the old and the new range do not overlap";
    unmap_range(process, to, to + new_pages, cpu);
    if (old_pages > new_pages) unmap_range(process, page + new_pages, page + old_pages, cpu);
    return move_area(process, page, old_pages < new_pages ? old_pages : new_pages, new_pages, to, cpu);
}
