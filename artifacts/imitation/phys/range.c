#include "phys/range.h"

#include "phys/freelist.h"
#include "phys/percpu.h"

/// True if all frames are on free lists.
static bool all_free(const struct phys *p, uint32_t first, uint32_t count) {
    for (uint32_t frame = first; frame < first + count; frame += UINT32_C(1) << frame_order(&p->frames, frame))
        if (frame_kind(&p->frames, frame) != FRAME_FREE) return false;
    return true;
}

static void take(struct phys *p, struct zone *zone, uint32_t first, uint32_t count) {
    for (uint32_t frame = first, order; frame < first + count; frame += UINT32_C(1) << order) {
        order = frame_order(&p->frames, frame);
        const int type = frame_block_type(&p->frames, frame);
        PHYS_REPORT(p, .kind = PHYS_TAKE, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type, .other = order);
        free_list_remove(p, zone, frame, order);
        free_count_add(p, zone, -(INT32_C(1) << order), type);
    }
    for (uint32_t frame = first; frame < first + count; frame += UINT32_C(1) << PHYS_MAX_ORDER) {
        frame_set(&p->frames, frame, FRAME_USED, PHYS_MAX_ORDER);
        frame_set_block_types(&p->frames, frame, PHYS_MAX_ORDER, PHYS_MOVABLE);
    }
}

struct phys_range phys_take_range(struct phys *p, unsigned order, uint32_t cpu) {
    struct phys_range range = {PHYS_NO_FRAME, 0};
    const uint64_t count = UINT64_C(1) << order;
    bool drained = false;
    p->cpu = cpu;
    for (int id = PHYS_ZONES; id-- > 0;) {
        struct zone *zone = &p->zones[id];
        const uint64_t end = (uint64_t)zone->start_frame + zone->spanned_frames;
        for (uint64_t first = (zone->start_frame + count - 1) & ~(count - 1); first + count <= end; first += count) {
            if (bitmap_count(p->frames.managed, first, count) != count) continue;
            if (!drained) percpu_drain_all(p, cpu);
            drained = true;
            if (!all_free(p, (uint32_t)first, (uint32_t)count)) {
                ++range.busy;
                continue;
            }
            take(p, zone, (uint32_t)first, (uint32_t)count);
            range.frame = (uint32_t)first;
            return range;
        }
    }
    return range;
}
