// node.c - rounds over all lists at one priority, and direct reclaim (reclaim.h).
#include "phys/watermarks.h"
#include "reclaim/scan.h"

void reclaim_create(struct reclaim *reclaim, struct lru *lru, struct swap *swap) {
    *reclaim = (struct reclaim){.lru = lru, .swap = swap, .swappiness = 60};
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t shrink_list(struct scan *scan, uint64_t pages, enum lru_list list) {
    const bool file = lru_list_is_file(list);
    if (list == LRU_INACTIVE_ANON || list == LRU_INACTIVE_FILE) return shrink_inactive(scan, pages, list);
    if (scan->may_deactivate[file]) shrink_active(scan, pages, list);
    else scan->skipped_deactivate = true;
    return 0;
}

/// The kind with less left ends; the other one goes on to the share of its target that this one has reached.
static bool in_proportion(uint64_t left[LRU_EVICTABLE_LISTS], const uint64_t target[LRU_EVICTABLE_LISTS]) {
    const uint64_t file = left[LRU_INACTIVE_FILE] + left[LRU_ACTIVE_FILE], anon = left[LRU_INACTIVE_ANON] + left[LRU_ACTIVE_ANON];
    if (file == 0 || anon == 0) return false;
    const int ends = file > anon ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE, other = LRU_FILE_STEP - ends;
    const uint64_t wanted = target[ends] + target[ends + 1] + 1, percent = (file > anon ? anon : file) * 100 / wanted;
    left[ends] = left[ends + 1] = 0;
    for (int list = other; list <= other + 1; ++list) {
        const uint64_t scanned = target[list] - left[list], all = target[list] * (100 - percent) / 100;
        left[list] = all - least(all, scanned);
    }
    return true;
}

/// shrink_lruvec.
static void shrink_lists(struct scan *scan) {
    const struct lru *lru = scan->reclaim->lru;
    uint64_t left[LRU_EVICTABLE_LISTS], target[LRU_EVICTABLE_LISTS], reclaimed = 0;
    const uint64_t wanted = scan->wanted;
    const bool proportional = !scan->kswapd && !scan->request && scan->priority == RECLAIM_PRIORITY;
    scan_counts(scan, left);
    for (int list = 0; list < LRU_EVICTABLE_LISTS; ++list) target[list] = left[list];
    while (left[LRU_INACTIVE_ANON] || left[LRU_ACTIVE_FILE] || left[LRU_INACTIVE_FILE]) {
        for (int list = 0; list < LRU_EVICTABLE_LISTS; ++list) {
            const uint64_t pages = least(left[list], RECLAIM_BATCH);
            left[list] -= pages;
            if (pages > 0) reclaimed += shrink_list(scan, pages, (enum lru_list)list);
        }
        if (reclaimed < wanted || proportional) continue;
        if (!in_proportion(left, target)) break;
    }
    scan->reclaimed += reclaimed;
    if (scan->reclaim->swap->slots > 0 && inactive_is_low(lru, LRU_INACTIVE_ANON)) shrink_active(scan, RECLAIM_BATCH, LRU_ACTIVE_ANON);
}

static bool for_compaction(const struct scan *scan) {
    return scan->order > 0 && (scan->order > PHYS_COSTLY_ORDER || scan->priority < RECLAIM_PRIORITY - 2);
}

static bool suitable(const struct scan *scan, const struct zone *zone) {
    const struct reclaim *reclaim = scan->reclaim;
    return reclaim->suitable && reclaim->suitable(reclaim->context, zone, scan->order, scan->highest);
}

/// should_continue_reclaim.
static bool go_on(const struct scan *scan, uint64_t reclaimed) {
    const struct lru *lru = scan->reclaim->lru;
    if (!for_compaction(scan) || reclaimed == 0) return false;
    for (int i = 0; i <= (int)scan->highest; ++i) {
        const struct zone *zone = &lru->phys->zones[i];
        if (zone->managed_frames == 0) continue;
        if (watermark_ok(lru->phys, zone, scan->order, zone_mark(zone, PHYS_MARK_MIN), scan->highest, 0)) return false;
        if (suitable(scan, zone)) return false;
    }
    const uint64_t anon = scan->reclaim->swap->free > 0 ? lru_node_counted(lru, LRU_INACTIVE_ANON) : 0;
    return lru_node_counted(lru, LRU_INACTIVE_FILE) + anon > compact_gap(scan->order);
}

void shrink_node(struct scan *scan) {
    struct reclaim *reclaim = scan->reclaim;
    bool any = false;
    uint64_t before;
    do {
        scan->round.dirty = scan->round.unqueued_dirty = scan->round.congested = scan->round.writeback = 0;
        scan->round.immediate = scan->round.taken = scan->round.file_taken = 0;
        before = scan->reclaimed;
        scan_balance(scan);
        shrink_lists(scan);
        any |= scan->reclaimed > before;
        if (!scan->kswapd) continue;
        if (scan->round.writeback > 0 && scan->round.writeback == scan->round.taken) reclaim->node_writeback = true;
        if (scan->round.unqueued_dirty == scan->round.file_taken) reclaim->node_dirty = true;
    } while (go_on(scan, scan->reclaimed - before));
    if (any) reclaim->kswapd_failures = 0;
    else if (scan->cache_trim) scan->cache_trim_failed = true;
}

/// compaction_ready.
static bool ready(const struct scan *scan, const struct zone *zone) {
    const struct phys *p = scan->reclaim->lru->phys;
    if (watermark_ok(p, zone, scan->order, zone_mark(zone, PHYS_MARK_MIN), scan->highest, 0)) return true;
    if (!suitable(scan, zone)) return false;
    return watermark_ok(p, zone, 0, zone_mark(zone, PHYS_MARK_HIGH) + (int64_t)compact_gap(scan->order), scan->highest, 0);
}

/// shrink_zones: with one node, it is shrunk if one zone needs it.
static void shrink_zones(struct scan *scan) {
    bool shrunk = false;
    for (int i = (int)scan->highest; i >= 0; --i) {
        const struct zone *zone = &scan->reclaim->lru->phys->zones[i];
        if (zone->managed_frames == 0) continue;
        if (scan->order > PHYS_COSTLY_ORDER && ready(scan, zone)) {
            scan->compaction_ready = true;
            continue;
        }
        if (!shrunk) shrink_node(scan);
        shrunk = true;
    }
}

static void priorities(struct scan *scan) {
    if (!scan->request) ++scan->reclaim->counts.allocstall;
    for (scan->priority = RECLAIM_PRIORITY; scan->priority >= 0; --scan->priority) {
        scan->scanned = 0;
        shrink_zones(scan);
        if (scan->reclaimed >= scan->wanted || scan->compaction_ready) break;
    }
    for (int file = 0; file < 2; ++file) scan->reclaim->refaults[file] = lru_activate_counted(scan->reclaim->lru, file);
}

/// do_try_to_free_pages.
static uint64_t try_to_free(struct scan *scan) {
    priorities(scan);
    // Linux walks the memory cgroups once more, all of them this time; with only the root, that is the same again.
    if (scan->reclaimed == 0 && !scan->compaction_ready && !scan->request) priorities(scan);
    if (scan->reclaimed == 0 && !scan->compaction_ready && scan->skipped_deactivate) {
        scan->force_deactivate = true;
        scan->skipped_deactivate = false;
        priorities(scan);
    }
    if (scan->reclaimed > 0) return scan->reclaimed;
    return scan->compaction_ready ? 1 : 0;
}

uint64_t reclaim_direct(struct reclaim *reclaim, unsigned order, enum phys_zone highest, uint32_t cpu) {
    struct scan scan = {
        .reclaim = reclaim, .cpu = cpu, .order = order, .highest = highest, .may_write = true, .may_swap = true, .wanted = RECLAIM_BATCH};
    return try_to_free(&scan);
}

uint64_t reclaim_request(struct reclaim *reclaim, uint64_t pages, uint32_t cpu) {
    uint64_t reclaimed = 0;
    for (int left = RECLAIM_RETRIES; reclaimed < pages;) {
        const uint64_t part = (pages - reclaimed) / 4;
        struct scan scan = {.reclaim = reclaim,
                            .cpu = cpu,
                            .highest = PHYS_NORMAL,
                            .may_write = true,
                            .may_swap = true,
                            .request = true,
                            .wanted = part > RECLAIM_BATCH ? part : RECLAIM_BATCH};
        if (left == 0) lru_drain_all(reclaim->lru);
        const uint64_t got = try_to_free(&scan);
        if (got == 0 && left-- == 0) break;
        reclaimed += got;
    }
    return reclaimed;
}

uint64_t reclaim_possible(const struct reclaim *reclaim, enum phys_zone zone) {
    const uint64_t *size = reclaim->lru->zone_size[zone];
    uint64_t frames = size[LRU_INACTIVE_FILE] + size[LRU_ACTIVE_FILE];
    if (reclaim->swap->free > 0) frames += size[LRU_INACTIVE_ANON] + size[LRU_ACTIVE_ANON];
    if (frames > 0) return frames;
    const int64_t free = phys_zone_free(reclaim->lru->phys, zone);
    return free > 0 ? (uint64_t)free : 0;
}
