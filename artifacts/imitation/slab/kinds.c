// kinds.c - sizes and orders of caches (slab.h), and their check.
#include <stdio.h>
#include <string.h>

#include "base/host.h"
#include "slab/slab.h"

const struct slab_kind slab_known[SLAB_KNOWN] = {
    [SLAB_VM_AREA] = {"vm_area_struct", 160, 8, false, false},  [SLAB_VMA_LOCK] = {"vma_lock", 40, 8, false, false},
    [SLAB_ANON_VMA] = {"anon_vma", 96, 8, true, false},         [SLAB_ANON_VMA_CHAIN] = {"anon_vma_chain", 64, 8, false, false},
    [SLAB_MAPLE_NODE] = {"maple_node", 256, 256, false, false}, [SLAB_RADIX_TREE_NODE] = {"radix_tree_node", 576, 8, true, true},
};

/// The smallest order whose block holds so many bytes (get_order).
static unsigned order_of(uint64_t bytes) {
    unsigned order = 0;
    while ((uint64_t)PHYS_FRAME_BYTES << order < bytes) ++order;
    return order;
}

static uint32_t log2_of(uint32_t value) { return 31u - (uint32_t)__builtin_clz(value); }

unsigned slab_order(uint32_t size, uint32_t cpus) {
    const uint32_t most = (PHYS_FRAME_BYTES << SLAB_MOST_ORDER) / size, wanted = 4 * (log2_of(cpus) + 2);
    const uint32_t least = wanted < most ? wanted : most > 0 ? most : 1;
    const unsigned least_order = order_of((uint64_t)least * size);
    for (uint32_t fraction = 16; fraction > 1; fraction /= 2)
        for (unsigned order = least_order; order <= SLAB_MOST_ORDER; ++order) {
            const uint32_t bytes = PHYS_FRAME_BYTES << order;
            if (bytes % size <= bytes / fraction) return order;
        }
    return order_of(size);
}

static uint32_t cpu_partial(uint32_t size) { return size >= PHYS_FRAME_BYTES ? 6 : size >= 1024 ? 24 : size >= 256 ? 52 : 120; }

bool slab_cache_create(struct slab_cache *cache, struct phys *phys, const struct slab_kind *kind, uint32_t possible_cpus) {
    const uint32_t align = kind->align < 8 ? 8 : kind->align, cpus = phys->cpus > 1 || possible_cpus == 0 ? phys->cpus : possible_cpus;
    const uint32_t bytes = (kind->object_bytes + 7) / 8 * 8 + (kind->link_outside ? 8 : 0);
    const uint32_t size = (bytes + align - 1) / align * align;
    if (kind->object_bytes == 0 || size > PHYS_FRAME_BYTES << SLAB_MOST_ORDER || strlen(kind->name) >= SLAB_NAME_BYTES) return false;
    *cache = (struct slab_cache){.phys = phys,
                                 .object_bytes = kind->object_bytes,
                                 .size = size,
                                 .reclaimable = kind->reclaimable,
                                 .order = slab_order(size, cpus),
                                 .least_order = order_of(size),
                                 .spare = SLAB_NONE,
                                 .node_first = SLAB_NONE,
                                 .node_last = SLAB_NONE,
                                 .cpu_partial = cpu_partial(size)};
    snprintf(cache->name, sizeof cache->name, "%s", kind->name);
    cache->objects = (PHYS_FRAME_BYTES << cache->order) / size;
    cache->cpu_partial_slabs = (2 * cache->cpu_partial + cache->objects - 1) / cache->objects;
    const uint32_t half = log2_of(size) / 2;
    cache->min_partial = half < SLAB_LEAST_PARTIAL ? SLAB_LEAST_PARTIAL : half > SLAB_MOST_PARTIAL ? SLAB_MOST_PARTIAL : half;
    cache->cpu = host_alloc(phys->cpus * sizeof *cache->cpu);
    for (uint32_t i = 0; i < phys->cpus; ++i) cache->cpu[i] = (struct slab_cpu){SLAB_NONE, SLAB_END, SLAB_NONE};
    return true;
}

const char *slab_check(const struct slab_cache *cache) {
    uint32_t count = 0;
    uint64_t used = 0;
    for (uint32_t number = cache->node_first, previous = SLAB_NONE; number != SLAB_NONE; number = cache->slab[number].next) {
        const struct slab *slab = &cache->slab[number];
        if (slab->previous != previous || !slab->on_node || slab->frozen) return "the node's list has partial slabs of no CPU";
        previous = number;
        ++count;
    }
    if (count != cache->node_count) return "the node counts its partial slabs";
    for (size_t i = 0; i < cache->slabs; ++i) {
        const struct slab *slab = &cache->slab[i];
        uint32_t not_used = 0;
        if (slab->frame == PHYS_NO_FRAME) continue;
        if (!frame_is(&cache->phys->frames, slab->frame, FRAME_USED, slab->order)) return "a slab is a block in use";
        for (uint16_t at = slab->free; at != SLAB_END; at = slab->link[at]) ++not_used;
        if (not_used != (uint32_t)(slab->objects - slab->used)) return "a slab counts its free objects";
        used += slab->used;
    }
    for (uint32_t i = 0; i < cache->phys->cpus; ++i) {
        const struct slab_cpu *own = &cache->cpu[i];
        for (uint16_t at = own->free; at != SLAB_END; at = cache->slab[own->slab].link[at]) --used;
    }
    return used == cache->counts.allocs - cache->counts.frees ? NULL : "objects in use are counted";
}
