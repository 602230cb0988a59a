#include "lru/rmap.h"

#include <stdlib.h>

#include "base/host.h"

#define RMAP_CHAIN (UINT64_C(1) << 63)

static rmap_place place_of(uint64_t word) { return word >> RMAP_FLAG_BITS; }

static uint32_t chain_of(uint64_t word) { return (uint32_t)(word >> RMAP_FLAG_BITS); }

static void set_chain(struct rmap *rmap, uint32_t frame, uint32_t link) {
    rmap->word[frame] = (rmap->word[frame] & RMAP_FLAGS) | RMAP_CHAIN | (uint64_t)link << RMAP_FLAG_BITS;
}

void rmap_create(struct rmap *rmap, uint32_t frames) {
    *rmap = (struct rmap){.links = 1};
    rmap->word = host_alloc(frames * sizeof *rmap->word);
}

void rmap_destroy(struct rmap *rmap) {
    free(rmap->word);
    free(rmap->link);
    *rmap = (struct rmap){0};
}

static uint32_t new_link(struct rmap *rmap, rmap_place place) {
    uint32_t link = rmap->spare;
    if (link != 0) {
        rmap->spare = rmap->link[link].next;
    } else {
        rmap->link = host_grow(rmap->link, &rmap->room, rmap->links + 1, sizeof *rmap->link);
        link = (uint32_t)rmap->links++;
    }
    rmap->link[link] = (struct rmap_link){place, 0};
    return link;
}

static void drop_link(struct rmap *rmap, uint32_t link) {
    rmap->link[link].next = rmap->spare;
    rmap->spare = link;
}

void rmap_add(struct rmap *rmap, uint32_t frame, rmap_place place) {
    if (!rmap_mapped(rmap, frame)) {
        rmap_set(rmap, frame, place);
        return;
    }
    if (!rmap_shared(rmap, frame)) set_chain(rmap, frame, new_link(rmap, place_of(rmap->word[frame])));
    uint32_t last = chain_of(rmap->word[frame]);
    while (rmap->link[last].next != 0) last = rmap->link[last].next;
    const uint32_t link = new_link(rmap, place);       // may move the array
    rmap->link[last].next = link;
}

void rmap_remove_shared(struct rmap *rmap, uint32_t frame, rmap_place place) {
    uint32_t before = 0, link = chain_of(rmap->word[frame]);
    while (rmap->link[link].place != place) {
        before = link;
        link = rmap->link[link].next;
    }
    const uint32_t next = rmap->link[link].next;
    if (before != 0) rmap->link[before].next = next;
    else set_chain(rmap, frame, next);
    drop_link(rmap, link);
    const uint32_t left = chain_of(rmap->word[frame]);
    if (rmap->link[left].next != 0) return;
    rmap_set(rmap, frame, rmap->link[left].place);
    drop_link(rmap, left);
}

void rmap_move(struct rmap *rmap, uint32_t frame, rmap_place from, rmap_place to) {
    if (!rmap_shared(rmap, frame)) {
        rmap_set(rmap, frame, to);
        return;
    }
    uint32_t link = chain_of(rmap->word[frame]);
    while (rmap->link[link].place != from) link = rmap->link[link].next;
    rmap->link[link].place = to;
}

struct rmap_walk rmap_start(const struct rmap *rmap, uint32_t frame) {
    const uint64_t word = rmap->word[frame];
    if (word & RMAP_CHAIN) return (struct rmap_walk){rmap, 0, chain_of(word)};
    return (struct rmap_walk){rmap, place_of(word), 0};
}

bool rmap_next(struct rmap_walk *walk, rmap_place *place) {
    if (walk->single != 0) {
        *place = walk->single;
        walk->single = 0;
        return true;
    }
    if (walk->link == 0) return false;
    *place = walk->rmap->link[walk->link].place;
    walk->link = walk->rmap->link[walk->link].next;
    return true;
}

rmap_place rmap_oldest(const struct rmap *rmap, uint32_t frame) {
    const uint64_t word = rmap->word[frame];
    return word & RMAP_CHAIN ? rmap->link[chain_of(word)].place : place_of(word);
}

uint32_t rmap_count(const struct rmap *rmap, uint32_t frame) {
    rmap_place place;
    uint32_t count = 0;
    for (struct rmap_walk walk = rmap_start(rmap, frame); rmap_next(&walk, &place);) ++count;
    return count;
}
