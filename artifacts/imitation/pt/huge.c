#include "pt/huge.h"

void pt_split(struct pt *pt, struct pt_table *table, const pt_entry *slot, uint64_t page, enum pt_cause cause) {
    const pt_entry huge = *slot;
    const unsigned bits = (unsigned)huge & (PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY | PT_ZERO | PT_SHARED);
    struct pt_table *small = pt_new_table(pt_withdraw_frame(pt, table));
    ++pt->tables[0];
    pt_entry *fresh = (pt_entry *)(uintptr_t)small->slot;      // not in place yet
    for (uint32_t i = 0; i < PT_SLOTS; ++i) fresh[i] = pt_make(huge & PT_ZERO ? 0 : pt_value(huge) + i, bits);
    pt_write(pt, slot, page, 1, pt_to_table(small), cause);
}

void pt_collapse(struct pt *pt, struct pt_table *table, const pt_entry *slot, uint64_t page, pt_entry huge) {
    struct pt_table *small = pt_below(*slot);
    --pt->tables[0];
    pt_deposit_frame(pt, table, small->frame);
    pt_write(pt, slot, page, 1, huge, PT_BY_COLLAPSE);
    pt_forget_table(small);
}
