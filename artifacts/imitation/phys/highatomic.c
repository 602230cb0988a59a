#include "phys/highatomic.h"

#include "phys/fallback.h"

void highatomic_reserve(struct phys *p, struct zone *zone, uint32_t frame, unsigned order) {
    const uint32_t percent = zone->managed_frames / 100;
    if (percent < PHYS_PAGEBLOCK_FRAMES) return;
    const uint32_t limit = (percent + PHYS_PAGEBLOCK_FRAMES - 1) / PHYS_PAGEBLOCK_FRAMES * PHYS_PAGEBLOCK_FRAMES;
    if (zone->reserved_highatomic >= limit) return;
    const int type = frame_block_type(&p->frames, frame);
    if (type == PHYS_HIGHATOMIC) return;
    if (order < PHYS_PAGEBLOCK_ORDER) {
        if (!fallback_spans_pageblock(zone, frame)) return;
        fallback_move_pageblock(p, zone, frame, type, PHYS_HIGHATOMIC);
        zone->reserved_highatomic += PHYS_PAGEBLOCK_FRAMES;
    } else {
        frame_set_block_types(&p->frames, frame, order, PHYS_HIGHATOMIC);
        zone->reserved_highatomic += UINT32_C(1) << order;
    }
    PHYS_REPORT(p, .kind = PHYS_RESERVE, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = PHYS_HIGHATOMIC,
                .other_type = (uint8_t)type);
}

/// The first block of the smallest order on the lists of the reserve becomes `type`, with its pageblock. False if there is none.
static bool unreserve_one(struct phys *p, struct zone *zone, int type) {
    for (unsigned order = 0; order < PHYS_ORDERS; ++order) {
        const uint32_t list = free_list(zone, order, PHYS_HIGHATOMIC), frame = list_first(p->frames.links, list);
        if (frame == list) continue;
        const uint32_t block = order > PHYS_PAGEBLOCK_ORDER ? UINT32_C(1) << order : PHYS_PAGEBLOCK_FRAMES;
        zone->reserved_highatomic -= block < zone->reserved_highatomic ? block : zone->reserved_highatomic;
        if (order < PHYS_PAGEBLOCK_ORDER) {
            fallback_move_pageblock(p, zone, frame, PHYS_HIGHATOMIC, type);
        } else {
            free_list_move(p, zone, frame, order, PHYS_HIGHATOMIC, type);
            frame_set_block_types(&p->frames, frame, order, type);
        }
        PHYS_REPORT(p, .kind = PHYS_UNRESERVE, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type,
                    .other_type = PHYS_HIGHATOMIC);
        return true;
    }
    return false;
}

bool highatomic_unreserve(struct phys *p, enum phys_zone highest_zone, int type, bool force) {
    for (int i = highest_zone; i >= 0; --i) {
        struct zone *zone = &p->zones[i];
        if (!zone->populated || (!force && zone->reserved_highatomic <= PHYS_PAGEBLOCK_FRAMES)) continue;
        if (unreserve_one(p, zone, type)) return true;
    }
    return false;
}
