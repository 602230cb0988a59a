#include "swap/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"

enum cluster_state { CLUSTER_NONE, CLUSTER_FREE, CLUSTER_NONFULL, CLUSTER_FRAG, CLUSTER_FULL };
enum { LIST_FREE, LIST_FULL, LIST_NONFULL, LIST_FRAG = LIST_NONFULL + SWAP_ORDERS, LISTS = LIST_FRAG + SWAP_ORDERS };

static uint32_t head(const struct swap *swap, uint32_t list) { return swap->clusters + list; }

static bool empty(const struct swap *swap, uint32_t list) { return list_empty(swap->links, head(swap, list)); }

static uint32_t first(const struct swap *swap, uint32_t list) { return list_first(swap->links, head(swap, list)); }

/// The cluster goes to the end of a list.
static void move(struct swap *swap, uint32_t cluster, uint32_t list, enum cluster_state state) {
    if (swap->cluster[cluster].state != CLUSTER_NONE) list_remove(swap->links, cluster);
    list_add_last(swap->links, head(swap, list), cluster);
    swap->cluster[cluster].state = (uint8_t)state;
}

void cluster_setup(struct swap *swap) {
    swap->clusters = (swap->slots + SWAP_CLUSTER - 1) / SWAP_CLUSTER;
    swap->cluster = host_alloc(swap->clusters * sizeof *swap->cluster);
    swap->links = host_alloc((swap->clusters + LISTS) * sizeof *swap->links);
    for (uint32_t list = 0; list < LISTS; ++list) list_init(swap->links, head(swap, list));
    swap->cluster[0].count = 1;                                   // the header
    swap->cluster[swap->clusters - 1].count += (uint16_t)(swap->clusters * SWAP_CLUSTER - swap->slots);
    for (uint32_t column = 0; column < SWAP_CLUSTER_COLUMNS; ++column)
        for (uint32_t i = column; i < swap->clusters; i += SWAP_CLUSTER_COLUMNS) {
            if (swap->cluster[i].count > 0) move(swap, i, LIST_NONFULL, CLUSTER_NONFULL);
            else move(swap, i, LIST_FREE, CLUSTER_FREE);
        }
}

/// True if [slot, slot + pages) is free, if need be after the swap cache gave it back.
static bool range_free(struct swap *swap, uint32_t slot, uint32_t pages) {
    bool reclaim = false;
    for (uint32_t i = 0; i < pages; ++i) {
        if (swap->count[slot + i] == 0) continue;
        if (swap->count[slot + i] != SWAP_CACHED || !swap_full(swap)) return false;
        reclaim = true;
    }
    for (uint32_t i = 0; reclaim && i < pages; ++i)
        if (swap->count[slot + i] != 0 && !cluster_reclaim_slot(swap, slot + i)) return false;
    return true;
}

static void reclaim_full(struct swap *swap, int64_t clusters) {
    while (!empty(swap, LIST_FULL)) {
        const uint32_t cluster = first(swap, LIST_FULL);
        const uint32_t start = cluster * SWAP_CLUSTER, end = start + SWAP_CLUSTER < swap->slots ? start + SWAP_CLUSTER : swap->slots;
        move(swap, cluster, LIST_FULL, CLUSTER_FULL);
        for (uint32_t slot = start; slot < end; ++slot)
            if (swap->count[slot] == SWAP_CACHED) cluster_reclaim_slot(swap, slot);
        if (--clusters <= 0) return;
    }
}

static void take(struct swap *swap, uint32_t slot, unsigned order) {
    const uint32_t index = slot / SWAP_CLUSTER, pages = UINT32_C(1) << order;
    struct swap_cluster *cluster = &swap->cluster[index];
    if (cluster->state == CLUSTER_FREE) {
        if (pages < SWAP_CLUSTER) move(swap, index, LIST_NONFULL + order, CLUSTER_NONFULL);
        cluster->order = (uint8_t)order;
    }
    memset(swap->count + slot, SWAP_CACHED, pages);
    swap->in_use += pages;
    cluster->count += (uint16_t)pages;
    if (cluster->count == SWAP_CLUSTER) {
        if (cluster->state == CLUSTER_FRAG) --swap->frag_count[cluster->order];
        move(swap, index, LIST_FULL, CLUSTER_FULL);
    }
    if (swap->in_use == swap->slots - 1 && swap_full(swap)) reclaim_full(swap, swap->in_use / SWAP_CLUSTER);
}

/// From `slot` upward in its cluster. *found: the slots. Returns where the search goes on; SWAP_NONE: in another cluster.
static uint32_t scan(struct swap *swap, uint32_t slot, unsigned order, uint32_t *found) {
    const uint32_t start = slot & ~(uint32_t)(SWAP_CLUSTER - 1), pages = UINT32_C(1) << order;
    const uint32_t end = start + SWAP_CLUSTER < swap->slots ? start + SWAP_CLUSTER : swap->slots;
    const struct swap_cluster *cluster = &swap->cluster[start / SWAP_CLUSTER];
    if (end < pages || cluster->count + pages > SWAP_CLUSTER) return SWAP_NONE;
    for (; slot <= end - pages; slot += pages) {
        if ((slot == 0) || !range_free(swap, slot, pages)) continue;
        take(swap, slot, order);
        *found = slot;
        if (cluster->state == CLUSTER_FULL || slot + pages > end - pages) return SWAP_NONE;
        return slot + pages;
    }
    return SWAP_NONE;
}

static uint32_t scan_cluster(struct swap *swap, uint32_t cluster, unsigned order, uint32_t *found) {
    return scan(swap, cluster * SWAP_CLUSTER, order, found);
}

/// Nonfull clusters of the order become frag ones as they are tried; then the frag ones are tried once.
static uint32_t scan_used(struct swap *swap, unsigned order, uint32_t *found) {
    uint32_t next = SWAP_NONE, tried = 0;
    while (*found == SWAP_NONE && !empty(swap, LIST_NONFULL + order)) {
        const uint32_t cluster = first(swap, LIST_NONFULL + order);
        move(swap, cluster, LIST_FRAG + order, CLUSTER_FRAG);
        ++swap->frag_count[order];
        next = scan_cluster(swap, cluster, order, found);
        ++tried;
    }
    for (; *found == SWAP_NONE && tried < swap->frag_count[order]; ++tried) {
        const uint32_t cluster = first(swap, LIST_FRAG + order);
        move(swap, cluster, LIST_FRAG + order, CLUSTER_FRAG);
        next = scan_cluster(swap, cluster, order, found);
    }
    return next;
}

static uint32_t alloc_one(struct swap *swap, unsigned order, uint32_t cpu) {
    uint32_t *next = &swap->cpu[cpu].next[order], found = SWAP_NONE;
    if (*next != SWAP_NONE) *next = scan(swap, *next, order, &found);
    if (found != SWAP_NONE) return found;
    if (!empty(swap, LIST_FREE)) {
        *next = scan_cluster(swap, first(swap, LIST_FREE), order, &found);
        return found;
    }
    if (swap_full(swap)) reclaim_full(swap, 1);
    if (order < SWAP_ORDERS - 1) *next = scan_used(swap, order, &found);
    for (unsigned larger = 1; found == SWAP_NONE && order == 0 && larger < SWAP_ORDERS; ++larger)
        for (uint32_t list = LIST_FRAG + larger;; list = LIST_NONFULL + larger) {
            for (uint32_t left = swap->clusters; found == SWAP_NONE && left > 0 && !empty(swap, list); --left)
                *next = scan_cluster(swap, first(swap, list), 0, &found);
            if (found != SWAP_NONE || list < LIST_FRAG) break;
        }
    return found;
}

uint32_t cluster_alloc(struct swap *swap, uint32_t wanted, uint32_t *slots, unsigned order, uint32_t cpu) {
    const int64_t available = swap->free >> order;
    uint32_t got = 0;
    if (available <= 0) return 0;
    if (wanted > available) wanted = (uint32_t)available;
    swap->free -= (int64_t)wanted << order;
    while (got < wanted && (slots[got] = alloc_one(swap, order, cpu)) != SWAP_NONE) ++got;
    swap->free += (int64_t)(wanted - got) << order;
    return got;
}

void cluster_free(struct swap *swap, uint32_t slot, uint32_t pages) {
    const uint32_t index = slot / SWAP_CLUSTER;
    struct swap_cluster *cluster = &swap->cluster[index];
    for (uint32_t i = 0; i < pages; ++i) {
        swap->count[slot + i] = 0;
        swap->shadow[slot + i] = 0;
    }
    cluster->count -= (uint16_t)pages;
    swap->in_use -= pages;
    swap->free += pages;
    if (cluster->count > 0 && cluster->state == CLUSTER_NONFULL) return;
    if (cluster->state == CLUSTER_FRAG) --swap->frag_count[cluster->order];
    if (cluster->count > 0) {
        move(swap, index, LIST_NONFULL + cluster->order, CLUSTER_NONFULL);
        return;
    }
    move(swap, index, LIST_FREE, CLUSTER_FREE);
    cluster->order = 0;
}

void cluster_drain_cpu(struct swap *swap, uint32_t cpu) {
    struct swap_cpu *own = &swap->cpu[cpu];
    for (uint32_t i = 0; i < own->slots_left; ++i) cluster_free(swap, own->slots[own->slots_at + i], 1);
    for (uint32_t i = 0; i < own->freed_count; ++i) cluster_free(swap, own->freed[i], 1);
    own->slots_left = own->slots_at = own->freed_count = 0;
}

const char *cluster_check(const struct swap *swap) {
    for (uint32_t i = 0; i < swap->clusters; ++i) {
        uint32_t used = 0;
        for (uint32_t slot = i * SWAP_CLUSTER; slot < (i + 1) * SWAP_CLUSTER; ++slot)
            used += slot == 0 || slot >= swap->slots || swap->count[slot] != 0;
        const struct swap_cluster *cluster = &swap->cluster[i];
        if (used != cluster->count) return "a cluster counts its slots in use";
        if ((cluster->state == CLUSTER_FREE) != (used == 0)) return "an empty cluster is free";
        if (cluster->state != CLUSTER_FULL && used == SWAP_CLUSTER && swap->slots > SWAP_CLUSTER * (i + 1))
            return "a cluster without a free slot is full";
    }
    return NULL;
}
