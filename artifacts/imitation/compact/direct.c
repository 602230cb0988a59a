// direct.c - who asks for compaction: requests, with deferral; kcompactd; the user (compact.h).
#include <stdlib.h>

#include "base/host.h"
#include "compact/run.h"
#include "phys/percpu.h"
#include "phys/watermarks.h"

enum { LONGEST_DEFERRAL = 6 };       // COMPACT_MAX_DEFER_SHIFT

const char *compact_result_name(int result) {
    static const char *const names[COMPACT_RESULTS] = {"not-suitable", "skipped", "deferred",  "continue",
                                                       "complete",     "partial", "contended", "success"};
    return result >= 0 && result < COMPACT_RESULTS ? names[result] : "?";
}

void compact_create(struct compact *compact, struct lru *lru) {
    *compact = (struct compact){.lru = lru};
    compact->skip = host_alloc(bitmap_words(lru->phys->frames.count >> PHYS_PAGEBLOCK_ORDER) * sizeof *compact->skip);
}

void compact_destroy(struct compact *compact) {
    free(compact->skip);
    *compact = (struct compact){0};
}

static bool deferred(struct compact_zone *state, unsigned order) {
    const uint32_t limit = UINT32_C(1) << state->defer_shift;
    if (order < state->order_failed) return false;
    if (++state->considered < limit) return true;
    state->considered = limit;
    return false;
}

static void defer(struct compact_zone *state, unsigned order) {
    state->considered = 0;
    if (state->defer_shift < LONGEST_DEFERRAL) ++state->defer_shift;
    if (order < state->order_failed) state->order_failed = order;
}

void compact_defer_reset(struct compact *compact, enum phys_zone zone, unsigned order, bool got) {
    struct compact_zone *state = &compact->zone[zone];
    if (got) state->considered = state->defer_shift = 0;
    if (order >= state->order_failed) state->order_failed = order + 1;
}

static void note(const struct compact *compact, int zone, unsigned order, enum compact_result result) {
    EVENTS_DECISION(&compact->lru->phys->events, "compact zone=%s order=%u result=%s", phys_zone_name(zone), order,
                    compact_result_name(result));
}

enum compact_result compact_direct(struct compact *compact, unsigned order, int type, enum compact_priority priority,
                                   enum phys_zone highest, unsigned rights, uint32_t cpu, uint32_t *captured) {
    struct phys *p = compact->lru->phys;
    enum compact_result all = COMPACT_SKIPPED;
    *captured = PHYS_NO_FRAME;
    for (int i = (int)highest; i >= 0; --i) {
        struct compact_zone *state = &compact->zone[i];
        if (p->zones[i].managed_frames == 0) continue;
        if (priority > COMPACT_FULL && deferred(state, order)) {
            if (all < COMPACT_DEFERRED) all = COMPACT_DEFERRED;
            continue;
        }
        struct run run = {.compact = compact,
                          .zone = &p->zones[i],
                          .state = state,
                          .cpu = cpu,
                          .order = order,
                          .type = type,
                          .search_order = (int)order,
                          .mode = priority == COMPACT_ASYNC ? COMPACT_MODE_ASYNC : COMPACT_MODE_LIGHT,
                          .highest = highest,
                          .rights = rights,
                          .direct = true,
                          .whole = priority == COMPACT_FULL,
                          .ignore_skip = priority == COMPACT_FULL,
                          .any_target = priority == COMPACT_FULL};
        const enum compact_result result = run_zone(&run, captured);
        note(compact, i, order, result);
        if (result > all) all = result;
        if (result == COMPACT_SUCCESS) {
            compact_defer_reset(compact, (enum phys_zone)i, order, false);
            break;
        }
        if (priority != COMPACT_ASYNC && (result == COMPACT_COMPLETE || result == COMPACT_PARTIAL)) defer(state, order);
    }
    return all;
}

/// compaction_suit_allocation_order for kcompactd: the zone has no block of the order, and a run could make one.
static bool worth(const struct compact *compact, const struct zone *zone, unsigned order, enum phys_zone highest) {
    if (!zone->populated) return false;
    if (watermark_ok(compact->lru->phys, zone, order, zone_mark(zone, PHYS_MARK_MIN), highest, PHYS_MARK_MIN)) return false;
    return compact_suitable(compact, zone, order, highest);
}

void compact_daemon(struct compact *compact, unsigned order, enum phys_zone highest, uint32_t cpu) {
    struct phys *p = compact->lru->phys;
    bool any = false;
    for (int i = 0; i <= (int)highest; ++i) any |= worth(compact, &p->zones[i], order, highest);
    if (!any) return;                                // kcompactd_node_suitable: it is not woken
    ++compact->counts.daemon_wake;
    for (int i = 0; i <= (int)highest; ++i) {
        struct compact_zone *state = &compact->zone[i];
        uint32_t captured;
        if (!p->zones[i].populated || deferred(state, order) || !worth(compact, &p->zones[i], order, (enum phys_zone)i)) continue;
        struct run run = {.compact = compact,
                          .zone = &p->zones[i],
                          .state = state,
                          .cpu = cpu,
                          .order = order,
                          .type = PHYS_UNMOVABLE,
                          .search_order = (int)order,
                          .mode = COMPACT_MODE_LIGHT,
                          .highest = highest,
                          .rights = PHYS_MARK_MIN};
        const enum compact_result result = run_zone(&run, &captured);
        if (result == COMPACT_SKIPPED) continue;
        note(compact, i, order, result);
        if (result == COMPACT_SUCCESS) {
            compact_defer_reset(compact, (enum phys_zone)i, order, false);
        } else if (result == COMPACT_PARTIAL || result == COMPACT_COMPLETE) {
            for (uint32_t other = 0; other < p->cpus; ++other) percpu_drain_zone(p, &p->zones[i], cpu, other);
            defer(state, order);
        }
    }
}

void compact_all(struct compact *compact, uint32_t cpu) {
    lru_drain_all(compact->lru);
    run_whole_zones(compact, COMPACT_MODE_SYNC, false, cpu);
}
