// zone.c - one run over a zone: when it starts and when it ends (compact.h).
#include <stdlib.h>

#include "compact/run.h"
#include "phys/alloc.h"
#include "phys/freelist.h"
#include "phys/indices.h"
#include "phys/percpu.h"
#include "phys/watermarks.h"

bool compact_marks(const struct phys *p, const struct zone *zone, unsigned order, enum phys_zone highest, int64_t free) {
    struct zone wish = *zone;
    const int64_t mark = zone_mark(zone, order > PHYS_COSTLY_ORDER ? PHYS_MARK_LOW : PHYS_MARK_MIN) + (INT64_C(2) << order);
    wish.free_frames = free;
    return watermark_ok(p, &wish, 0, mark, highest, 0);
}

bool compact_suitable(const struct compact *compact, const struct zone *zone, unsigned order, enum phys_zone highest) {
    if (!compact_marks(compact->lru->phys, zone, order, highest, zone->free_frames)) return false;
    if (order <= PHYS_COSTLY_ORDER) return true;
    const int index = extfrag_index(zone, order);
    return index < 0 || index > 500;
}

static void reset_positions(const struct run *run) {
    run->state->migrate[0] = run->state->migrate[1] = run->zone->start_frame;
    run->state->free = block_start(zone_end(run->zone) - 1, PHYS_PAGEBLOCK_ORDER);
}

/// Score of a zone in percent (extfrag_for_order).
static uint32_t score(const struct zone *zone) {
    uint64_t frames = 0, suitable = 0;
    for (unsigned order = 0; order < PHYS_ORDERS; ++order) {
        frames += (uint64_t)zone->blocks[order] << order;
        if (order >= PHYS_PAGEBLOCK_ORDER) suitable += (uint64_t)zone->blocks[order] << order;
    }
    return frames == 0 ? 0 : (uint32_t)((frames - suitable) * 100 / frames);
}

/// A free block of the order or more, of the type or of one that the type could take over (find_suitable_fallback).
static bool has_block(const struct run *run) {
    const struct phys *p = run->compact->lru->phys;
    for (unsigned order = run->order; order < PHYS_ORDERS; ++order) {
        if (!free_list_empty(p, run->zone, order, run->type)) return true;
        const bool takes_over = order >= PHYS_PAGEBLOCK_ORDER / 2 || run->type != PHYS_MOVABLE;
        for (int type = 0; takes_over && type < PHYS_REQUEST_TYPES; ++type)
            if (type != run->type && !free_list_empty(p, run->zone, order, type)) return true;
    }
    return false;
}

/// compact_finished; COMPACT_CONTINUE: go on.
static enum compact_result finished(const struct run *run) {
    if (run->free_at >> PHYS_PAGEBLOCK_ORDER <= run->migrate_at >> PHYS_PAGEBLOCK_ORDER) {
        reset_positions(run);
        if (run->direct) run->state->flush = true;
        return run->whole ? COMPACT_COMPLETE : COMPACT_PARTIAL;
    }
    if (run->proactive) return score(run->zone) > 80 ? COMPACT_CONTINUE : COMPACT_SUCCESS;
    if (run->order == COMPACT_NO_ORDER || run->migrate_at % PHYS_PAGEBLOCK_FRAMES != 0) return COMPACT_CONTINUE;
    return has_block(run) ? COMPACT_SUCCESS : COMPACT_CONTINUE;
}

/// A pageblock with pages to move (source) or free frames (target) may be looked at again (__reset_isolation_pfn).
static bool clear_skip(struct compact *compact, const struct zone *zone, uint32_t frame, bool source, bool target) {
    const struct frames *frames = &compact->lru->phys->frames;
    if (!bitmap_get(frames->present, frame)) return false;
    const uint32_t block = frame >> PHYS_PAGEBLOCK_ORDER, head = frames_block_of(frames, frame);
    if (head != PHYS_NO_FRAME && frame_kind(frames, head) == FRAME_USED && frame_order(frames, head) >= PHYS_PAGEBLOCK_ORDER) return false;
    if (source && target && !bitmap_get(compact->skip, block)) return true;
    if (!source && target && frame_block_type(frames, frame) != PHYS_MOVABLE) return false;
    const uint32_t start = larger(block_start(frame, PHYS_PAGEBLOCK_ORDER), zone->start_frame);
    const uint32_t last = smaller(block_end(frame, PHYS_PAGEBLOCK_ORDER), zone_end(zone)) - 1;
    for (uint32_t at = start; at <= last; at += 1 << PHYS_COSTLY_ORDER) {
        if (!(source && bitmap_get(frames->lru, at)) && !(target && frame_kind(frames, at) == FRAME_FREE)) continue;
        bitmap_clear(compact->skip, block, 1);
        return true;
    }
    return false;
}

/// __reset_isolation_suitable.
static void reset_skip(struct compact *compact, const struct zone *zone) {
    struct compact_zone *state = &compact->zone[zone->id];
    uint32_t low = zone->start_frame, high = zone_end(zone) - 1, best_low = high, best_high = low;
    bool source = false, target = false;
    if (!state->flush) return;
    state->flush = false;
    for (; low < high; low += PHYS_PAGEBLOCK_FRAMES, high -= PHYS_PAGEBLOCK_FRAMES) {
        if (clear_skip(compact, zone, low, true, source) && low < best_low) {
            source = true;
            best_low = state->first_migrate = state->migrate[0] = state->migrate[1] = low;
        }
        if (clear_skip(compact, zone, high, target, true) && high > best_high) {
            target = true;
            best_high = state->first_free = state->free = high;
        }
        if (high < PHYS_PAGEBLOCK_FRAMES) break;
    }
    if (best_low < best_high) return;
    state->migrate[0] = state->migrate[1] = low;
    state->free = high;
}

void compact_reset_skip(struct compact *compact) {
    for (int i = 0; i < PHYS_ZONES; ++i)
        if (compact->lru->phys->zones[i].populated) reset_skip(compact, &compact->lru->phys->zones[i]);
}

/// compaction_restarting.
static bool restarts(const struct run *run) {
    const struct compact_zone *state = run->state;
    return run->order >= state->order_failed && state->defer_shift == 6 && state->considered >= UINT32_C(1) << 6;
}

static void place_scanners(struct run *run) {
    struct compact_zone *state = run->state;
    const uint32_t start = run->zone->start_frame, end = zone_end(run->zone);
    if (run->whole) {
        run->migrate_at = start;
        run->free_at = block_start(end - 1, PHYS_PAGEBLOCK_ORDER);
        return;
    }
    run->migrate_at = state->migrate[run->mode != COMPACT_MODE_ASYNC];
    run->free_at = state->free;
    if (run->free_at < start || run->free_at >= end) state->free = run->free_at = block_start(end - 1, PHYS_PAGEBLOCK_ORDER);
    if (run->migrate_at < start || run->migrate_at >= end) state->migrate[0] = state->migrate[1] = run->migrate_at = start;
    if (run->migrate_at <= state->first_migrate) run->whole = true;
}

/// release_free_list: what was isolated and not used goes back. The free scanner may go on from there.
static void give_back(struct run *run) {
    struct phys *p = run->compact->lru->phys;
    uint32_t highest = 0;
    struct error error;
    const bool any = run->free_frames > 0;
    for (unsigned order = 0; order < PHYS_ORDERS; ++order) {
        for (size_t i = 0; i < run->free_count[order]; ++i) {
            const uint32_t frame = run->free_block[order][run->free_first[order] + i];
            highest = larger(highest, frame);
            if (!phys_free(p, frame, order, run->cpu, &error)) error_stop(&error);
        }
        free(run->free_block[order]);
    }
    if (any) run->state->free = larger(run->state->free, block_start(highest, PHYS_PAGEBLOCK_ORDER));
}

/// The request has its block.
static bool captured_block(const struct run *run) { return run->direct && run->compact->lru->phys->capture.frame != PHYS_NO_FRAME; }

/// The pages of one step. *last: start of the pageblock whose pages moved last. COMPACT_CONTENDED: the run is out of frames.
/// COMPACT_SUCCESS: a block was captured before the end of the step. What the drain at its end frees counts at the end of the next
/// step that moves pages: Linux looks for a captured block between the migration and the drain only.
static enum compact_result step(struct run *run, uint32_t *last, bool *update) {
    struct lru *lru = run->compact->lru;
    bool moved = false;
    // *last is 0 as long as no page moved: frames below 512 then look as if some had.
    run->finish_block = block_start(*last, PHYS_PAGEBLOCK_ORDER) == block_start(run->migrate_at, PHYS_PAGEBLOCK_ORDER);
    for (;;) {
        bool no_frames;
        if (!run_isolate(run)) {
            if (*update) run->state->migrate[1] = run->state->migrate[0];
            moved = false;
            break;
        }
        *update = false;
        moved = true;
        *last = larger(run->zone->start_frame, block_start(run->migrate_at - 1, PHYS_PAGEBLOCK_ORDER));
        if (run_migrate(run, &no_frames)) break;
        if (no_frames && run->free_at >> PHYS_PAGEBLOCK_ORDER > run->migrate_at >> PHYS_PAGEBLOCK_ORDER) return COMPACT_CONTENDED;
        const bool inside = run->migrate_at % PHYS_PAGEBLOCK_FRAMES != 0;
        if (!inside || run->ignore_skip || run->finish_block || run->mode == COMPACT_MODE_SYNC) break;
        run->finish_block = true;
        if (run->order == PHYS_PAGEBLOCK_ORDER) *last = 0;
    }
    if (moved && captured_block(run)) return COMPACT_SUCCESS;
    if (run->order == 0 || run->order == COMPACT_NO_ORDER || *last == 0) return COMPACT_CONTINUE;
    if (*last >= block_start(run->migrate_at, run->order)) return COMPACT_CONTINUE;
    lru_drain(lru, run->cpu);
    percpu_drain_zone(lru->phys, run->zone, run->cpu, run->cpu);
    *last = 0;
    return COMPACT_CONTINUE;
}

enum compact_result run_zone(struct run *run, uint32_t *captured) {
    struct lru *lru = run->compact->lru;
    struct phys *p = lru->phys;
    enum compact_result result;
    uint32_t last = 0;
    *captured = PHYS_NO_FRAME;
    if (run->order != COMPACT_NO_ORDER) {
        const enum phys_mark mark = (enum phys_mark)(run->rights & PHYS_MARK_MASK);
        if (watermark_ok(p, run->zone, run->order, zone_mark(run->zone, mark), run->highest, run->rights)) return COMPACT_SUCCESS;
        if (!compact_suitable(run->compact, run->zone, run->order, run->highest)) return COMPACT_SKIPPED;
        if (restarts(run)) reset_skip(run->compact, run->zone);
    }
    place_scanners(run);
    bool update = run->mode == COMPACT_MODE_ASYNC && run->state->migrate[0] == run->state->migrate[1];
    lru_drain(lru, run->cpu);
    if (run->direct) p->capture = (struct phys_capture){true, run->zone->id, (uint8_t)run->order, (uint8_t)run->type, PHYS_NO_FRAME};
    while ((result = finished(run)) == COMPACT_CONTINUE)
        if ((result = step(run, &last, &update)) != COMPACT_CONTINUE) break;
    give_back(run);
    if (!run->direct) return result;
    *captured = p->capture.frame;
    p->capture = (struct phys_capture){.frame = PHYS_NO_FRAME};
    return *captured != PHYS_NO_FRAME ? COMPACT_SUCCESS : result;
}

void run_whole_zones(struct compact *compact, enum compact_mode mode, bool proactive, uint32_t cpu) {
    for (int i = 0; i < PHYS_ZONES; ++i) {
        uint32_t captured;
        struct run run = {.compact = compact,
                          .zone = &compact->lru->phys->zones[i],
                          .state = &compact->zone[i],
                          .cpu = cpu,
                          .order = COMPACT_NO_ORDER,
                          .type = PHYS_UNMOVABLE,
                          .mode = mode,
                          .highest = PHYS_NORMAL,
                          .whole = true,
                          .ignore_skip = true,
                          .proactive = proactive};
        if (run.zone->populated) run_zone(&run, &captured);
    }
}

bool compact_proactive(struct compact *compact, uint32_t cpu) {
    struct phys *p = compact->lru->phys;
    uint64_t present = 0, node = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) present += p->zones[i].present_frames;
    for (int i = 0; i < PHYS_ZONES; ++i)
        if (p->zones[i].populated) node += (uint64_t)p->zones[i].present_frames * score(&p->zones[i]) / (present + 1);
    if (node <= 90) return false;
    run_whole_zones(compact, COMPACT_MODE_LIGHT, true, cpu);
    return true;
}
