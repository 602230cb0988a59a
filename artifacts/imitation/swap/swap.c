#include "swap/swap.h"

#include <stdlib.h>

#include "base/host.h"
#include "swap/cluster.h"

void swap_create(struct swap *swap, struct lru *lru, uint32_t pages, bool synchronous) {
    *swap = (struct swap){.lru = lru, .synchronous = synchronous};
    if (pages < 2) return;
    swap->slots = pages;
    swap->free = (int64_t)pages - 1;
    swap->count = host_alloc(pages);
    swap->frame = host_alloc(pages * sizeof *swap->frame);
    swap->shadow = host_alloc(pages * sizeof *swap->shadow);
    swap->slot_of = host_alloc(lru->phys->frames.count * sizeof *swap->slot_of);
    swap->cpu = host_alloc(lru->phys->cpus * sizeof *swap->cpu);
    for (uint32_t slot = 0; slot < pages; ++slot) swap->frame[slot] = PHYS_NO_FRAME;
    cluster_setup(swap);
}

void swap_destroy(struct swap *swap) {
    free(swap->count);
    free(swap->frame);
    free(swap->shadow);
    free(swap->slot_of);
    free(swap->cpu);
    free(swap->cluster);
    free(swap->links);
    free(swap->writing);
    *swap = (struct swap){0};
}

static bool caches_active(struct swap *swap) {
    const int64_t cpus = swap->lru->phys->cpus;
    if (!swap->caches_active) {
        swap->caches_active = swap->free > cpus * 5 * SWAP_BATCH;
    } else if (swap->free < cpus * 2 * SWAP_BATCH) {
        swap->caches_active = false;
        for (uint32_t cpu = 0; cpu < swap->lru->phys->cpus; ++cpu) cluster_drain_cpu(swap, cpu);
    }
    return swap->caches_active;
}

uint32_t swap_alloc(struct swap *swap, unsigned order, uint32_t cpu) {
    uint32_t slot = SWAP_NONE;
    if (swap->slots == 0) return SWAP_NONE;
    if (order == 0 && caches_active(swap)) {
        struct swap_cpu *own = &swap->cpu[cpu];
        if (own->slots_left == 0) {
            own->slots_at = 0;
            own->slots_left = cluster_alloc(swap, SWAP_BATCH, own->slots, 0, cpu);
        }
        if (own->slots_left > 0) {
            --own->slots_left;
            return own->slots[own->slots_at++];
        }
    }
    return cluster_alloc(swap, 1, &slot, order, cpu) > 0 ? slot : SWAP_NONE;
}

/// A slot without entries and cache, which `count` still names as cached, goes back (free_swap_slot).
static void give_back(struct swap *swap, uint32_t slot, uint32_t cpu) {
    struct swap_cpu *own = &swap->cpu[cpu];
    if (!swap->caches_active) {
        cluster_free(swap, slot, 1);
        return;
    }
    if (own->freed_count == SWAP_BATCH) {
        for (uint32_t i = 0; i < own->freed_count; ++i) cluster_free(swap, own->freed[i], 1);
        own->freed_count = 0;
    }
    own->freed[own->freed_count++] = slot;
}

/// One user of the slot less: the cache, or an entry. A slot without users keeps SWAP_CACHED until it is back in its cluster.
static void drop_user(struct swap *swap, uint32_t slot, bool cache, uint32_t cpu) {
    if (cache) swap->count[slot] &= (uint8_t)~SWAP_CACHED;
    else --swap->count[slot];
    if (swap->count[slot] != 0) return;
    swap->count[slot] = SWAP_CACHED;
    give_back(swap, slot, cpu);
}

uint64_t swap_cache_add(struct swap *swap, uint32_t frame, uint32_t slot) {
    const uint32_t pages = lru_pages(swap->lru, frame);
    const uint64_t shadow = swap->shadow[slot];
    for (uint32_t i = 0; i < pages; ++i) {
        swap->frame[slot + i] = frame + i;
        swap->slot_of[frame + i] = slot + i;
        swap->shadow[slot + i] = 0;
    }
    lru_set(swap->lru, frame, LRU_IN_SWAP_CACHE);
    return shadow;
}

static bool only_cached(const struct swap *swap, uint32_t slot, uint32_t pages) {
    for (uint32_t i = 0; i < pages; ++i)
        if (swap->count[slot + i] != SWAP_CACHED) return false;
    return true;
}

/// The cache forgets the page; its slots still count it.
static void forget(struct swap *swap, uint32_t frame, uint64_t shadow) {
    const uint32_t slot = swap->slot_of[frame], pages = lru_pages(swap->lru, frame);
    lru_clear(swap->lru, frame, LRU_IN_SWAP_CACHE);
    for (uint32_t i = 0; i < pages; ++i) {
        swap->frame[slot + i] = PHYS_NO_FRAME;
        swap->shadow[slot + i] = shadow;
    }
}

void swap_cache_remove(struct swap *swap, uint32_t frame, uint64_t shadow, uint32_t cpu) {
    const uint32_t slot = swap->slot_of[frame], pages = lru_pages(swap->lru, frame);
    forget(swap, frame, shadow);
    if (pages > 1 && only_cached(swap, slot, pages)) {
        cluster_free(swap, slot, pages);
        return;
    }
    for (uint32_t i = 0; i < pages; ++i) drop_user(swap, slot + i, true, cpu);
}

bool swap_hold(struct swap *swap, uint32_t slot) {
    if (swap->count[slot] == 0 || swap->count[slot] & SWAP_CACHED) return false;
    swap->count[slot] |= SWAP_CACHED;
    return true;
}

bool swap_duplicate(struct swap *swap, uint32_t slot) {
    if (swap_entries(swap, slot) == SWAP_MOST_COUNT) return false;
    ++swap->count[slot];
    return true;
}

void swap_free(struct swap *swap, uint32_t slot, uint32_t cpu) { drop_user(swap, slot, false, cpu); }

/// First page of the page in the swap cache that has the slot, if it may leave the cache now.
static uint32_t freeable(const struct swap *swap, uint32_t slot) {
    const uint32_t page = swap->frame[slot];
    if (page == PHYS_NO_FRAME) return PHYS_NO_FRAME;
    const uint32_t frame = frames_block_of(&swap->lru->phys->frames, page);
    if (lru_has(swap->lru, frame, LRU_WRITEBACK | LRU_LOCKED)) return PHYS_NO_FRAME;
    return only_cached(swap, swap->slot_of[frame], lru_pages(swap->lru, frame)) ? frame : PHYS_NO_FRAME;
}

bool cluster_reclaim_slot(struct swap *swap, uint32_t slot) {
    const uint32_t frame = freeable(swap, slot);
    if (frame == PHYS_NO_FRAME) return false;
    const uint32_t first = swap->slot_of[frame], pages = lru_pages(swap->lru, frame);
    forget(swap, frame, 0);
    lru_set(swap->lru, frame, LRU_DIRTY);
    cluster_free(swap, first, pages);
    return true;
}

void swap_unhold(struct swap *swap, uint32_t slot, uint32_t cpu) { drop_user(swap, slot, true, cpu); }

/// swap_is_last_map: one entry each, and all or none are cached.
static bool last_entries(const struct swap *swap, uint32_t slot, uint32_t pages) {
    if (pages < 2 || swap_entries(swap, slot) != 1 || pages > SWAP_CLUSTER - slot % SWAP_CLUSTER) return false;
    for (uint32_t i = 1; i < pages; ++i)
        if (swap->count[slot + i] != swap->count[slot]) return false;
    return true;
}

/// Entries go; slots without users go back.
static void drop_entries(struct swap *swap, uint32_t slot, uint32_t pages, uint32_t cpu) {
    if (!last_entries(swap, slot, pages)) {
        for (uint32_t i = 0; i < pages; ++i) drop_user(swap, slot + i, false, cpu);
        return;
    }
    const bool cached = swap->count[slot] & SWAP_CACHED;
    for (uint32_t i = 0; i < pages; ++i) swap->count[slot + i] = SWAP_CACHED;
    if (!cached) cluster_free(swap, slot, pages);
}

void swap_drop(struct swap *swap, uint32_t slot, uint32_t pages, uint32_t cpu, swap_gone *gone, void *context) {
    struct lru *lru = swap->lru;
    drop_entries(swap, slot, pages, cpu);
    for (uint32_t i = 0; i < pages; ++i) {
        const uint32_t frame = swap->count[slot + i] == SWAP_CACHED ? freeable(swap, slot + i) : PHYS_NO_FRAME;
        if (frame == PHYS_NO_FRAME) continue;
        const struct lru_owner *owner = lru_owner_of(lru, frame);
        if (owner->mapped(owner->context, frame) && !swap_full(swap)) continue;
        swap_cache_remove(swap, frame, 0, cpu);
        lru_set(lru, frame, LRU_DIRTY);
        gone(context, frame, cpu);
    }
}

bool swap_release(struct swap *swap, uint32_t frame, uint32_t cpu) {
    if (!lru_has(swap->lru, frame, LRU_IN_SWAP_CACHE) || lru_has(swap->lru, frame, LRU_WRITEBACK)) return false;
    const uint32_t slot = swap->slot_of[frame], pages = lru_pages(swap->lru, frame);
    for (uint32_t i = 0; i < pages; ++i)
        if (swap_entries(swap, slot + i) > 0) return false;
    swap_cache_remove(swap, frame, 0, cpu);
    lru_set(swap->lru, frame, LRU_DIRTY);
    return true;
}

static void transfer(struct swap *swap, bool write, uint32_t frame) {
    const uint32_t pages = lru_pages(swap->lru, frame);
    for (uint32_t i = 0; swap->transfer && i < pages; ++i) swap->transfer(swap->context, write, swap->slot_of[frame + i], frame + i);
    *(write ? &swap->counts.pswpout : &swap->counts.pswpin) += pages;
}

enum lru_written swap_write(struct swap *swap, uint32_t frame) {
    lru_clear(swap->lru, frame, LRU_DIRTY);
    transfer(swap, true, frame);
    if (swap->synchronous) return LRU_WRITE_DONE;
    lru_set(swap->lru, frame, LRU_WRITEBACK | LRU_RECLAIM);
    swap->writing = host_grow(swap->writing, &swap->write_room, swap->writes + 1, sizeof *swap->writing);
    swap->writing[swap->writes++] = frame;
    return LRU_WRITE_STARTED;
}

void swap_read(struct swap *swap, uint32_t frame) { transfer(swap, false, frame); }

void swap_finish_writes(struct swap *swap, uint32_t cpu) {
    for (size_t i = 0; i < swap->writes; ++i) lru_end_writeback(swap->lru, swap->writing[i], cpu);
    swap->writes = 0;
}

uint32_t swap_window(uint64_t previous, uint64_t now, uint32_t hits, uint32_t most, uint32_t previous_window) {
    uint32_t pages = hits + 2;
    if (pages == 2) {
        if (now != previous + 1 && now != previous - 1) pages = 1;
    } else {
        uint32_t rounded = 4;
        while (rounded < pages) rounded <<= 1;
        pages = rounded;
    }
    if (pages > most) pages = most;
    return pages < previous_window / 2 ? previous_window / 2 : pages;
}

const char *swap_check(const struct swap *swap) {
    int64_t used = 0;
    for (uint32_t slot = 1; slot < swap->slots; ++slot) {
        used += swap->count[slot] != 0;
        if (swap->frame[slot] == PHYS_NO_FRAME) continue;
        if (!(swap->count[slot] & SWAP_CACHED)) return "a slot of the swap cache says so";
        if (swap->slot_of[swap->frame[slot]] != slot) return "a page of the swap cache knows its slot";
    }
    if (used != (int64_t)swap->in_use) return "a swap area counts its slots in use";
    return swap->slots > 0 && swap->free + used != (int64_t)swap->slots - 1 ? "slots of a swap area are free or in use"
                                                                            : cluster_check(swap);
}
