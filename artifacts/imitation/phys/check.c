#include "phys/check.h"

#include <stdlib.h>

#include "phys/freelist.h"
#include "phys/percpu.h"

/// Adds the frames of a block to `covered`. Every known block is managed, in one zone, and overlaps no other.
static const char *cover(const struct phys *p, uint64_t *covered, uint32_t frame) {
    const unsigned order = frame_order(&p->frames, frame);
    const uint32_t count = UINT32_C(1) << order;
    if (order > PHYS_MAX_ORDER || frame % count != 0) return "blocks are aligned to their size, with an order up to 10";
    if (bitmap_count(p->frames.managed, frame, count) != count) return "every frame of a block is managed";
    if (bitmap_count(covered, frame, count) != 0) return "blocks do not overlap";
    if (frame_kind(&p->frames, frame) != FRAME_USED && bitmap_count(p->frames.lru, frame, count) != 0)
        return "only frames in use are on LRU lists";
    bitmap_set(covered, frame, count);
    return NULL;
}

/// Walks one list. All elements have the kind and order; `blocks` grows by their number, which may not exceed the table's size.
static const char *walk(const struct phys *p, uint32_t list, enum frame_kind kind, unsigned order, int zone, int type, uint64_t *blocks) {
    for (uint32_t frame = list_first(p->frames.links, list); frame != list; frame = list_first(p->frames.links, frame)) {
        if (frame >= p->frames.count || !frame_is(&p->frames, frame, kind, order)) return "a list holds blocks of its kind and order";
        if (list_first(p->frames.links, list_last(p->frames.links, frame)) != frame) return "links of a list agree in both directions";
        if ((int)frame_zone(frame) != zone) return "a list holds blocks of its zone";
        if (kind == FRAME_FREE && frame_block_type(&p->frames, frame) != type) return "a free block is on the list of its pageblock's type";
        if (++*blocks > p->frames.count) return "a list ends";
    }
    return NULL;
}

static const char *check_free_lists(const struct phys *p, const struct zone *zone, uint64_t *heads) {
    int64_t frames = 0, reserve = 0;
    for (unsigned order = 0; order < PHYS_ORDERS; ++order) {
        uint64_t of_order = 0;
        for (int type = 0; type < PHYS_TYPES; ++type) {
            const uint64_t before = of_order;
            const char *broken = walk(p, free_list(zone, order, type), FRAME_FREE, order, zone->id, type, &of_order);
            if (broken) return broken;
            if (type == PHYS_HIGHATOMIC) reserve += (int64_t)(of_order - before) << order;
        }
        if (of_order != zone->blocks[order]) return "a zone counts its free blocks of each order";
        frames += (int64_t)of_order << order;
        *heads += of_order;
    }
    if (frames != phys_zone_free(p, (enum phys_zone)zone->id)) return "a zone's free frames are its count plus the drift of its CPUs";
    return reserve == zone->free_highatomic ? NULL : "a zone counts the free frames of its reserve";
}

static const char *check_percpu_lists(const struct phys *p, const struct zone *zone, uint64_t *heads) {
    for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) {
        int64_t frames = 0;
        for (unsigned index = 0; index < PHYS_PERCPU_LISTS; ++index) {
            uint64_t blocks = 0;
            const unsigned order = percpu_index_order(index);
            const char *broken = walk(p, zone->percpu[cpu].first_list + index, FRAME_PERCPU, order, zone->id, -1, &blocks);
            if (broken) return broken;
            frames += (int64_t)blocks << order;
            *heads += blocks;
        }
        if (frames != zone->percpu[cpu].count) return "a CPU counts the frames on its lists";
    }
    return NULL;
}

const char *phys_check(const struct phys *p) {
    uint64_t *covered = calloc(bitmap_words(p->frames.count), sizeof *covered);
    uint64_t heads = 0, listed = 0;
    const char *broken = covered ? NULL : "out of memory";
    for (uint32_t frame = 0; !broken && frame < p->frames.count; ++frame) {
        const int kind = frame_kind(&p->frames, frame);
        if (kind == FRAME_INSIDE) continue;
        heads += kind != FRAME_USED;
        broken = cover(p, covered, frame);
    }
    free(covered);
    for (int i = 0; !broken && i < PHYS_ZONES; ++i) {
        broken = check_free_lists(p, &p->zones[i], &listed);
        if (!broken) broken = check_percpu_lists(p, &p->zones[i], &listed);
    }
    if (broken) return broken;
    return heads == listed ? NULL : "every free block is on one list";
}
