#include "vm/collapse.h"

#include "pt/huge.h"
#include "vm/anon.h"

const char *collapse_result_name(int result) {
    static const char *const names[COLLAPSE_RESULTS] = {"collapsed",   "no-table",  "empty",     "mapped",   "many-none", "many-swap",
                                                        "many-shared", "read-only", "not-young", "no-block", "swap-in",   "not-present"};
    return result >= 0 && result < COLLAPSE_RESULTS ? names[result] : "?";
}

static enum collapse_result exceeded(const struct thp *thp, const struct collapse_counts *counts) {
    if (counts->none > thp->max_ptes_none) return COLLAPSE_MANY_NONE;
    if (counts->swap > thp->max_ptes_swap) return COLLAPSE_MANY_SWAP;
    return counts->shared > thp->max_ptes_shared ? COLLAPSE_MANY_SHARED : COLLAPSE_DONE;
}

enum collapse_result collapse_decide(const struct thp *thp, const struct collapse_counts *counts) {
    const enum collapse_result limit = exceeded(thp, counts);
    if (limit != COLLAPSE_DONE) return limit;
    if (!counts->writable) return COLLAPSE_READ_ONLY;
    if (counts->young == 0 || (counts->swap > 0 && counts->young < PT_SLOTS / 2)) return COLLAPSE_NOT_YOUNG;
    return COLLAPSE_DONE;
}

/// folio_likely_mapped_shared: for a part of a 2MB block, more mappings than it has pages; Linux also looks at the first page.
static bool is_shared(const struct vm_system *system, pt_entry entry) {
    const uint32_t mappings = system->mappings[pt_value(entry) >> PHYS_PAGEBLOCK_ORDER];
    if (!(entry & PT_SHARED)) return false;
    return mappings > 0 ? mappings > PT_SLOTS : rmap_shared(&system->lru.rmap, pt_value(entry));
}

static void count(const struct vm_system *system, struct collapse_counts *counts, pt_entry entry) {
    if (entry & PT_SWAP) {
        ++counts->swap;
    } else if (entry == 0 || entry & PT_ZERO) {
        ++counts->none;
    } else {
        counts->shared += is_shared(system, entry);
        counts->young += (entry & PT_YOUNG) != 0;
        counts->writable |= (entry & PT_WRITE) != 0;
    }
}

/// Adds a block to the list of those that the table maps, if it is new there.
static void note_block(uint32_t *block, uint32_t *blocks, uint32_t of) {
    for (uint32_t i = *blocks; i-- > 0;)
        if (block[i] == of) return;
    block[(*blocks)++] = of;
}

/// Frees the pages of a table: small ones first, then split blocks that have no mapping left, in the order of their first mappings
/// here (compound_pagelist). Returns the number of pages.
static uint32_t free_pages(struct process *process, const struct pt_table *table, uint64_t page, uint32_t cpu) {
    struct vm_system *system = process->system;
    uint32_t pages = 0, blocks = 0, block[PT_SLOTS];
    vm_lru_drain(system);
    for (unsigned i = 0; i < PT_SLOTS; ++i) {
        const pt_entry entry = table->slot[i];
        if (!pt_present(entry) || entry & PT_ZERO) continue;
        const uint32_t of = pt_value(entry) >> PHYS_PAGEBLOCK_ORDER;
        ++pages;
        rmap_remove(&system->lru.rmap, pt_value(entry), process_place(process, page + i));
        if (system->mappings[of] == 0) {
            if (!rmap_mapped(&system->lru.rmap, pt_value(entry))) anon_free(system, pt_value(entry), cpu);
            continue;
        }
        note_block(block, &blocks, of);
        --system->mappings[of];
    }
    for (uint32_t i = 0; i < blocks; ++i)
        if (system->mappings[block[i]] == 0) anon_free(system, block[i] << PHYS_PAGEBLOCK_ORDER, cpu);
    return pages;
}

/// After the request for the block: no page may be gone, one must be young and one writable.
static enum collapse_result look_again(const struct vm_system *system, const struct pt_table *table) {
    struct collapse_counts counts = {0};
    for (unsigned i = 0; i < PT_SLOTS; ++i) count(system, &counts, table->slot[i]);
    return counts.swap > 0 ? COLLAPSE_NOT_PRESENT : collapse_decide(&system->thp, &counts);
}

static enum collapse_result collapse(struct process *process, struct pt_table *table, const pt_entry *slot, uint64_t page, uint32_t cpu,
                                     enum phys_outcome *outcome) {
    struct vm_system *system = process->system;
    struct phys_request request = thp_collapse_request(&system->thp, cpu);
    request.process = process->number;
    request.page = page;
    const struct phys_result block = vm_obtain(system, &request);
    *outcome = block.outcome;
    if (block.outcome != PHYS_GOT_FRAMES) {
        ++system->counts.thp_collapse_alloc_failed;
        return COLLAPSE_NO_BLOCK;
    }
    ++system->counts.thp_collapse_alloc;
    const enum collapse_result again = look_again(system, pt_below(*slot));
    if (again != COLLAPSE_DONE) {
        vm_free(system, block.frame, PHYS_THP_ORDER, cpu);
        return again;
    }
    process->anonymous_pages += PT_SLOTS - free_pages(process, pt_below(*slot), page, cpu);
    vm_lru_add(system, block.frame, process_place(process, page), cpu);
    pt_collapse(&process->pt, table, slot, page, pt_make(block.frame, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY));
    return COLLAPSE_DONE;
}

enum collapse_result collapse_scan(const struct vm_system *system, const pt_entry *entry, struct collapse_counts *counts) {
    *counts = (struct collapse_counts){0};
    for (unsigned i = 0; i < PT_SLOTS; ++i) {
        count(system, counts, entry[i]);
        const enum collapse_result limit = exceeded(&system->thp, counts);
        if (limit != COLLAPSE_DONE) return limit;
    }
    return collapse_decide(&system->thp, counts);
}

enum collapse_result collapse_range(struct process *process, uint64_t page, uint32_t cpu, enum phys_outcome *outcome) {
    struct collapse_counts counts;
    unsigned missing;
    struct pt_table *table = pt_find_table(&process->pt, page, 1, &missing);
    *outcome = PHYS_GOT_FRAMES;
    if (!table) return COLLAPSE_NO_TABLE;
    const pt_entry *slot = &table->slot[pt_index(page, 1)];
    if (*slot == 0) return COLLAPSE_EMPTY;
    if (pt_present(*slot)) return COLLAPSE_MAPPED;
    const enum collapse_result decision = collapse_scan(process->system, pt_below(*slot)->slot, &counts);
    if (decision != COLLAPSE_DONE) return decision;
    return counts.swap > 0 ? COLLAPSE_SWAP_IN : collapse(process, table, slot, page, cpu, outcome);
}
