// balance.c - anonymous pages or file pages (reclaim.h).
#include "reclaim/scan.h"

static uint64_t root_of(uint64_t value) {
    uint64_t root = 0;
    while ((root + 1) * (root + 1) <= value) ++root;
    return root;
}

bool inactive_is_low(const struct lru *lru, enum lru_list inactive) {
    const uint64_t is = lru_counted(lru, inactive), active = lru_counted(lru, inactive + LRU_ACTIVE_STEP);
    const uint64_t gb = (is + active) >> (30 - 12);
    return is * (gb > 0 ? root_of(10 * gb) : 1) < active;
}

static bool free_swap(const struct scan *scan) { return scan->reclaim->swap->free > 0; }

static bool deactivates(const struct scan *scan, bool file) {
    const struct lru *lru = scan->reclaim->lru;
    return lru_activate_counted(lru, file) != scan->reclaim->refaults[file] ||
           inactive_is_low(lru, file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON);
}

void scan_balance(struct scan *scan) {
    const struct lru *lru = scan->reclaim->lru;
    const struct phys *p = lru->phys;
    int64_t free = 0, high = 0;
    scan->anon_cost = lru->anon_cost;
    scan->file_cost = lru->file_cost;
    for (int file = 0; file < 2; ++file) scan->may_deactivate[file] = scan->force_deactivate || deactivates(scan, file);
    scan->cache_trim = lru_counted(lru, LRU_INACTIVE_FILE) >> scan->priority > 0 && !scan->may_deactivate[1] && !scan->no_cache_trim;
    for (int i = 0; i < PHYS_ZONES; ++i) {
        free += p->zones[i].free_frames;
        if (p->zones[i].managed_frames > 0) high += zone_mark(&p->zones[i], PHYS_MARK_HIGH);
    }
    const int64_t files = (int64_t)(lru_node_counted(lru, LRU_INACTIVE_FILE) + lru_node_counted(lru, LRU_ACTIVE_FILE));
    scan->file_is_tiny = !scan->request && files + free <= high && !scan->may_deactivate[0] &&
                         lru_node_counted(lru, LRU_INACTIVE_ANON) >> scan->priority > 0;
}

void scan_counts(const struct scan *scan, uint64_t counts[LRU_EVICTABLE_LISTS]) {
    const uint64_t swappiness = scan->reclaim->swappiness, both = scan->anon_cost + scan->file_cost;
    const uint64_t anon_cost = both + scan->anon_cost, file_cost = both + scan->file_cost, all = anon_cost + file_cost;
    const uint64_t share[2] = {swappiness * (all + 1) / (anon_cost + 1), (200 - swappiness) * (all + 1) / (file_cost + 1)};
    enum { FRACTION, EQUAL, ONLY_ANON, ONLY_FILE } balance = FRACTION;
    if (!scan->may_swap || !free_swap(scan)) balance = ONLY_FILE;
    else if (scan->priority == 0 && swappiness > 0) balance = EQUAL;
    else if (scan->file_is_tiny) balance = ONLY_ANON;
    else if (scan->cache_trim) balance = ONLY_FILE;
    for (int list = 0; list < LRU_EVICTABLE_LISTS; ++list) {
        const bool file = lru_list_is_file(list);
        uint64_t size = 0;
        for (int zone = 0; zone <= (int)scan->highest; ++zone)
            size += lru_zone_counted(scan->reclaim->lru, (unsigned)zone, (enum lru_list)list);
        counts[list] = size >> scan->priority;
        if (balance == FRACTION) counts[list] = counts[list] * share[file] / (share[0] + share[1]);
        if ((balance == ONLY_FILE && !file) || (balance == ONLY_ANON && file)) counts[list] = 0;
    }
}
