#include "vm/unmap.h"

#include "pt/free.h"

static void zap_huge(struct process *process, struct gather *gather, struct pt_table *table, pt_entry *slot) {
    const pt_entry entry = *slot;
    *slot = 0;
    vm_free(process->system, pt_withdraw_frame(&process->pt, table), 0, gather->cpu);
    if (entry & PT_ZERO) return;
    process->anonymous_pages -= PT_SLOTS;
    gather_block(gather, pt_value(entry), PHYS_THP_ORDER);
}

static bool is_page(pt_entry entry) {
    return pt_present(entry) && !(entry & PT_ZERO);
}

/// Entries [first, last) of a level-0 table. Consecutive mappings of one block that was split go together.
static void zap_small(struct process *process, struct gather *gather, struct pt_table *table, unsigned first, unsigned last) {
    for (unsigned i = first, count; i < last; i += count) {
        const pt_entry entry = table->slot[i];
        table->slot[i] = 0;
        count = 1;
        if (!is_page(entry)) continue;
        const uint32_t frame = pt_value(entry), block = frame >> PHYS_PAGEBLOCK_ORDER;
        if (process->system->mappings[block] > 0)
            for (; i + count < last && is_page(table->slot[i + count]); ++count) {
                const uint32_t next = pt_value(table->slot[i + count]);
                if (next != frame + count || next >> PHYS_PAGEBLOCK_ORDER != block) break;
                table->slot[i + count] = 0;
            }
        process->anonymous_pages -= count;
        gather_pages(gather, frame, count);
    }
}

void unmap_pages(struct process *process, struct gather *gather, uint64_t page, uint64_t end) {
    for (uint64_t next; page < end; page = next) {
        unsigned missing = 1;
        struct pt_table *table = pt_find_table(&process->pt, page, 1, &missing);
        const uint64_t span = pt_slot_pages(table ? 1 : missing);
        next = (page & ~(span - 1)) + span < end ? (page & ~(span - 1)) + span : end;
        if (!table) continue;
        pt_entry *slot = &table->slot[pt_index(page, 1)];
        if (*slot == 0) continue;
        if (!pt_is_table(*slot)) {
            if (next - page == PT_SLOTS) {
                zap_huge(process, gather, table, slot);
                continue;
            }
            process_split(process, table, slot);
        }
        zap_small(process, gather, pt_below(*slot), pt_index(page, 0), pt_index(next - 1, 0) + 1);
    }
}

static void give_table(void *context, uint32_t frame) {
    gather_block(context, frame, 0);
}

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
    for (size_t i = first; i < last; ++i) unmap_pages(process, &gather, areas->item[i].start, areas->item[i].end);
    free_tables(process, &gather, areas->item + first, last - first, floor, ceiling);
    gather_finish(&gather);
    areas_remove(areas, first, last);
}
