#include "lru/workingset.h"

// Encoding: age << 2 | was active << 1 | 1.
uint64_t workingset_eviction(struct lru *lru, uint32_t frame) {
    const uint64_t shadow = lru->nonresident_age << 2 | (lru_has(lru, frame, LRU_WORKINGSET) ? 3 : 1);
    lru->nonresident_age += lru_pages(lru, frame);
    return shadow;
}

static bool recent(const struct lru *lru, uint64_t shadow, bool file, bool free_swap) {
    uint64_t others = lru_counted(lru, LRU_ACTIVE_FILE);
    if (!file) others += lru_counted(lru, LRU_INACTIVE_FILE);
    if (free_swap) others += lru_counted(lru, LRU_ACTIVE_ANON) + (file ? lru_counted(lru, LRU_INACTIVE_ANON) : 0);
    return lru->nonresident_age - (shadow >> 2) <= others;
}

bool workingset_refault(struct lru *lru, uint32_t frame, uint64_t shadow, bool free_swap) {
    const bool file = lru_is_file(lru, frame);
    const uint64_t pages = lru_pages(lru, frame);
    lru->counts.workingset_refault[file] += pages;
    if (!recent(lru, shadow, file, free_swap)) return false;
    lru_set(lru, frame, LRU_ACTIVE);
    lru->nonresident_age += pages;
    lru_count_activate(lru, file, pages);
    if (!(shadow & 2)) return true;
    lru_set(lru, frame, LRU_WORKINGSET);
    lru_note_cost(lru, file, pages, 0);
    lru->counts.workingset_restore[file] += pages;
    return true;
}
