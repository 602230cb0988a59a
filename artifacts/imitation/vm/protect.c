// protect.c - mprotect of a process (process.h).
//
// Linux: mm/mprotect.c do_mprotect_pkey, mprotect_fixup, change_pmd_range, change_pte_range, can_change_pte_writable. Entries
// lose the right to write; in an area that is private and writable, anonymous pages that no fork shared get it back at once, others do
// not; in a shared area, dirty ones do. So no write fault follows for a page that was written before.
#include "vm/process.h"

static pt_entry changed(pt_entry entry, uint32_t flags) {
    const bool own = flags & AREA_SHARED ? entry & PT_DIRTY : !(entry & (PT_ZERO | PT_FILE | PT_SHARED));
    return flags & AREA_WRITE && own ? entry | PT_WRITE : entry & ~(pt_entry)PT_WRITE;
}

static void change_entries(struct process *process, uint64_t page, uint64_t end, uint32_t flags) {
    for (uint64_t next; page < end; page = next) {
        unsigned missing = 1;
        struct pt_table *table = pt_find_table(&process->pt, page, 1, &missing);
        const uint64_t mask = pt_slot_pages(table ? 1 : missing) - 1;
        next = (page | mask) + 1 < end ? (page | mask) + 1 : end;
        const pt_entry *slot = table ? &table->slot[pt_index(page, 1)] : NULL;
        if (!slot || *slot == 0) continue;
        if (pt_present(*slot)) {  // 2MB, all in the range: a mapping that a border of the area cuts is split by now (process.c)
            pt_write(&process->pt, slot, page, 1, changed(*slot, flags), PT_BY_PROTECT);
            continue;
        }
        for (uint64_t at = page; at < next; ++at) {
            const pt_entry *small = &pt_below(*slot)->slot[pt_index(at, 0)];
            if (pt_present(*small)) pt_write(&process->pt, small, at, 0, changed(*small, flags), PT_BY_PROTECT);
        }
    }
}

static uint32_t new_flags(const struct area *area, uint32_t rights) {
    uint32_t flags = (area->flags & ~(uint32_t)AREA_RIGHTS) | rights;
    if (flags & AREA_WRITE) {
        if (!(area->flags & (AREA_ACCOUNT | AREA_WRITE | AREA_SHARED | AREA_NORESERVE))) flags |= AREA_ACCOUNT;
    } else if (area->file == 0 && area->anon == 0) {
        flags &= ~(uint32_t)AREA_ACCOUNT;
    }
    return flags;
}

const char *process_protect(struct process *process, uint64_t page, uint64_t pages, uint32_t rights) {
    struct areas *areas = &process->areas;
    const bool valid = pages > 0 && page < PT_PAGES && pages <= PT_PAGES - page;
    if (!valid) return "a range has at least one page and ends below address 2^47";
    if (areas->count + 2 > AREA_MOST) return "a process has at most 65530 areas";
    const uint64_t end = page + pages;
    while (page < end) {
        size_t index = areas_from(areas, page);
        if (index == areas->count || areas->item[index].start > page) return "no area is there";
        const struct area *area = &areas->item[index];
        if (area->flags & AREA_HUGETLB) return "mprotect of areas of huge pages is not modelled";
        const uint64_t last = area->end < end ? area->end : end;
        const uint32_t wanted = (area->flags & ~(uint32_t)AREA_RIGHTS) | rights, flags = new_flags(area, rights);
        if (wanted != area->flags) {
            bool merged;
            index = areas_change(areas, index, page, last, flags, &merged);
            if (merged) process_register(process, &areas->item[index]);
            change_entries(process, page, last, flags);
        }
        page = areas->item[index].end;
    }
    return NULL;
}
