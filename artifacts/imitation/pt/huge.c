#include "pt/huge.h"

void pt_split(struct pt *pt, struct pt_table *table, pt_entry *slot) {
    const pt_entry huge = *slot;
    const unsigned bits = (unsigned)huge & (PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY | PT_ZERO | PT_SHARED);
    struct pt_table *small = pt_new_table(pt_withdraw_frame(pt, table));
    ++pt->tables[0];
    for (uint32_t i = 0; i < PT_SLOTS; ++i) small->slot[i] = pt_make(huge & PT_ZERO ? 0 : pt_value(huge) + i, bits);
    *slot = pt_to_table(small);
}

void pt_collapse(struct pt *pt, struct pt_table *table, pt_entry *slot, pt_entry huge) {
    struct pt_table *small = pt_below(*slot);
    --pt->tables[0];
    pt_deposit_frame(pt, table, small->frame);
    pt_forget_table(small);
    *slot = huge;
}
