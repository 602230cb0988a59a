#include "lru/lru.h"

#include <stdlib.h>

#include "base/host.h"
#include "lru/counters.h"
#include "lru/workingset.h"

void lru_create(struct lru *lru, struct phys *phys) {
    *lru = (struct lru){.phys = phys, .links = phys->frames.links, .first_head = phys->first_spare_list};
    rmap_create(&lru->rmap, phys->frames.count);
    lru->batch = host_alloc((size_t)phys->cpus * LRU_OPS * sizeof *lru->batch);
    lru_counters_create(lru);
}

void lru_destroy(struct lru *lru) {
    rmap_destroy(&lru->rmap);
    free(lru->batch);
    free(lru->drift);
    *lru = (struct lru){0};
}

void lru_set_owner(struct lru *lru, unsigned number, const struct lru_owner *owner) { lru->owner[number] = owner; }

/// The page joins its list; `change` is 1, or -1 when it leaves.
static void count(struct lru *lru, uint32_t frame, int64_t change) {
    const enum lru_list list = lru_list_of(lru_flags(lru, frame));
    lru_count(lru, list, frame_zone(frame), change * (INT64_C(1) << frame_order(&lru->phys->frames, frame)));
}

static void put(struct lru *lru, uint32_t frame, bool tail) {
    const uint32_t head = lru_head(lru, lru_list_of(lru_flags(lru, frame)));
    if (tail) list_add_last(lru->links, head, frame);
    else list_add_first(lru->links, head, frame);
    count(lru, frame, 1);
}

static void take(struct lru *lru, uint32_t frame) {
    list_remove(lru->links, frame);
    count(lru, frame, -1);
}

static void mark(struct lru *lru, uint32_t frame, bool on) {
    uint64_t *words = lru->phys->frames.lru;
    const uint32_t pages = lru_pages(lru, frame);
    lru->rmap.word[frame] ^= LRU_ON_LIST;            // it is the other way round before
    if (pages == 1) words[frame / 64] ^= UINT64_C(1) << (frame % 64);
    else if (on) bitmap_set(words, frame, pages);
    else bitmap_clear(words, frame, pages);
}

void lru_give(struct lru *lru, uint32_t frame) {
    lru_clear(lru, frame, LRU_ISOLATED);
    put(lru, frame, false);
    mark(lru, frame, true);
}

static void activate(struct lru *lru, uint32_t frame) {
    if (lru_has(lru, frame, LRU_ACTIVE | LRU_UNEVICTABLE_PAGE)) return;
    take(lru, frame);
    lru_set(lru, frame, LRU_ACTIVE);
    put(lru, frame, false);
    lru->counts.pgactivate += lru_pages(lru, frame);
}

static void deactivate(struct lru *lru, uint32_t frame) {
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE) || !lru_has(lru, frame, LRU_ACTIVE)) return;
    take(lru, frame);
    lru_clear(lru, frame, LRU_ACTIVE | LRU_REFERENCED);
    put(lru, frame, false);
    lru->counts.pgdeactivate += lru_pages(lru, frame);
}

static void deactivate_file(struct lru *lru, uint32_t frame) {
    const struct lru_owner *owner = lru_owner_of(lru, frame);
    const bool active = lru_has(lru, frame, LRU_ACTIVE), busy = lru_has(lru, frame, LRU_WRITEBACK | LRU_DIRTY);
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE) || owner->mapped(owner->context, frame)) return;
    take(lru, frame);
    lru_clear(lru, frame, LRU_ACTIVE | LRU_REFERENCED);
    put(lru, frame, !busy);
    if (busy) lru_set(lru, frame, LRU_RECLAIM);
    else lru->counts.pgrotated += lru_pages(lru, frame);
    if (active) lru->counts.pgdeactivate += lru_pages(lru, frame);
}

static bool can_free_lazily(const struct lru *lru, uint32_t frame) {
    return lru_has(lru, frame, LRU_SWAPBACKED) && !lru_has(lru, frame, LRU_IN_SWAP_CACHE | LRU_UNEVICTABLE_PAGE);
}

static void lazyfree(struct lru *lru, uint32_t frame) {
    if (!can_free_lazily(lru, frame)) return;
    take(lru, frame);
    lru_clear(lru, frame, LRU_ACTIVE | LRU_REFERENCED | LRU_SWAPBACKED);
    put(lru, frame, false);
    lru->counts.pglazyfree += lru_pages(lru, frame);
}

static void move_tail(struct lru *lru, uint32_t frame) {
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE)) return;
    take(lru, frame);
    lru_clear(lru, frame, LRU_ACTIVE);
    put(lru, frame, true);
    lru->counts.pgrotated += lru_pages(lru, frame);
}

static void (*const changes[LRU_OPS])(struct lru *, uint32_t) = {
    [LRU_OP_ADD] = lru_give,          [LRU_OP_MOVE_TAIL] = move_tail, [LRU_OP_DEACTIVATE_FILE] = deactivate_file,
    [LRU_OP_DEACTIVATE] = deactivate, [LRU_OP_LAZYFREE] = lazyfree,   [LRU_OP_ACTIVATE] = activate,
};

static struct lru_batch *batch_of(const struct lru *lru, uint32_t cpu, enum lru_operation operation) {
    return &lru->batch[cpu * LRU_OPS + operation];
}

/// True if a batch other than those for new pages has it.
static bool queued(const struct lru *lru, uint32_t frame) {
    for (uint32_t i = 0; i < lru->phys->cpus * LRU_OPS; ++i)
        for (uint32_t j = 0; i % LRU_OPS != LRU_OP_ADD && j < lru->batch[i].count; ++j)
            if (lru->batch[i].frame[j] == frame) return true;
    return false;
}

static void add_all(struct lru *lru, struct lru_batch *batch) {
    for (uint32_t i = 0; i < batch->count; ++i) {
        lru_clear(lru, batch->frame[i], LRU_IN_BATCH);
        lru_give(lru, batch->frame[i]);
    }
    batch->count = 0;
    ++lru->counts.drains;
}

static void change_all(struct lru *lru, struct lru_batch *batch, enum lru_operation operation) {
    const struct lru_batch all = *batch;
    batch->count = 0;
    for (uint32_t i = 0; i < all.count; ++i) {
        if (!queued(lru, all.frame[i])) lru_clear(lru, all.frame[i], LRU_IN_BATCH);
        if (lru_has(lru, all.frame[i], LRU_ON_LIST)) changes[operation](lru, all.frame[i]);
    }
}

static void drain(struct lru *lru, struct lru_batch *batch, enum lru_operation operation) {
    if (batch->count == 0) return;
    if (operation == LRU_OP_ADD) add_all(lru, batch);
    else change_all(lru, batch, operation);
}

static bool enqueue(struct lru *lru, uint32_t frame, enum lru_operation operation, uint32_t cpu) {
    struct lru_batch *batch = batch_of(lru, cpu, operation);
    batch->frame[batch->count++] = frame;
    lru_set(lru, frame, LRU_IN_BATCH);
    if (batch->count < LRU_BATCH && frame_order(&lru->phys->frames, frame) == 0) return false;
    drain(lru, batch, operation);
    return true;
}

bool lru_add(struct lru *lru, uint32_t frame, uint32_t cpu) { return enqueue(lru, frame, LRU_OP_ADD, cpu); }

void lru_queue(struct lru *lru, uint32_t frame, enum lru_operation operation, uint32_t cpu) {
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE) || !lru_has(lru, frame, LRU_ON_LIST)) return;
    if (operation == LRU_OP_ACTIVATE && lru_has(lru, frame, LRU_ACTIVE)) return;
    if (operation == LRU_OP_DEACTIVATE && !lru_has(lru, frame, LRU_ACTIVE)) return;
    if (operation == LRU_OP_MOVE_TAIL && lru_has(lru, frame, LRU_LOCKED | LRU_DIRTY)) return;
    if (operation == LRU_OP_LAZYFREE && !can_free_lazily(lru, frame)) return;
    enqueue(lru, frame, operation, cpu);
}

/// __lru_cache_activate_folio: only the own CPU's batch of new pages is searched.
static void activate_in_batch(struct lru *lru, uint32_t frame, uint32_t cpu) {
    const struct lru_batch *batch = batch_of(lru, cpu, LRU_OP_ADD);
    for (uint32_t i = batch->count; i-- > 0;)
        if (batch->frame[i] == frame) {
            lru_set(lru, frame, LRU_ACTIVE);
            return;
        }
}

void lru_mark_accessed(struct lru *lru, uint32_t frame, uint32_t cpu) {
    if (!lru_has(lru, frame, LRU_REFERENCED)) {
        lru_set(lru, frame, LRU_REFERENCED);
        return;
    }
    if (lru_has(lru, frame, LRU_UNEVICTABLE_PAGE | LRU_ACTIVE)) return;
    if (lru_has(lru, frame, LRU_ON_LIST)) lru_queue(lru, frame, LRU_OP_ACTIVATE, cpu);
    else activate_in_batch(lru, frame, cpu);
    lru_clear(lru, frame, LRU_REFERENCED);
    workingset_activation(lru, frame);
}

void lru_drain(struct lru *lru, uint32_t cpu) {
    for (int operation = 0; operation < LRU_OPS; ++operation)
        drain(lru, batch_of(lru, cpu, (enum lru_operation)operation), (enum lru_operation)operation);
}

void lru_drain_all(struct lru *lru) {
    for (uint32_t cpu = 0; cpu < lru->phys->cpus; ++cpu) lru_drain(lru, cpu);
}

void lru_forget(struct lru *lru, uint32_t frame) {
    if (lru_has(lru, frame, LRU_IN_BATCH)) lru_drain_all(lru);
    if (lru_has(lru, frame, LRU_ON_LIST)) {
        take(lru, frame);
        mark(lru, frame, false);
    }
    lru_clear(lru, frame, RMAP_FLAGS);
}

void lru_end_writeback(struct lru *lru, uint32_t frame, uint32_t cpu) {
    if (lru_test_clear(lru, frame, LRU_RECLAIM)) lru_queue(lru, frame, LRU_OP_MOVE_TAIL, cpu);
    lru_clear(lru, frame, LRU_WRITEBACK);
}

bool lru_isolate_uncounted(struct lru *lru, uint32_t frame) {
    if (!lru_has(lru, frame, LRU_ON_LIST)) return false;
    list_remove(lru->links, frame);
    mark(lru, frame, false);
    lru_set(lru, frame, LRU_ISOLATED);
    return true;
}

bool lru_isolate(struct lru *lru, uint32_t frame) {
    if (!lru_isolate_uncounted(lru, frame)) return false;
    count(lru, frame, -1);
    return true;
}

void lru_putback(struct lru *lru, uint32_t frame, uint32_t cpu) {
    lru_clear(lru, frame, LRU_ISOLATED);
    lru_add(lru, frame, cpu);
}

void lru_split(struct lru *lru, uint32_t frame, unsigned order, uint32_t list) {
    const unsigned kept = LRU_ACTIVE | LRU_REFERENCED | LRU_WORKINGSET | LRU_SWAPBACKED | LRU_DIRTY | LRU_UNEVICTABLE_PAGE |
                          LRU_IN_SWAP_CACHE | LRU_ISOLATED | LRU_OWNER_MASK;
    for (uint32_t tail = frame + (UINT32_C(1) << order); --tail > frame;) {
        lru_clear(lru, tail, RMAP_FLAGS);
        lru_set(lru, tail, lru_flags(lru, frame) & kept);
        list_add_last(lru->links, list, tail);
    }
}

void lru_note_cost(struct lru *lru, bool file, uint64_t pages_io, uint64_t pages_rotated) {
    uint64_t lists = 0;
    *(file ? &lru->file_cost : &lru->anon_cost) += pages_io * 32 + pages_rotated;
    for (int list = 0; list < LRU_EVICTABLE_LISTS; ++list) lists += lru_counted(lru, (enum lru_list)list);
    if (lru->file_cost + lru->anon_cost <= lists / 4) return;
    lru->file_cost /= 2;
    lru->anon_cost /= 2;
}
