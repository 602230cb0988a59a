// freelist.h - the free lists of a zone, one for each order and type, and the counters that go with them.
//
// Invariant: a block on the list of (order, type) is FRAME_FREE with that order, and the pageblock of its first frame has that type.
// Linux: mm/page_alloc.c: __add_to_free_list, __del_page_from_free_list, move_to_free_list, account_freepages;
// mm/vmstat.c: __mod_zone_page_state. Linux counts free frames per CPU first: a watermark can see a number that is old by up to
// drift_threshold frames for each CPU. This is modelled, because it moves the point where a watermark fails.
#pragma once

#include "phys/phys.h"

static inline uint32_t free_list(const struct zone *zone, unsigned order, int type) {
    return zone->first_list + order * PHYS_TYPES + (uint32_t)type;
}

static inline bool free_list_empty(const struct phys *p, const struct zone *zone, unsigned order, int type) {
    return list_empty(p->frames.links, free_list(zone, order, type));
}

/// Adds `change` frames to the zone's count of free frames, as the current CPU.
static inline void free_count_add(struct phys *p, struct zone *zone, int32_t change, int type) {
    struct percpu *percpu = &zone->percpu[p->cpu];
    const int32_t drift = percpu->free_drift + change;
    if (drift > percpu->drift_threshold || drift < -percpu->drift_threshold) {
        zone->free_frames += drift;
        percpu->free_drift = 0;
    } else {
        percpu->free_drift = drift;
    }
    if (type == PHYS_HIGHATOMIC) zone->free_highatomic += change;
}

/// Puts a block on its list. The count of free frames is the caller's.
static inline void free_list_put(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int type, bool tail) {
    const uint32_t list = free_list(zone, order, type);
    if (tail) list_add_last(p->frames.links, list, frame);
    else list_add_first(p->frames.links, list, frame);
    frame_set(&p->frames, frame, FRAME_FREE, order);
    ++zone->blocks[order];
}

/// Takes a block off its list; its frames belong to no block then. The count of free frames is the caller's.
static inline void free_list_remove(struct phys *p, struct zone *zone, uint32_t frame, unsigned order) {
    list_remove(p->frames.links, frame);
    frame_set(&p->frames, frame, FRAME_INSIDE, 0);
    --zone->blocks[order];
}

/// Moves a block to the tail of the list of another type. The caller changes the pageblock's type afterwards.
static inline void free_list_move(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int from, int to) {
    list_remove(p->frames.links, frame);
    list_add_last(p->frames.links, free_list(zone, order, to), frame);
    free_count_add(p, zone, -(1 << order), from);
    free_count_add(p, zone, 1 << order, to);
}
