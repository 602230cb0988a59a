#include "phys/buddy.h"

uint32_t buddy_expand(struct phys *p, struct zone *zone, uint32_t frame, unsigned low, unsigned high, int type) {
    for (unsigned order = high; order-- > low;) free_list_put(p, zone, frame + (UINT32_C(1) << order), order, type, false);
    return (UINT32_C(1) << high) - (UINT32_C(1) << low);
}

void buddy_take_block(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, unsigned found, int type) {
    PHYS_REPORT(p, .kind = PHYS_TAKE, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type, .other = found);
    free_list_remove(p, zone, frame, found);
    buddy_expand(p, zone, frame, order, found, type);
    free_count_add(p, zone, -(1 << order), type);
}

uint32_t buddy_take(struct phys *p, struct zone *zone, unsigned order, int type) {
    for (unsigned found = order; found < PHYS_ORDERS; ++found) {
        const uint32_t list = free_list(zone, found, type);
        const uint32_t frame = list_first(p->frames.links, list);
        if (frame == list) continue;
        buddy_take_block(p, zone, frame, order, found, type);
        return frame;
    }
    return PHYS_NO_FRAME;
}

/// True if the block of the next order that would contain this one has a free neighbour.
static bool merge_is_likely(const struct phys *p, uint32_t frame, unsigned order) {
    if (order >= PHYS_MAX_ORDER - 1) return false;
    const uint32_t parent = frame & ~(UINT32_C(1) << order);
    return frame_is(&p->frames, parent ^ UINT32_C(2) << order, FRAME_FREE, order + 1);
}

static bool types_merge(int a, int b) { return a == b || (a != PHYS_HIGHATOMIC && b != PHYS_HIGHATOMIC); }

/// compaction_capture: small blocks of a movable pageblock are not for other types.
static bool captured(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int type) {
    struct phys_capture *capture = &p->capture;
    if (capture->frame != PHYS_NO_FRAME || capture->zone != zone->id || capture->order != order) return false;
    if (order < PHYS_PAGEBLOCK_ORDER && type == PHYS_MOVABLE && capture->type != PHYS_MOVABLE) return false;
    capture->frame = frame;
    free_count_add(p, zone, -(1 << order), type);
    frame_set(&p->frames, frame, FRAME_USED, order);
    PHYS_REPORT(p, .kind = PHYS_ALLOC, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = capture->type);
    return true;
}

void buddy_free(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int type, bool to_tail) {
    const unsigned freed_order = order;
    free_count_add(p, zone, 1 << order, type);
    for (; order < PHYS_MAX_ORDER; ++order) {
        const uint32_t neighbour = frame ^ UINT32_C(1) << order;
        if (__builtin_expect(p->capture.wanted, 0) && captured(p, zone, frame, order, type)) return;
        if (!frame_is(&p->frames, neighbour, FRAME_FREE, order)) break;
        if (order >= PHYS_PAGEBLOCK_ORDER) {
            if (!types_merge(type, frame_block_type(&p->frames, neighbour))) break;
            frame_set_block_types(&p->frames, neighbour, order, type);
        }
        free_list_remove(p, zone, neighbour, order);
        frame &= neighbour;
    }
    const bool tail = to_tail || merge_is_likely(p, frame, order);
    free_list_put(p, zone, frame, order, type, tail);
    PHYS_REPORT(p, .kind = PHYS_PUT, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type, .other = freed_order,
                .tail = tail);
}

void buddy_free_block(struct phys *p, uint32_t frame, unsigned order, bool to_tail) {
    struct zone *zone = phys_zone_of(p, frame);
    const unsigned piece = order > PHYS_PAGEBLOCK_ORDER ? PHYS_PAGEBLOCK_ORDER : order;
    for (uint32_t end = frame + (UINT32_C(1) << order); frame < end; frame += UINT32_C(1) << piece)
        buddy_free(p, zone, frame, piece, frame_block_type(&p->frames, frame), to_tail);
}
