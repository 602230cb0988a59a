// target.c - the free scanner: where pages move to (compact.h).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "compact/run.h"
#include "phys/freelist.h"
#include "phys/watermarks.h"

void run_keep_free(struct run *run, uint32_t frame, unsigned order, bool first) {
    const size_t used = run->free_first[order] + run->free_count[order];
    if (first && run->free_first[order] > 0) {
        run->free_block[order][--run->free_first[order]] = frame;
    } else {
        run->free_block[order] = host_grow(run->free_block[order], &run->free_room[order], used + 1, sizeof **run->free_block);
        uint32_t *block = run->free_block[order] + run->free_first[order];
        if (first) memmove(block + 1, block, run->free_count[order] * sizeof *block);
        block[first ? 0 : run->free_count[order]] = frame;
    }
    ++run->free_count[order];
    run->free_frames += UINT32_C(1) << order;
}

static uint32_t pop(struct run *run, unsigned order) {
    run->free_frames -= UINT32_C(1) << order;
    if (--run->free_count[order] > 0) return run->free_block[order][run->free_first[order]++];
    const uint32_t frame = run->free_block[order][run->free_first[order]];
    run->free_first[order] = 0;
    return frame;
}

/// __isolate_free_page: off its free list. False: the zone would be below its min mark.
static bool take_block(struct run *run, uint32_t frame, unsigned order) {
    struct phys *p = run->compact->lru->phys;
    struct zone *zone = run->zone;
    const int type = frame_block_type(&p->frames, frame);
    const int64_t mark = zone->marks[PHYS_MARK_MIN] + (INT64_C(1) << order);
    if (!watermark_ok(p, zone, 0, mark, PHYS_DMA, 0)) return false;
    p->cpu = run->cpu;
    PHYS_REPORT(p, .kind = PHYS_TAKE, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type, .other = order);
    free_list_remove(p, zone, frame, order);
    free_count_add(p, zone, -(1 << order), type);
    frame_set(&p->frames, frame, FRAME_USED, order);
    if (order >= PHYS_PAGEBLOCK_ORDER && type != PHYS_HIGHATOMIC) frame_set_block_types(&p->frames, frame, order, PHYS_MOVABLE);
    // Half a pageblock: it becomes movable, and its other free blocks go to the tails of their lists, even if it was movable before.
    const uint32_t start = block_start(frame, PHYS_PAGEBLOCK_ORDER), end = start + PHYS_PAGEBLOCK_FRAMES;
    if (order == PHYS_PAGEBLOCK_ORDER - 1 && type != PHYS_HIGHATOMIC && start >= zone->start_frame && end <= zone_end(zone)) {
        for (uint32_t at = start; at < end;
             at += frame_kind(&p->frames, at) == FRAME_INSIDE ? 1 : UINT32_C(1) << frame_order(&p->frames, at))
            if (frame_kind(&p->frames, at) == FRAME_FREE) free_list_move(p, zone, at, frame_order(&p->frames, at), type, PHYS_MOVABLE);
        frame_set_block_types(&p->frames, frame, PHYS_PAGEBLOCK_ORDER, PHYS_MOVABLE);
    }
    run_keep_free(run, frame, order, false);
    run->compact->counts.isolated += UINT32_C(1) << order;
    return true;
}

/// isolate_freepages_block. Returns frames isolated; *start is where the scan ended.
static uint32_t scan_block(struct run *run, uint32_t *start, uint32_t end, uint32_t stride) {
    const struct frames *frames = &run->compact->lru->phys->frames;
    uint32_t total = 0, at = *start;
    for (; at < end; at += stride) {
        const unsigned order = frame_order(frames, at);
        const int kind = frame_kind(frames, at);
        ++run->compact->counts.free_scanned;
        if (kind == FRAME_USED && order > 0 && at + (UINT32_C(1) << order) <= end) at += (UINT32_C(1) << order) - 1;
        if (kind != FRAME_FREE) continue;
        if (!take_block(run, at, order)) break;
        total += UINT32_C(1) << order;
        if (run->migrating <= run->free_frames) {
            at += UINT32_C(1) << order;
            break;
        }
        at += (UINT32_C(1) << order) - 1;
    }
    EVENTS_DECISION(&run->compact->lru->phys->events, "compact find from=%u to=%u got=%u", *start, smaller(at, end), total);
    *start = smaller(at, end);
    return total;
}

/// suitable_migration_target.
static bool is_target(const struct run *run, uint32_t start) {
    const struct frames *frames = &run->compact->lru->phys->frames;
    const unsigned order = run->order > 0 && run->order != COMPACT_NO_ORDER ? run->order : PHYS_PAGEBLOCK_ORDER;
    if (frame_kind(frames, start) == FRAME_FREE && frame_order(frames, start) >= order) return false;
    return run->any_target || frame_block_type(frames, start) == PHYS_MOVABLE;
}

/// fast_isolate_around: the rest of the pageblock of a block that was found.
static void take_around(struct run *run, uint32_t frame) {
    if (run->free_frames >= run->migrating || (run->direct && run->mode == COMPACT_MODE_ASYNC)) return;
    uint32_t start = larger(block_start(frame, PHYS_PAGEBLOCK_ORDER), run->zone->start_frame);
    const uint32_t end = smaller(block_end(frame, PHYS_PAGEBLOCK_ORDER), zone_end(run->zone));
    if (!block_in_zone(run, start, end)) return;
    scan_block(run, &start, end, 1);
    if (start == end) set_skip(run, frame);
}

/// next_search_order; -1: all orders were tried.
static int next_order(struct run *run, int order) {
    if (--order < 0) order = (int)run->order - 1;
    if (order != run->search_order) return order;
    if (--run->search_order < 0) run->search_order = (int)run->order - 1;
    return -1;
}

static void rotate_before(struct lru *lru, uint32_t head, uint32_t frame) {
    if (frame == head || list_first(lru->links, head) == frame) return;
    const uint32_t before = list_last(lru->links, frame);
    list_remove(lru->links, head);
    list_insert_between(lru->links, before, head, frame);
}

/// low, least: frames, as numbers of 64 bits. They are beyond all memory if the migration scanner has passed the free scanner.
struct fast {
    uint64_t low, least;
    uint32_t limit, highest, scanned, order_scanned;
};

/// The lists of one order, from their end: a block in the upper quarter between the scanners; else the best in the upper half.
static uint32_t fast_order(struct run *run, struct fast *fast, int order) {
    struct lru *lru = run->compact->lru;
    const uint32_t head = free_list(run->zone, (unsigned)order, PHYS_MOVABLE);
    uint32_t best = 0, frame;
    fast->order_scanned = 0;
    for (frame = list_last(lru->links, head); frame != head; frame = list_last(lru->links, frame)) {
        ++fast->order_scanned;
        ++fast->scanned;
        if (frame >= fast->highest) fast->highest = larger(block_start(frame, PHYS_PAGEBLOCK_ORDER), run->zone->start_frame);
        if (frame >= fast->low) {
            run->fast_failures = 0;
            run->search_order = order;
            rotate_before(lru, head, frame);
            return frame;
        }
        if (frame >= fast->least && frame > best) {
            best = frame;
            fast->limit >>= 1;
        }
        if (fast->order_scanned >= fast->limit) break;
    }
    rotate_before(lru, head, best != 0 ? best : frame);
    return best;
}

/// The search found nothing from the very start: the free scanner goes on where free frames could be.
static uint32_t fast_start(struct run *run, const struct fast *fast) {
    if (fast->highest >= fast->least) return run->free_at = fast->highest;
    if (!run->direct || fast->least >= run->compact->lru->phys->frames.count) return 0;
    const uint32_t least = (uint32_t)fast->least, end = smaller(block_end(least, PHYS_PAGEBLOCK_ORDER), zone_end(run->zone));
    run->free_at = least;
    return block_in_zone(run, least, end) && is_target(run, least) ? least : 0;
}

/// fast_isolate_freepages.
static void fast_find(struct run *run) {
    const uint32_t wide = (COMPACT_BATCH >> smaller(31, run->fast_failures)) + 1;
    const uint64_t distance = (uint64_t)run->free_at - run->migrate_at, pageblock = PHYS_PAGEBLOCK_FRAMES - 1;
    struct fast fast = {.limit = larger(1, wide >> 1)};
    bool from_start = false;
    uint32_t found = 0;
    if (run->order == 0 || run->order == COMPACT_NO_ORDER) return;
    if (run->free_at >= run->state->first_free) {
        fast.limit = PHYS_PAGEBLOCK_FRAMES >> 1;
        from_start = true;
    }
    fast.low = (run->free_at - (distance >> 2)) & ~pageblock;
    fast.least = (run->free_at - (distance >> 1)) & ~pageblock;
    if (run->search_order > (int)run->order - 1) run->search_order = (int)run->order - 1;
    for (int order = run->search_order; found == 0 && order >= 0; order = next_order(run, order)) {
        if (run->zone->blocks[order] == 0) continue;
        found = fast_order(run, &fast, order);
        if (found != 0 && !take_block(run, found, (unsigned)order)) {
            order = run->search_order + 1;
            found = 0;
        }
        if (run->free_frames >= run->migrating) break;
        if (fast.order_scanned >= fast.limit) fast.limit = larger(1, fast.limit >> 1);
    }
    if (found == 0) {
        ++run->fast_failures;
        if (from_start) found = fast_start(run, &fast);
    }
    if (fast.highest != 0 && fast.highest >= run->state->free) run->state->free = fast.highest - PHYS_PAGEBLOCK_FRAMES;
    run->compact->counts.free_scanned += fast.scanned;
    EVENTS_DECISION(&run->compact->lru->phys->events, "compact fast from=%" PRIu64 " to=%u scanned=%u got=%u", fast.least, run->free_at,
                    fast.order_scanned, run->free_frames);
    if (found != 0) take_around(run, found);
}

void run_find_free(struct run *run) {
    fast_find(run);
    if (run->free_frames > 0) return;
    const uint32_t low = block_end(run->migrate_at, PHYS_PAGEBLOCK_ORDER);
    uint32_t at = run->free_at, start = block_start(at, PHYS_PAGEBLOCK_ORDER);
    uint32_t end = smaller(start + PHYS_PAGEBLOCK_FRAMES, zone_end(run->zone)),
             stride = run->mode == COMPACT_MODE_ASYNC ? COMPACT_BATCH : 1;
    for (; start >= low; end = start, start -= PHYS_PAGEBLOCK_FRAMES, at = start) {
        if (!block_in_zone(run, start, end) || !is_target(run, start) || (!run->ignore_skip && skipped(run, start))) continue;
        const uint32_t isolated = scan_block(run, &at, end, stride);
        if (at == end) {
            set_skip(run, start);
            run->state->free = smaller(run->state->free, start - PHYS_PAGEBLOCK_FRAMES);
        }
        if (run->free_frames >= run->migrating) {
            if (at >= end) at = start - PHYS_PAGEBLOCK_FRAMES;
            break;
        }
        if (at < end) break;
        stride = isolated > 0 ? 1 : smaller(COMPACT_BATCH, stride << 1);
    }
    run->free_at = at;
}

uint32_t run_take_free(struct run *run) {
    struct frames *frames = &run->compact->lru->phys->frames;
    unsigned order = 0;
    while (order < PHYS_ORDERS && run->free_count[order] == 0) ++order;
    if (order == PHYS_ORDERS) {
        run_find_free(run);
        for (order = 0; order < PHYS_ORDERS && run->free_count[order] == 0;) ++order;
        if (order == PHYS_ORDERS) return PHYS_NO_FRAME;
    }
    const uint32_t frame = pop(run, order);
    while (order-- > 0) {
        frame_set(frames, frame + (UINT32_C(1) << order), FRAME_USED, order);
        run_keep_free(run, frame + (UINT32_C(1) << order), order, true);
    }
    frame_set(frames, frame, FRAME_USED, 0);
    --run->migrating;
    return frame;
}
