// kswapd.c - reclaim in the background (reclaim.h).
#include "phys/watermarks.h"
#include "reclaim/scan.h"

void kswapd_wake(struct reclaim *reclaim, unsigned order, enum phys_zone highest) {
    if (!reclaim->kswapd_asked || reclaim->kswapd_zone < (uint32_t)highest) reclaim->kswapd_zone = highest;
    if (!reclaim->kswapd_asked || reclaim->kswapd_order < order) reclaim->kswapd_order = order;
    reclaim->kswapd_asked = true;
}

/// pgdat_balanced: one zone with its high mark is enough. Free frames: zone_watermark_ok_safe.
static bool balanced(const struct phys *p, unsigned order, uint32_t highest) {
    bool any = false;
    for (uint32_t i = 0; i <= highest; ++i) {
        struct zone zone = p->zones[i];
        if (zone.managed_frames == 0) continue;
        any = true;
        zone.free_frames = watermark_free_for_kswapd(p, &p->zones[i]);
        if (watermark_ok(p, &zone, order, zone_mark(&zone, PHYS_MARK_HIGH), (enum phys_zone)highest, 0)) return true;
    }
    return !any;
}

static uint64_t boosts(const struct phys *p, uint32_t highest) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= highest; ++i) sum += p->zones[i].boost;
    return sum;
}

bool kswapd_boosted(const struct reclaim *reclaim, enum phys_zone highest) { return boosts(reclaim->lru->phys, highest) > 0; }

bool kswapd_may_sleep(const struct reclaim *reclaim, enum phys_zone highest) {
    return reclaim->kswapd_failures >= RECLAIM_RETRIES || balanced(reclaim->lru->phys, 0, highest);
}

bool kswapd_needed(const struct reclaim *reclaim) {
    const struct phys *p = reclaim->lru->phys;
    if (!reclaim->kswapd_asked || reclaim->kswapd_failures >= RECLAIM_RETRIES) return false;
    return !balanced(p, reclaim->kswapd_order, reclaim->kswapd_zone) || boosts(p, reclaim->kswapd_zone) > 0;
}

/// kswapd_shrink_node. True if as much was scanned as was to be reclaimed.
static bool shrink(struct scan *scan) {
    const struct phys *p = scan->reclaim->lru->phys;
    const uint64_t before = scan->reclaimed;
    scan->wanted = 0;
    for (uint32_t i = 0; i <= (uint32_t)scan->highest; ++i) {
        const int64_t high = zone_mark(&p->zones[i], PHYS_MARK_HIGH);
        if (p->zones[i].managed_frames > 0) scan->wanted += high > RECLAIM_BATCH ? (uint64_t)high : RECLAIM_BATCH;
    }
    shrink_node(scan);
    if (scan->order > 0 && scan->reclaimed >= compact_gap(scan->order)) scan->order = 0;
    return scan->scanned >= scan->wanted || scan->reclaimed - before >= scan->wanted;
}

/// The loop over priorities. *boost: frames of boosts that are still to be reclaimed. True: it found the zones balanced.
static bool lower_priorities(struct scan *scan, uint64_t *boost) {
    struct reclaim *reclaim = scan->reclaim;
    const struct phys *p = reclaim->lru->phys;
    scan->priority = RECLAIM_PRIORITY;
    while (scan->priority >= 1) {
        const uint64_t before = scan->reclaimed;
        const bool is_balanced = balanced(p, scan->order, scan->highest);
        if (!is_balanced && *boost > 0) {
            *boost = 0;
            scan->priority = RECLAIM_PRIORITY;
            continue;
        }
        if (*boost == 0 && is_balanced) return true;
        bool raise = !(*boost > 0 && scan->priority == RECLAIM_PRIORITY - 2);
        scan->may_write = *boost == 0 || scan->priority < RECLAIM_PRIORITY - 2;
        scan->may_swap = *boost == 0;
        if (reclaim->swap->slots > 0 && inactive_is_low(reclaim->lru, LRU_INACTIVE_ANON))
            shrink_active(scan, RECLAIM_BATCH, LRU_ACTIVE_ANON);
        scan->scanned = 0;
        if (shrink(scan)) raise = false;
        const uint64_t got = scan->reclaimed - before;
        *boost -= *boost < got ? *boost : got;
        if (*boost > 0 && got == 0) return false;
        if (raise || got == 0) --scan->priority;
    }
    return false;
}

static void set_active(struct phys *p, uint32_t highest) {
    for (uint32_t i = 0; i <= highest; ++i)
        if (p->zones[i].managed_frames > 0) p->zones[i].reclaim_active = true;
}

uint64_t kswapd_pass(struct reclaim *reclaim, uint32_t cpu) {
    struct phys *p = reclaim->lru->phys;
    const enum phys_zone highest = reclaim->kswapd_asked ? (enum phys_zone)reclaim->kswapd_zone : PHYS_NORMAL;
    struct scan scan = {
        .reclaim = reclaim, .cpu = cpu, .order = reclaim->kswapd_asked ? reclaim->kswapd_order : 0, .highest = highest, .kswapd = true};
    uint64_t boost = boosts(p, highest);
    reclaim->kswapd_asked = false;
    ++reclaim->counts.pageoutrun;
    watermark_set_pressure(p, true);
    set_active(p, highest);
    bool found_balanced = lower_priorities(&scan, &boost);
    if (!found_balanced && scan.reclaimed == 0 && scan.priority < 1 && !scan.no_cache_trim && scan.cache_trim_failed) {
        scan.no_cache_trim = true;
        found_balanced = lower_priorities(&scan, &boost);
    }
    if (!found_balanced && scan.reclaimed == 0) ++reclaim->kswapd_failures;
    reclaim->kswapd_stopped = scan.order;
    watermark_kswapd_pass(p, highest, cpu);
    const bool gave_up = reclaim->kswapd_failures >= RECLAIM_RETRIES;
    reclaim->kswapd_sleeps = kswapd_may_sleep(reclaim, highest);
    if (reclaim->kswapd_sleeps && !gave_up) reclaim->node_writeback = reclaim->node_dirty = false;      // clear_pgdat_congested
    if (reclaim->kswapd_sleeps) watermark_set_pressure(p, false);
    for (int file = 0; file < 2; ++file) reclaim->refaults[file] = lru_activate_counted(reclaim->lru, file);
    return scan.reclaimed;
}
