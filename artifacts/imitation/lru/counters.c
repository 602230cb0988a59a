// counters.c - sizes of the LRU lists, as the kernel's counters have them: behind the lists by what each CPU keeps to itself, or by what
// memory cgroups have not folded yet (lru.h).
#include "lru/counters.h"

#include <stdlib.h>

#include "base/host.h"
#include "phys/percpu_limits.h"

void lru_counters_create(struct lru *lru) {
    const struct phys *p = lru->phys;
    lru->drift = host_alloc(p->cpus * sizeof *lru->drift);
    for (int zone = 0; zone < PHYS_ZONES; ++zone) {
        if (!p->zones[zone].populated) continue;
        const int32_t threshold = percpu_drift_threshold(p->cpus, p->zones[zone].managed_frames);
        if (threshold > lru->drift_threshold) lru->drift_threshold = threshold;
    }
}

/// __mod_node_page_state, __mod_zone_page_state: what exceeds the threshold goes into the counter, all of it.
static inline int8_t changed(int8_t drift, int64_t change, int32_t threshold) {
    const int64_t all = drift + change;
    return all > threshold || all < -threshold ? 0 : (int8_t)all;
}

void lru_count(struct lru *lru, enum lru_list list, unsigned zone, int64_t pages) {
    const struct phys *p = lru->phys;
    struct lru_drift *drift = &lru->drift[p->cpu];
    lru->size[list] += (uint64_t)pages;
    lru->zone_size[zone][list] += (uint64_t)pages;
    drift->node[list] = changed(drift->node[list], pages, lru->drift_threshold);
    drift->zone[zone][list] = changed(drift->zone[zone][list], pages, p->zones[zone].percpu[p->cpu].drift_threshold);
}

void lru_count_activate(struct lru *lru, bool file, uint64_t pages) {
    int8_t *drift = &lru->drift[lru->phys->cpu].activate[file];
    lru->counts.workingset_activate[file] += pages;
    *drift = changed(*drift, (int64_t)pages, lru->drift_threshold);
}

uint64_t lru_node_counted(const struct lru *lru, enum lru_list list) {
    int64_t counted = (int64_t)lru->size[list];
    for (uint32_t cpu = 0; cpu < lru->phys->cpus; ++cpu) counted -= lru->drift[cpu].node[list];
    return counted > 0 ? (uint64_t)counted : 0;
}

uint64_t lru_counted(const struct lru *lru, enum lru_list list) {
    return lru->has_flushed ? lru->flushed_size[list] : lru_node_counted(lru, list);
}

uint64_t lru_zone_counted(const struct lru *lru, unsigned zone, enum lru_list list) {
    int64_t counted = (int64_t)lru->zone_size[zone][list];
    for (uint32_t cpu = 0; !lru->has_flushed && cpu < lru->phys->cpus; ++cpu) counted -= lru->drift[cpu].zone[zone][list];
    return counted > 0 ? (uint64_t)counted : 0;
}

uint64_t lru_activate_counted(const struct lru *lru, bool file) {
    if (lru->has_flushed) return lru->flushed_activate[file];
    uint64_t counted = lru->counts.workingset_activate[file];
    for (uint32_t cpu = 0; cpu < lru->phys->cpus; ++cpu) counted -= (uint64_t)(int64_t)lru->drift[cpu].activate[file];
    return counted;
}

void lru_fold(struct lru *lru, uint32_t cpu) { lru->drift[cpu] = (struct lru_drift){0}; }

void lru_flush(struct lru *lru) {
    lru->has_flushed = true;
    for (int list = 0; list < LRU_LISTS; ++list) lru->flushed_size[list] = lru->size[list];
    for (int file = 0; file < 2; ++file) lru->flushed_activate[file] = lru->counts.workingset_activate[file];
}
