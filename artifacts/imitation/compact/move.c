// move.c - isolated pages move to free frames (mm/migrate.c migrate_pages_batch).
#include "compact/run.h"

/// The page takes its flags along; its old frame is free.
static bool move_page(struct run *run, uint32_t from, uint32_t to) {
    struct compact *compact = run->compact;
    struct lru *lru = compact->lru;
    const struct lru_owner *owner = lru_owner_of(lru, from);
    const unsigned flags = lru_flags(lru, from) & ~(unsigned)LRU_ISOLATED;
    lru_own(lru, to, 0, 0);
    if (!owner->migrate(owner->context, from, to, run->cpu)) return false;
    lru_clear(lru, to, RMAP_FLAGS);
    lru_set(lru, to, flags);
    EVENTS_DECISION(&lru->phys->events, "compact migrate from=%u to=%u", from, to);
    lru_add(lru, to, run->cpu);
    lru_clear(lru, from, RMAP_FLAGS);
    --lru->isolated[lru_is_file(lru, to)];
    compact->free(compact->context, from, run->cpu);
    return true;
}

bool run_migrate(struct run *run, bool *no_frames) {
    struct lru *lru = run->compact->lru;
    const uint32_t list = lru_spare(lru, COMPACT_LIST_MIGRATE);
    uint32_t from[PHYS_PAGEBLOCK_FRAMES], to[PHYS_PAGEBLOCK_FRAMES], count = 0, failed = 0;
    *no_frames = false;
    // All pages get their frames first; then they move, in the same order.
    for (uint32_t frame = list_first(lru->links, list); frame != list; frame = list_first(lru->links, frame)) {
        if (lru_pages(lru, frame) > 1) continue;                     // larger pages stay
        to[count] = run_take_free(run);
        if (to[count] == PHYS_NO_FRAME) {
            *no_frames = true;
            break;
        }
        from[count++] = frame;
    }
    for (uint32_t i = 0; i < count; ++i) {
        list_remove(lru->links, from[i]);
        if (move_page(run, from[i], to[i])) {
            ++run->compact->counts.pgmigrate_success;
            continue;
        }
        ++failed;
        ++run->compact->counts.pgmigrate_fail;
        list_add_last(lru->links, list, from[i]);
        run_keep_free(run, to[i], 0, true);
    }
    run->migrating = 0;
    const bool done = list_empty(lru->links, list) && failed == 0;
    run_put_back(run);
    return done;
}
