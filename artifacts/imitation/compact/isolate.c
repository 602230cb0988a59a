// isolate.c - the migration scanner: which pages move (compact.h).
#include "compact/run.h"
#include "phys/freelist.h"

/// isolate_migratepages_block's view of one frame.
enum sight { SIGHT_PAGE, SIGHT_FREE, SIGHT_FIXED };

void run_note_migrate(struct run *run, uint32_t frame) {
    const uint32_t end = block_end(frame, PHYS_PAGEBLOCK_ORDER);
    run->state->migrate[0] = larger(run->state->migrate[0], end);
    if (run->mode != COMPACT_MODE_ASYNC) run->state->migrate[1] = larger(run->state->migrate[1], end);
}

/// A block that this run must not break up (skip_isolation_on_order).
static bool too_large(const struct run *run, unsigned order) {
    return (run->order != COMPACT_NO_ORDER && order >= run->order) || order >= PHYS_PAGEBLOCK_ORDER;
}

/// *frames: how far the scanner goes.
static enum sight look(const struct run *run, uint32_t frame, uint32_t *frames) {
    const struct lru *lru = run->compact->lru;
    const struct frames *table = &lru->phys->frames;
    const int kind = frame_kind(table, frame);
    const unsigned order = frame_order(table, frame);
    *frames = 1;
    if (kind == FRAME_FREE) {
        *frames = UINT32_C(1) << order;
        return SIGHT_FREE;
    }
    if (kind != FRAME_USED || !lru_has(lru, frame, LRU_ON_LIST)) return SIGHT_FIXED;
    if (order > 0) *frames = UINT32_C(1) << order;
    if (too_large(run, order)) return SIGHT_FIXED;
    const struct lru_owner *owner = lru_owner_of(lru, frame);
    if (!owner->migrate || lru_has(lru, frame, LRU_IN_BATCH | LRU_LOCKED)) return SIGHT_FIXED;
    return run->mode != COMPACT_MODE_SYNC && lru_has(lru, frame, LRU_WRITEBACK) ? SIGHT_FIXED : SIGHT_PAGE;
}

void run_put_back(struct run *run) {
    struct lru *lru = run->compact->lru;
    const uint32_t list = lru_spare(lru, COMPACT_LIST_MIGRATE);
    while (!list_empty(lru->links, list)) {
        const uint32_t frame = list_first(lru->links, list);
        list_remove(lru->links, frame);
        lru->isolated[lru_is_file(lru, frame)] -= lru_pages(lru, frame);
        lru_putback(lru, frame, run->cpu);
    }
    run->migrating = 0;
}

struct block_scan {
    uint32_t at, end, isolated, scanned, next_give_up;
    bool give_up, valid, skip_updated;
};

/// The first page of a pageblock sets its skip bit. True: another run was here; the scan of the block ends.
static bool seen_before(struct run *run, struct block_scan *scan, uint32_t block) {
    if (scan->skip_updated || !scan->valid) return false;
    scan->skip_updated = true;
    if (run->ignore_skip) return false;
    const bool was = skipped(run, block);
    set_skip(run, block);
    return was && !run->finish_block;
}

static void take_page(struct run *run, struct block_scan *scan, uint32_t frame) {
    struct lru *lru = run->compact->lru;
    const uint32_t pages = lru_pages(lru, frame);
    lru_isolate(lru, frame);
    lru->isolated[lru_is_file(lru, frame)] += pages;
    list_add_first(lru->links, lru_spare(lru, COMPACT_LIST_MIGRATE), frame);
    run->migrating += pages;
    scan->isolated += pages;
    run->compact->counts.isolated += pages;
}

/// A page that cannot move: an asynchronous direct run leaves the aligned block around it.
static void give_up_block(struct run *run, struct block_scan *scan) {
    if (!scan->give_up) return;
    if (scan->isolated > 0) run_put_back(run);
    scan->isolated = 0;
    if (scan->at >= scan->next_give_up) return;
    scan->at = scan->next_give_up - 1;
    scan->next_give_up += UINT32_C(1) << run->order;
}

/// One frame. False: the scan of the pageblock ends; scan->at is where it ended.
static bool step(struct run *run, struct block_scan *scan, uint32_t block) {
    uint32_t frames;
    if (scan->give_up && scan->at >= scan->next_give_up) {
        if (scan->isolated > 0) return false;
        scan->next_give_up = block_end(scan->at, run->order);
    }
    ++scan->scanned;
    if (!scan->valid && (scan->at % PHYS_PAGEBLOCK_FRAMES == 0 || scan->at == run->zone->start_frame)) {
        if (!run->ignore_skip && skipped(run, scan->at)) {
            scan->at = scan->end;
            return false;
        }
        scan->valid = true;
    }
    const enum sight sight = look(run, scan->at, &frames);
    if (sight == SIGHT_PAGE && seen_before(run, scan, block)) {
        scan->at = scan->end;
        return false;
    }
    if (sight == SIGHT_PAGE) take_page(run, scan, scan->at);
    scan->at += frames - 1;
    scan->scanned += frames - 1;
    if (sight == SIGHT_FIXED) give_up_block(run, scan);
    ++scan->at;
    return !(sight == SIGHT_PAGE && run->migrating >= COMPACT_BATCH && !run->finish_block);
}

/// isolate_migratepages_block. False: too much is isolated already.
static bool scan_block(struct run *run, uint32_t from, uint32_t end) {
    const struct lru *lru = run->compact->lru;
    struct block_scan scan = {.at = from, .end = end};
    uint64_t pages = 0;
    run->migrate_at = from;
    for (int list = 0; list < LRU_EVICTABLE_LISTS; ++list) pages += lru_node_counted(lru, (enum lru_list)list);
    if (lru->isolated[0] + lru->isolated[1] > pages / 2) return false;
    scan.give_up = run->direct && run->mode == COMPACT_MODE_ASYNC;
    if (scan.give_up) scan.next_give_up = block_end(from, run->order);
    while (scan.at < end && step(run, &scan, from)) continue;
    scan.at = smaller(scan.at, end);
    if (scan.at == end && (scan.isolated == 0 || run->finish_block)) {
        if (scan.valid && !scan.skip_updated) set_skip(run, from);
        run_note_migrate(run, end);
    }
    run->compact->counts.migrate_scanned += scan.scanned;
    run->migrate_at = scan.at;
    EVENTS_DECISION(&lru->phys->events, "compact isolate from=%u to=%u scanned=%u taken=%u", from, scan.at, scan.scanned, scan.isolated);
    return true;
}

static void rotate_after(struct lru *lru, uint32_t head, uint32_t frame) {
    if (list_last(lru->links, head) == frame) return;
    const uint32_t next = list_first(lru->links, frame);
    list_remove(lru->links, head);
    list_insert_between(lru->links, frame, head, next);
}

/// reinit_migrate_pfn.
static uint32_t start_again(struct run *run) {
    if (run->fast_start == 0 || run->fast_start == UINT32_MAX) return run->migrate_at;
    run->migrate_at = run->fast_start;
    run->fast_start = UINT32_MAX;
    return run->migrate_at;
}

/// A movable free block below `below`, on the lists of one order: its pageblock is worth emptying. 0: none.
static uint32_t fast_block(struct run *run, unsigned order, uint32_t below, uint32_t limit, uint32_t *scanned) {
    struct lru *lru = run->compact->lru;
    const uint32_t head = free_list(run->zone, order, PHYS_MOVABLE);
    for (uint32_t frame = list_first(lru->links, head); frame != head; frame = list_first(lru->links, frame)) {
        if ((*scanned)++ >= limit) {
            rotate_after(lru, head, frame);
            return 0;
        }
        if (frame >= below || skipped(run, frame)) continue;
        rotate_after(lru, head, frame);
        if (run->fast_start != UINT32_MAX) run->fast_start = run->fast_start == 0 ? frame : smaller(run->fast_start, frame);
        return larger(block_start(frame, PHYS_PAGEBLOCK_ORDER), run->zone->start_frame);
    }
    return 0;
}

/// fast_find_migrateblock: where this step starts.
static uint32_t fast_find(struct run *run) {
    const uint32_t at = run->migrate_at, limit = (COMPACT_BATCH >> smaller(31, run->fast_failures)) + 1;
    uint32_t scanned = 0, found = 0;
    if (run->ignore_skip || run->finish_block) return at;
    if (at != run->zone->start_frame && at % PHYS_PAGEBLOCK_FRAMES != 0) return at;
    if (run->order <= PHYS_COSTLY_ORDER || (run->direct && run->type != PHYS_MOVABLE)) return at;
    uint32_t distance = (run->free_at - at) >> 1;
    if (at != run->zone->start_frame) distance >>= 2;
    const uint32_t below = block_start(at + distance, PHYS_PAGEBLOCK_ORDER);
    for (unsigned order = run->order - 1; order >= PHYS_COSTLY_ORDER && found == 0 && scanned < limit; --order)
        if (run->zone->blocks[order] > 0) found = fast_block(run, order, below, limit, &scanned);
    run->compact->counts.migrate_scanned += scanned;
    if (found != 0) {
        run->fast_failures = 0;
        return found;
    }
    ++run->fast_failures;
    return start_again(run);
}

/// suitable_migration_source. A captured block does not look like a huge page yet: it is scanned, and nothing in it moves.
static bool is_source(const struct run *run, uint32_t start) {
    const struct phys *phys = run->compact->lru->phys;
    const struct frames *frames = &phys->frames;
    if (start != phys->capture.frame && frame_kind(frames, start) == FRAME_USED && frame_order(frames, start) >= PHYS_PAGEBLOCK_ORDER)
        return false;
    if (run->mode != COMPACT_MODE_ASYNC || !run->direct) return true;
    return frame_block_type(frames, start) == run->type;
}

bool run_isolate(struct run *run) {
    uint32_t from = fast_find(run);
    bool fast = from != run->migrate_at && run->fast_failures == 0;
    for (uint32_t end = block_end(from, PHYS_PAGEBLOCK_ORDER); end <= run->free_at; end += PHYS_PAGEBLOCK_FRAMES) {
        const uint32_t start = larger(end - PHYS_PAGEBLOCK_FRAMES, run->zone->start_frame);
        const bool whole = from % PHYS_PAGEBLOCK_FRAMES == 0 || from == run->zone->start_frame;
        bool here = block_in_zone(run, start, end);
        if (here && whole && !fast && !run->ignore_skip && skipped(run, start)) here = false;
        if (here && !is_source(run, start)) {
            run_note_migrate(run, end);
            here = false;
        }
        if (here) {
            if (!scan_block(run, from, end)) return false;
            break;
        }
        fast = false;
        run->migrate_at = from = end;
    }
    return run->migrating > 0;
}
