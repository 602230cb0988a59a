#include "slab/slab.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/host.h"

static void report(const struct slab_cache *cache, bool added, const struct slab *slab) {
    const struct events *sink = &cache->phys->events;
    if (sink->slab) sink->slab(sink->context, cache->name, added, slab->frame, slab->order);
}

/// allocate_slab. SLAB_NONE: *outcome.
static uint32_t new_slab(struct slab_cache *cache, uint32_t cpu, enum phys_outcome *outcome) {
    const enum phys_type type = cache->reclaimable ? PHYS_RECLAIMABLE : PHYS_UNMOVABLE;
    unsigned order = cache->order;
    struct phys_request request = phys_request_default(order, type);
    request.cpu = (uint8_t)cpu;
    if (order > cache->least_order) {
        request.may_reclaim = request.may_wake_kswapd = false;
        request.no_reserves = true;
    }
    struct phys_result result = phys_obtain(cache->phys, &request);
    if (result.outcome != PHYS_GOT_FRAMES && order > cache->least_order) {
        order = cache->least_order;
        request = phys_request_default(order, type);
        request.cpu = (uint8_t)cpu;
        result = phys_obtain(cache->phys, &request);
    }
    *outcome = result.outcome;
    if (result.outcome != PHYS_GOT_FRAMES) return SLAB_NONE;
    uint32_t number = cache->spare;
    if (number != SLAB_NONE) {
        cache->spare = cache->slab[number].next;
    } else {
        cache->slab = host_grow(cache->slab, &cache->room, cache->slabs + 1, sizeof *cache->slab);
        number = (uint32_t)cache->slabs++;
    }
    const uint32_t objects = (PHYS_FRAME_BYTES << order) / cache->size;
    struct slab *slab = &cache->slab[number];
    *slab = (struct slab){.frame = result.frame,
                          .order = (uint8_t)order,
                          .objects = (uint16_t)objects,
                          .next = SLAB_NONE,
                          .previous = SLAB_NONE,
                          .link = host_alloc(objects * sizeof *slab->link)};
    for (uint32_t i = 0; i < objects; ++i) slab->link[i] = (uint16_t)(i + 1 < objects ? i + 1 : SLAB_END);
    ++cache->counts.new_slabs;
    report(cache, true, slab);
    return number;
}

static void discard(struct slab_cache *cache, uint32_t number, uint32_t cpu) {
    struct slab *slab = &cache->slab[number];
    struct error error;
    report(cache, false, slab);
    ++cache->counts.freed_slabs;
    if (!phys_free(cache->phys, slab->frame, slab->order, cpu, &error)) error_stop(&error);
    free(slab->link);
    *slab = (struct slab){.frame = PHYS_NO_FRAME, .next = cache->spare};
    cache->spare = number;
}

static void node_add(struct slab_cache *cache, uint32_t number, bool tail) {
    struct slab *slab = &cache->slab[number];
    slab->next = tail ? SLAB_NONE : cache->node_first;
    slab->previous = tail ? cache->node_last : SLAB_NONE;
    *(slab->previous != SLAB_NONE ? &cache->slab[slab->previous].next : &cache->node_first) = number;
    *(slab->next != SLAB_NONE ? &cache->slab[slab->next].previous : &cache->node_last) = number;
    slab->on_node = true;
    ++cache->node_count;
}

static void node_remove(struct slab_cache *cache, uint32_t number) {
    struct slab *slab = &cache->slab[number];
    *(slab->previous != SLAB_NONE ? &cache->slab[slab->previous].next : &cache->node_first) = slab->next;
    *(slab->next != SLAB_NONE ? &cache->slab[slab->next].previous : &cache->node_last) = slab->previous;
    slab->on_node = false;
    --cache->node_count;
}

/// __put_partials: a chain by `next`.
static void to_node(struct slab_cache *cache, uint32_t number, uint32_t cpu) {
    uint32_t empty = SLAB_NONE;
    while (number != SLAB_NONE) {
        const uint32_t next = cache->slab[number].next;
        if (cache->slab[number].used == 0 && cache->node_count >= cache->min_partial) {
            cache->slab[number].next = empty;
            empty = number;
        } else {
            node_add(cache, number, true);
        }
        number = next;
    }
    while (empty != SLAB_NONE) {
        const uint32_t next = cache->slab[empty].next;
        discard(cache, empty, cpu);
        empty = next;
    }
}

/// put_cpu_partial.
static void to_cpu(struct slab_cache *cache, uint32_t number, bool drain, uint32_t cpu) {
    struct slab_cpu *own = &cache->cpu[cpu];
    uint32_t old = own->partial, put = SLAB_NONE;
    if (old != SLAB_NONE && drain && cache->slab[old].behind >= cache->cpu_partial_slabs) {
        put = old;
        old = SLAB_NONE;
    }
    cache->slab[number].behind = (old == SLAB_NONE ? 0 : cache->slab[old].behind) + 1;
    cache->slab[number].next = old;
    own->partial = number;
    if (put == SLAB_NONE) return;
    to_node(cache, put, cpu);
    ++cache->counts.to_node;
}

/// get_partial_node. SLAB_NONE: the node has none.
static uint32_t from_node(struct slab_cache *cache, uint32_t cpu) {
    uint32_t got = SLAB_NONE, more = 0;
    for (uint32_t number = cache->node_first, next; number != SLAB_NONE; number = next) {
        next = cache->slab[number].next;
        node_remove(cache, number);
        if (got == SLAB_NONE) {
            got = number;
            ++cache->counts.from_node;
            continue;
        }
        to_cpu(cache, number, false, cpu);
        if (++more > cache->cpu_partial / 2) break;
    }
    return got;
}

/// get_freelist, freeze_slab: the CPU gets all free objects of the slab. False: it has none, and is no CPU's any more.
static bool claim(struct slab_cache *cache, struct slab_cpu *own, uint32_t number) {
    struct slab *slab = &cache->slab[number];
    own->free = slab->free;
    slab->frozen = slab->free != SLAB_END;
    slab->free = SLAB_END;
    slab->used = slab->objects;
    own->slab = slab->frozen ? number : SLAB_NONE;
    return slab->frozen;
}

static slab_object take(struct slab_cache *cache, struct slab_cpu *own) {
    const uint16_t object = own->free;
    own->free = cache->slab[own->slab].link[object];
    return (uint64_t)own->slab << 16 | object;
}

/// ___slab_alloc.
static bool refill(struct slab_cache *cache, uint32_t cpu, enum phys_outcome *outcome) {
    struct slab_cpu *own = &cache->cpu[cpu];
    if (own->slab != SLAB_NONE && claim(cache, own, own->slab)) return true;
    if (own->partial != SLAB_NONE) {
        const uint32_t number = own->partial;
        own->partial = cache->slab[number].next;
        ++cache->counts.from_cpu_partial;
        return claim(cache, own, number);
    }
    uint32_t number = from_node(cache, cpu);
    if (number == SLAB_NONE) number = new_slab(cache, cpu, outcome);
    return number != SLAB_NONE && claim(cache, own, number);
}

slab_object slab_alloc(struct slab_cache *cache, uint32_t cpu, enum phys_outcome *outcome) {
    struct slab_cpu *own = &cache->cpu[cpu];
    *outcome = PHYS_GOT_FRAMES;
    if (own->free == SLAB_END && !refill(cache, cpu, outcome)) return SLAB_NO_OBJECT;
    ++cache->counts.allocs;
    return take(cache, own);
}

/// __slab_free, of an object whose slab is not this CPU's.
static void free_elsewhere(struct slab_cache *cache, uint32_t number, uint16_t object, uint32_t cpu) {
    struct slab *slab = &cache->slab[number];
    const bool was_full = slab->free == SLAB_END;
    slab->link[object] = slab->free;
    slab->free = object;
    --slab->used;
    if (slab->frozen) return;
    if (was_full) {
        to_cpu(cache, number, true, cpu);
    } else if (slab->used == 0 && slab->on_node && cache->node_count >= cache->min_partial) {
        node_remove(cache, number);
        discard(cache, number, cpu);
    }
}

void slab_free(struct slab_cache *cache, slab_object object, uint32_t cpu) {
    const uint32_t number = (uint32_t)(object >> 16);
    const uint16_t at = (uint16_t)object;
    struct slab_cpu *own = &cache->cpu[cpu];
    ++cache->counts.frees;
    if (own->slab != number) {
        free_elsewhere(cache, number, at, cpu);
        return;
    }
    cache->slab[number].link[at] = own->free;
    own->free = at;
}

/// deactivate_slab: the CPU's slab goes to the node.
static void give_up(struct slab_cache *cache, uint32_t cpu) {
    struct slab_cpu *own = &cache->cpu[cpu];
    const uint32_t number = own->slab;
    if (number == SLAB_NONE) return;
    struct slab *slab = &cache->slab[number];
    const bool tail = slab->free != SLAB_END;
    uint16_t last = SLAB_END;
    for (uint16_t at = own->free; at != SLAB_END; at = slab->link[at]) {
        last = at;
        --slab->used;
    }
    if (last != SLAB_END) {
        slab->link[last] = slab->free;
        slab->free = own->free;
    }
    slab->frozen = false;
    own->slab = SLAB_NONE;
    own->free = SLAB_END;
    if (slab->used == 0 && cache->node_count >= cache->min_partial) discard(cache, number, cpu);
    else if (slab->free != SLAB_END) node_add(cache, number, tail);
}

void slab_shrink(struct slab_cache *cache, uint32_t cpu) {
    struct slab_cpu *own = &cache->cpu[cpu];
    give_up(cache, cpu);
    const uint32_t partial = own->partial;
    own->partial = SLAB_NONE;
    to_node(cache, partial, cpu);
    for (uint32_t number = cache->node_first, next; number != SLAB_NONE; number = next) {
        next = cache->slab[number].next;
        if (cache->slab[number].used > 0) continue;
        node_remove(cache, number);
        discard(cache, number, cpu);
    }
}

void slab_cache_destroy(struct slab_cache *cache, uint32_t cpu) {
    for (uint32_t i = 0; i < cache->phys->cpus; ++i) slab_shrink(cache, i);
    slab_shrink(cache, cpu);
    for (size_t i = 0; i < cache->slabs; ++i) free(cache->slab[i].link);
    free(cache->slab);
    free(cache->cpu);
    *cache = (struct slab_cache){0};
}
