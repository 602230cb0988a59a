#include "phys/fallback.h"

#include "phys/watermarks.h"

static const uint8_t order_of_types[PHYS_REQUEST_TYPES][2] = {
    [PHYS_UNMOVABLE] = {PHYS_RECLAIMABLE, PHYS_MOVABLE},
    [PHYS_MOVABLE] = {PHYS_RECLAIMABLE, PHYS_UNMOVABLE},
    [PHYS_RECLAIMABLE] = {PHYS_UNMOVABLE, PHYS_MOVABLE},
};

int fallback_type(const struct phys *p, const struct zone *zone, unsigned order, int type) {
    if (zone->blocks[order] == 0) return -1;
    for (int choice = 0; choice < 2; ++choice)
        if (!free_list_empty(p, zone, order, order_of_types[type][choice])) return order_of_types[type][choice];
    return -1;
}

static uint32_t pageblock_start(uint32_t frame) { return frame & ~(uint32_t)(PHYS_PAGEBLOCK_FRAMES - 1); }

bool fallback_spans_pageblock(const struct zone *zone, uint32_t frame) {
    return zone_spans(zone, pageblock_start(frame), PHYS_PAGEBLOCK_FRAMES);
}

void fallback_move_pageblock(struct phys *p, struct zone *zone, uint32_t frame, int from, int to) {
    const uint32_t start = pageblock_start(frame), end = start + PHYS_PAGEBLOCK_FRAMES;
    for (frame = start; frame < end;) {
        const unsigned order = frame_order(&p->frames, frame);
        if (frame_kind(&p->frames, frame) != FRAME_FREE) {
            ++frame;
            continue;
        }
        free_list_move(p, zone, frame, order, from, to);
        frame += UINT32_C(1) << order;
    }
    p->frames.block_type[start >> PHYS_PAGEBLOCK_ORDER] = (uint8_t)to;
}

static uint32_t free_frames_in(const struct phys *p, uint32_t start) {
    uint32_t sum = 0;
    for (uint32_t frame = start; frame < start + PHYS_PAGEBLOCK_FRAMES;) {
        const uint32_t size = frame_kind(&p->frames, frame) == FRAME_FREE ? UINT32_C(1) << frame_order(&p->frames, frame) : 0;
        sum += size;
        frame += size ? size : 1;
    }
    return sum;
}

/// Half of the pageblock is free or suits a request of `type`.
static bool pageblock_suits(const struct phys *p, uint32_t frame, int block_type, int type) {
    const uint32_t start = pageblock_start(frame);
    const uint32_t free = free_frames_in(p, start);
    const uint32_t movable = (uint32_t)bitmap_count(p->frames.lru, start, PHYS_PAGEBLOCK_FRAMES);
    uint32_t alike = 0;
    if (type == PHYS_MOVABLE) alike = movable;
    else if (block_type == PHYS_MOVABLE) alike = PHYS_PAGEBLOCK_FRAMES - free - movable;
    return free + alike >= PHYS_PAGEBLOCK_FRAMES / 2;
}

static uint32_t claim_block(struct phys *p, struct zone *zone, uint32_t frame, unsigned found, unsigned order, int type, int block_type,
                            unsigned rights) {
    if (found >= PHYS_PAGEBLOCK_ORDER) {
        free_list_remove(p, zone, frame, found);
        free_count_add(p, zone, -(1 << found), block_type);
        frame_set_block_types(&p->frames, frame, found, type);
        free_count_add(p, zone, (int32_t)buddy_expand(p, zone, frame, order, found, type), type);
        return frame;
    }
    if (watermark_boost(p, zone) && (rights & PHYS_WAKE_KSWAPD)) zone->boosted = true;
    if (!fallback_spans_pageblock(zone, frame) || !pageblock_suits(p, frame, block_type, type)) return PHYS_NO_FRAME;
    fallback_move_pageblock(p, zone, frame, block_type, type);
    return buddy_take(p, zone, order, type);
}

uint32_t fallback_claim(struct phys *p, struct zone *zone, unsigned order, int type, unsigned rights) {
    const unsigned least = rights & PHYS_NO_FRAGMENT && order < PHYS_PAGEBLOCK_ORDER ? PHYS_PAGEBLOCK_ORDER : order;
    for (unsigned found = PHYS_ORDERS; found-- > least;) {
        const int other = fallback_type(p, zone, found, type);
        if (other < 0) continue;
        if (type == PHYS_MOVABLE && found < PHYS_PAGEBLOCK_ORDER / 2) break;
        const uint32_t candidate = list_first(p->frames.links, free_list(zone, found, other));
        const uint32_t frame = claim_block(p, zone, candidate, found, order, type, other, rights);
        if (frame == PHYS_NO_FRAME) continue;
        PHYS_REPORT(p, .kind = PHYS_CLAIM, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type,
                    .other_type = (uint8_t)other, .other = found);
        return frame;
    }
    return PHYS_NO_FRAME;
}

uint32_t fallback_steal(struct phys *p, struct zone *zone, unsigned order, int type) {
    for (unsigned found = order; found < PHYS_ORDERS; ++found) {
        const int other = fallback_type(p, zone, found, type);
        if (other < 0) continue;
        const uint32_t frame = list_first(p->frames.links, free_list(zone, found, other));
        PHYS_REPORT(p, .kind = PHYS_STEAL, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type,
                    .other_type = (uint8_t)other, .other = found);
        buddy_take_block(p, zone, frame, order, found, other);
        return frame;
    }
    return PHYS_NO_FRAME;
}
