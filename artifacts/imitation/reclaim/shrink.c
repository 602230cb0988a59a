// shrink.c - the fate of isolated pages (shrink_folio_list), and the scans of one list.
#include <inttypes.h>

#include "lru/workingset.h"
#include "reclaim/scan.h"

enum { SPARE_TAKEN, SPARE_KEPT, SPARE_SKIPPED, SPARE_ACTIVE };     // spare lists of the LRU

enum references { REFERENCES_RECLAIM, REFERENCES_RECLAIM_CLEAN, REFERENCES_KEEP, REFERENCES_ACTIVATE };

/// folio_check_references.
static enum references check_references(struct lru *lru, const struct lru_owner *owner, uint32_t frame) {
    bool executable = false;
    const uint32_t young = owner->referenced(owner->context, frame, &executable);
    const bool referenced = lru_test_clear(lru, frame, LRU_REFERENCED);
    if (young > 0) {
        lru_set(lru, frame, LRU_REFERENCED);
        if (referenced || young > 1 || (executable && lru_is_file(lru, frame))) return REFERENCES_ACTIVATE;
        return REFERENCES_KEEP;
    }
    return referenced && lru_is_file(lru, frame) ? REFERENCES_RECLAIM_CLEAN : REFERENCES_RECLAIM;
}

enum fate { FATE_FREE, FATE_KEEP, FATE_ACTIVATE };

/// A dirty page that nothing maps.
static enum fate write_out(struct scan *scan, const struct lru_owner *owner, uint32_t frame, enum references references,
                           struct shrunk *shrunk) {
    struct reclaim *reclaim = scan->reclaim;
    struct lru *lru = reclaim->lru;
    const uint32_t pages = lru_pages(lru, frame);
    if (lru_is_file(lru, frame) && (!scan->kswapd || !lru_has(lru, frame, LRU_RECLAIM) || !reclaim->node_dirty)) {
        reclaim->counts.nr_vmscan_immediate_reclaim += pages;
        lru_set(lru, frame, LRU_RECLAIM);
        return FATE_ACTIVATE;
    }
    if (references == REFERENCES_RECLAIM_CLEAN || !scan->may_write) return FATE_KEEP;
    if (!owner->write) return FATE_ACTIVATE;
    const enum lru_written written = owner->write(owner->context, frame, scan->cpu);
    if (written == LRU_WRITE_REFUSED) return FATE_ACTIVATE;
    reclaim->counts.nr_vmscan_write += pages;
    shrunk->pageout += pages;
    return written == LRU_WRITE_DONE ? FATE_FREE : FATE_KEEP;
}

/// A page that is being written already.
static enum fate in_writeback(struct scan *scan, uint32_t frame, uint32_t pages, struct shrunk *shrunk) {
    struct lru *lru = scan->reclaim->lru;
    if (scan->kswapd && lru_has(lru, frame, LRU_RECLAIM) && scan->reclaim->node_writeback) {
        shrunk->immediate += pages;
    } else {
        lru_set(lru, frame, LRU_RECLAIM);
        shrunk->writeback += pages;
    }
    return FATE_ACTIVATE;
}

static enum fate decide(struct scan *scan, uint32_t frame, uint32_t list, struct shrunk *shrunk) {
    struct lru *lru = scan->reclaim->lru;
    const struct lru_owner *owner = lru_owner_of(lru, frame);
    uint32_t pages = lru_pages(lru, frame);
    const bool writeback = lru_has(lru, frame, LRU_WRITEBACK);
    scan->scanned += pages;
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE)) return FATE_ACTIVATE;
    if (lru_is_file(lru, frame)) {
        const bool dirty = lru_has(lru, frame, LRU_DIRTY);
        if (dirty || writeback) shrunk->dirty += pages;
        if (dirty && !writeback) shrunk->unqueued_dirty += pages;
    }
    if (writeback && lru_has(lru, frame, LRU_RECLAIM)) shrunk->congested += pages;
    if (writeback) return in_writeback(scan, frame, pages, shrunk);
    const enum references references = scan->ignore_references ? REFERENCES_RECLAIM : check_references(lru, owner, frame);
    if (references == REFERENCES_ACTIVATE) return FATE_ACTIVATE;
    if (references == REFERENCES_KEEP) {
        shrunk->ref_keep += pages;
        return FATE_KEEP;
    }
    const bool prepared = !owner->prepare || owner->prepare(owner->context, frame, list, scan->cpu);
    if (pages > 1 && lru_pages(lru, frame) == 1) {       // it was split: its other pages are counted when their turn comes
        scan->scanned -= pages - 1;
        pages = 1;
    }
    if (!prepared) return FATE_ACTIVATE;
    if (owner->mapped(owner->context, frame) && !owner->unmap(owner->context, frame, scan->cpu)) {
        shrunk->unmap_fail += pages;
        return FATE_ACTIVATE;
    }
    if (lru_has(lru, frame, LRU_DIRTY)) {
        const enum fate fate = write_out(scan, owner, frame, references, shrunk);
        if (fate != FATE_FREE) return fate;
    }
    if (lru_has(lru, frame, LRU_IN_BATCH)) return FATE_KEEP;     // another CPU's batch holds it (folio_ref_freeze)
    const uint64_t age = lru->nonresident_age;
    const uint64_t shadow = workingset_eviction(lru, frame);
    if (owner->remove(owner->context, frame, shadow, scan->cpu)) return FATE_FREE;
    lru->nonresident_age = age;
    return FATE_KEEP;
}

static void note(const struct scan *scan, const char *what, uint32_t frame) {
    EVENTS_DECISION(&scan->reclaim->lru->phys->events, "reclaim %s frame=%u pages=%u %s", what, frame, lru_pages(scan->reclaim->lru, frame),
                    scan->kswapd ? "kswapd" : "direct");
}

static void activate(struct scan *scan, uint32_t frame, struct shrunk *shrunk) {
    struct lru *lru = scan->reclaim->lru;
    const struct lru_owner *owner = lru_owner_of(lru, frame);
    if (owner->keep) owner->keep(owner->context, frame, scan->cpu);
    lru_set(lru, frame, LRU_ACTIVE);
    shrunk->activated[lru_is_file(lru, frame)] += lru_pages(lru, frame);
    lru->counts.pgactivate += lru_pages(lru, frame);
}

uint64_t shrink_pages(struct scan *scan, uint32_t list, struct shrunk *shrunk) {
    struct reclaim *reclaim = scan->reclaim;
    struct lru *lru = reclaim->lru;
    const uint32_t kept = lru_spare(lru, SPARE_KEPT);
    uint32_t freed[LRU_BATCH], count = 0;
    uint64_t reclaimed = 0;
    *shrunk = (struct shrunk){0};
    while (!list_empty(lru->links, list)) {
        const uint32_t frame = list_last(lru->links, list);
        list_remove(lru->links, frame);
        const enum fate fate = lru_has(lru, frame, LRU_LOCKED) ? FATE_KEEP : decide(scan, frame, list, shrunk);
        if (fate == FATE_FREE) {
            reclaimed += lru_pages(lru, frame);
            note(scan, "free", frame);
            freed[count++] = frame;
            for (uint32_t i = 0; count == LRU_BATCH && i < LRU_BATCH; ++i) reclaim->free(reclaim->context, freed[i], scan->cpu);
            if (count == LRU_BATCH) count = 0;
            continue;
        }
        if (fate == FATE_ACTIVATE) activate(scan, frame, shrunk);
        note(scan, fate == FATE_ACTIVATE ? "activate" : "keep", frame);
        list_add_first(lru->links, kept, frame);
    }
    for (uint32_t i = 0; i < count; ++i) reclaim->free(reclaim->context, freed[i], scan->cpu);
    while (!list_empty(lru->links, kept)) {
        const uint32_t frame = list_last(lru->links, kept);
        list_remove(lru->links, frame);
        list_add_first(lru->links, list, frame);
    }
    return reclaimed;
}

/// isolate_lru_folios: from the tail of a list into a spare list, in this order from its tail. Returns frames taken.
static uint64_t isolate(struct scan *scan, uint64_t pages, enum lru_list list, uint64_t *scanned) {
    struct lru *lru = scan->reclaim->lru;
    const uint32_t head = lru_head(lru, list), taken = lru_spare(lru, SPARE_TAKEN), skipped = lru_spare(lru, SPARE_SKIPPED);
    uint64_t total = 0, counted = 0, got = 0, of_zone[PHYS_ZONES] = {0};
    while (counted < pages && !list_empty(lru->links, head)) {
        const uint32_t frame = list_last(lru->links, head), count = lru_pages(lru, frame);
        total += count;
        if (frame_zone(frame) > scan->highest) {
            list_remove(lru->links, frame);
            list_add_first(lru->links, skipped, frame);
            continue;
        }
        counted += count;
        got += count;
        of_zone[frame_zone(frame)] += count;
        lru_isolate_uncounted(lru, frame);
        list_add_first(lru->links, taken, frame);
    }
    while (!list_empty(lru->links, skipped)) {
        const uint32_t frame = list_last(lru->links, skipped);
        list_remove(lru->links, frame);
        list_add_first(lru->links, head, frame);
    }
    *scanned = total;
    for (unsigned zone = 0; zone < PHYS_ZONES; ++zone)
        if (of_zone[zone] > 0) lru_count(lru, list, zone, -(int64_t)of_zone[zone]);
    return got;
}

/// move_folios_to_lru. Returns frames moved.
static uint64_t put_back(struct scan *scan, uint32_t list) {
    struct lru *lru = scan->reclaim->lru;
    uint64_t moved = 0;
    while (!list_empty(lru->links, list)) {
        const uint32_t frame = list_last(lru->links, list);
        list_remove(lru->links, frame);
        if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE)) {
            lru_putback(lru, frame, scan->cpu);
            continue;
        }
        lru_give(lru, frame);
        moved += lru_pages(lru, frame);
        if (lru_has(lru, frame, LRU_ACTIVE)) workingset_activation(lru, frame);
    }
    return moved;
}

void finish_writes(struct scan *scan) {
    const struct lru *lru = scan->reclaim->lru;
    for (int i = 0; i < LRU_OWNERS; ++i)
        if (lru->owner[i] && lru->owner[i]->finish_writes) lru->owner[i]->finish_writes(lru->owner[i]->context, scan->cpu);
}

uint32_t reclaim_list(const struct reclaim *reclaim) { return lru_spare(reclaim->lru, SPARE_TAKEN); }

uint64_t reclaim_pages(struct reclaim *reclaim, uint32_t cpu) {
    struct scan scan = {
        .reclaim = reclaim, .cpu = cpu, .highest = PHYS_NORMAL, .may_write = true, .may_swap = true, .ignore_references = true};
    struct lru *lru = reclaim->lru;
    const uint32_t list = reclaim_list(reclaim);
    struct shrunk shrunk;
    const uint64_t freed = shrink_pages(&scan, list, &shrunk);
    while (!list_empty(lru->links, list)) {
        const uint32_t frame = list_last(lru->links, list);
        list_remove(lru->links, frame);
        lru_putback(lru, frame, cpu);
    }
    finish_writes(&scan);
    return freed;
}

uint64_t shrink_inactive(struct scan *scan, uint64_t pages, enum lru_list list) {
    struct reclaim *reclaim = scan->reclaim;
    struct lru *lru = reclaim->lru;
    const bool file = lru_list_is_file(list);
    struct shrunk shrunk;
    uint64_t scanned;
    lru_drain(lru, scan->cpu);
    const uint64_t taken = isolate(scan, pages, list, &scanned);
    lru->isolated[file] += taken;
    *(scan->kswapd ? &reclaim->counts.pgscan_kswapd : &reclaim->counts.pgscan_direct) += scanned;
    reclaim->counts.pgscan[file] += scanned;
    if (taken == 0) return 0;
    const uint64_t reclaimed = shrink_pages(scan, lru_spare(lru, SPARE_TAKEN), &shrunk);
    put_back(scan, lru_spare(lru, SPARE_TAKEN));
    finish_writes(scan);
    lru->isolated[file] -= taken;
    *(scan->kswapd ? &reclaim->counts.pgsteal_kswapd : &reclaim->counts.pgsteal_direct) += reclaimed;
    reclaim->counts.pgsteal[file] += reclaimed;
    EVENTS_DECISION(&lru->phys->events, "reclaim scan %s priority=%d scanned=%" PRIu64 " freed=%" PRIu64, file ? "file" : "anon",
                    scan->priority, scanned, reclaimed);
    lru_note_cost(lru, file, shrunk.pageout, scanned - reclaimed);
    scan->round.dirty += shrunk.dirty;
    scan->round.unqueued_dirty += shrunk.unqueued_dirty;
    scan->round.congested += shrunk.congested;
    scan->round.writeback += shrunk.writeback;
    scan->round.immediate += shrunk.immediate;
    scan->round.taken += taken;
    scan->round.file_taken += file ? taken : 0;
    return reclaimed;
}

void shrink_active(struct scan *scan, uint64_t pages, enum lru_list list) {
    struct lru *lru = scan->reclaim->lru;
    const uint32_t taken = lru_spare(lru, SPARE_TAKEN), inactive = lru_spare(lru, SPARE_KEPT), active = lru_spare(lru, SPARE_ACTIVE);
    uint64_t scanned, rotated = 0;
    lru_drain(lru, scan->cpu);
    isolate(scan, pages, list, &scanned);
    scan->reclaim->counts.pgrefill += scanned;
    while (!list_empty(lru->links, taken)) {
        const uint32_t frame = list_last(lru->links, taken);
        const struct lru_owner *owner = lru_owner_of(lru, frame);
        bool executable = false;
        list_remove(lru->links, frame);
        if (owner->referenced(owner->context, frame, &executable) > 0 && executable && lru_is_file(lru, frame)) {
            rotated += lru_pages(lru, frame);
            list_add_first(lru->links, active, frame);
            continue;
        }
        lru_clear(lru, frame, LRU_ACTIVE);
        lru_set(lru, frame, LRU_WORKINGSET);
        note(scan, "deactivate", frame);
        list_add_first(lru->links, inactive, frame);
    }
    put_back(scan, active);
    lru->counts.pgdeactivate += put_back(scan, inactive);
    if (rotated > 0) lru_note_cost(lru, lru_list_is_file(list), 0, rotated);
}
