#include "vm/unmap.h"

#include "pt/free.h"
#include "vm/hugetlb.h"
#include "vm/policy.h"

static void zap_huge(struct process *process, struct gather *gather, struct pt_table *table, const pt_entry *slot, uint64_t page) {
    const pt_entry entry = *slot;
    pt_write(&process->pt, slot, page, 1, 0, PT_BY_CALL);
    vm_free(process->system, pt_withdraw_frame(&process->pt, table), 0, gather->cpu);
    if (entry & PT_ZERO) return;
    process->anonymous_pages -= PT_SLOTS;
    rmap_remove(&process->system->lru.rmap, pt_value(entry), process_place(process, page));
    if (process->system->mappings[pt_value(entry) >> PHYS_PAGEBLOCK_ORDER] > 0)
        gather_pages(gather, pt_value(entry), 1);       // one of several mappings
    else gather_block(gather, pt_value(entry), PHYS_THP_ORDER);
}

/// An anonymous page.
static bool is_page(pt_entry entry) { return pt_present(entry) && !(entry & (PT_ZERO | PT_FILE)); }

/// Mappings of consecutive pages of one folio of a file, from slot `i` on (zap_present_folio_ptes). Returns their number.
static unsigned zap_file(struct process *process, struct gather *gather, const pt_entry *slot, unsigned most, uint64_t page) {
    struct vm_system *system = process->system;
    const uint32_t frame = pt_value(*slot), folio = file_folio(&system->files, frame);
    const unsigned left = lru_pages(&system->lru, folio) - (frame - folio);
    pt_entry bits = 0;
    unsigned count = 0;
    for (; count < most && count < left; ++count) {
        const pt_entry entry = slot[count];
        if (!pt_present(entry) || !(entry & PT_FILE) || pt_value(entry) != frame + count) break;
        bits |= entry;
        pt_write(&process->pt, &slot[count], page + count, 0, 0, PT_BY_CALL);
        rmap_remove(&system->lru.rmap, frame + count, process_place(process, page + count));
    }
    if (bits & PT_DIRTY) lru_set(&system->lru, folio, LRU_DIRTY);
    if (bits & PT_YOUNG) lru_mark_accessed(&system->lru, folio, gather->cpu);
    process->file_pages -= count;
    gather_kept(gather, frame, count);
    return count;
}

static void free_gone(void *context, uint32_t frame, uint32_t cpu) {
    struct vm_system *system = context;
    if (!system->anon.mapped(system, frame)) vm_free(system, frame, frame_order(&system->phys->frames, frame), cpu);
}

/// The swap entries of consecutive slots from `first`, of `page`, on; returns how many (swap_pte_batch).
static unsigned zap_swapped(struct process *process, const struct pt_table *table, unsigned first, unsigned last, uint64_t page,
                            uint32_t cpu) {
    const pt_entry start = table->slot[first];
    unsigned count = 0;
    for (; first + count < last && table->slot[first + count] == start + ((pt_entry)count << 32); ++count)
        pt_write(&process->pt, &table->slot[first + count], page + count, 0, 0, PT_BY_CALL);
    process->swapped_pages -= count;
    swap_drop(&process->system->swap, pt_value(start), count, cpu, free_gone, process->system);
    return count;
}

/// Entries [first, last) of a level-0 table; `page` is the one of `first`. Consecutive mappings of one block that was split go together.
static void zap_small(struct process *process, struct gather *gather, const struct pt_table *table, unsigned first, unsigned last,
                      uint64_t page) {
    struct rmap *rmap = &process->system->lru.rmap;
    for (unsigned i = first, count; i < last; i += count) {
        const pt_entry entry = table->slot[i];
        if (i + 16 < last && is_page(table->slot[i + 16])) __builtin_prefetch(&rmap->word[pt_value(table->slot[i + 16])], 1);
        if (entry == 0) {
            count = 1;
            continue;
        }
        if (entry & PT_SWAP) {
            count = zap_swapped(process, table, i, last, page + (i - first), gather->cpu);
            continue;
        }
        if (pt_present(entry) && entry & PT_FILE) {
            count = zap_file(process, gather, &table->slot[i], last - i, page + (i - first));
            continue;
        }
        pt_write(&process->pt, &table->slot[i], page + (i - first), 0, 0, PT_BY_CALL);
        count = 1;
        if (!is_page(entry)) continue;
        const uint32_t frame = pt_value(entry), block = frame >> PHYS_PAGEBLOCK_ORDER;
        if (process->system->mappings[block] > 0)
            for (; i + count < last && is_page(table->slot[i + count]); ++count) {
                const uint32_t next = pt_value(table->slot[i + count]);
                if (next != frame + count || next >> PHYS_PAGEBLOCK_ORDER != block) break;
                pt_write(&process->pt, &table->slot[i + count], page + (i - first) + count, 0, 0, PT_BY_CALL);
            }
        process->anonymous_pages -= count;
        for (unsigned j = 0; j < count; ++j) rmap_remove(rmap, frame + j, process_place(process, page + (i - first) + j));
        if (entry & PT_SHARED && process->system->mappings[block] == 0 && rmap_mapped(rmap, frame)) gather_kept(gather, frame, 1);
        else gather_pages(gather, frame, count);
    }
}

void unmap_pages(struct process *process, struct gather *gather, uint64_t page, uint64_t end) {
    for (uint64_t next; page < end; page = next) {
        unsigned missing = 1;
        struct pt_table *table = pt_find_table(&process->pt, page, 1, &missing);
        const uint64_t span = pt_slot_pages(table ? 1 : missing);
        next = (page & ~(span - 1)) + span < end ? (page & ~(span - 1)) + span : end;
        if (!table) continue;
        const pt_entry *slot = &table->slot[pt_index(page, 1)];
        if (*slot == 0) continue;
        if (!pt_is_table(*slot)) {
            if (next - page == PT_SLOTS) {
                zap_huge(process, gather, table, slot, page);
                continue;
            }
            process_split(process, table, slot, page, PT_BY_CALL);
        }
        zap_small(process, gather, pt_below(*slot), pt_index(page, 0), pt_index(next - 1, 0) + 1, page);
    }
}

static void give_table(void *context, uint32_t frame) { gather_block(context, frame, 0); }

/// Areas that lie less than 2MB apart are one range (free_pgtables); the floor is the same for all.
static void free_tables(struct process *process, struct gather *gather, const struct area *area, size_t count, uint64_t floor,
                        uint64_t ceiling) {
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count && area[last].start <= area[last - 1].end + PT_SLOTS; ++last) continue;
        const uint64_t above = last < count ? area[last].start : ceiling;
        pt_free_range(&process->pt, area[first].start, area[last - 1].end, floor, above, give_table, gather);
    }
}

void unmap_range(struct process *process, uint64_t page, uint64_t end, uint32_t cpu) {
    struct areas *areas = &process->areas;
    struct gather gather;
    size_t last;
    if (page >= end) return;
    const size_t first = areas_isolate(areas, page, end, &last);
    if (first == last) return;
    const uint64_t floor = first > 0 ? areas->item[first - 1].end : 0;
    const uint64_t ceiling = last < areas->count ? areas->item[last].start : 0;
    vm_lru_drain(process->system);
    gather_start(&gather, process->system, cpu);
    for (size_t i = first; i < last; ++i) {
        const struct area *area = &areas->item[i];
        if (area->flags & AREA_HUGETLB) hugetlb_unmap(process, &gather, area->start, area->end);
        else unmap_pages(process, &gather, area->start, area->end);
    }
    free_tables(process, &gather, areas->item + first, last - first, floor, ceiling);
    gather_finish(&gather);
    for (size_t i = first; i < last; ++i) policy_unmapped(process, &areas->item[i], areas->item[i].start, areas->item[i].end, cpu);
    areas_remove(areas, first, last);
}
