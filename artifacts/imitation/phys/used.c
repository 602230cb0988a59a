// used.c - blocks in use: their return, their split, their place on LRU lists (alloc.h). Misuse is an error and changes nothing.
#include "phys/alloc.h"
#include "phys/buddy.h"
#include "phys/percpu.h"

static bool refuse(struct error *error, const char *asked, uint32_t frame, unsigned order) {
    error_asked(error, "%s frame %u, order %u", asked, frame, order);
    return error_remedy(error, "pass the frame and order of one alloc that was not freed yet");
}

/// True if no known block overlaps the range and all its frames are managed: it may have been in use before the snapshot.
static bool unknown_range(const struct phys *p, uint32_t frame, unsigned order) {
    const uint32_t count = UINT32_C(1) << order;
    if (bitmap_count(p->frames.managed, frame, count) != count || frames_block_of(&p->frames, frame) != PHYS_NO_FRAME) return false;
    for (uint32_t f = frame; f < frame + count; ++f)
        if (frame_kind(&p->frames, f) != FRAME_INSIDE) return false;
    return true;
}

static bool explain_free(const struct phys *p, uint32_t frame, unsigned order, struct error *error) {
    static const char *const what[] = {"unknown", "free", "on a per-CPU list", "in use"};
    if (order > PHYS_MAX_ORDER) error_found(error, "the highest order is %d", PHYS_MAX_ORDER);
    else if (frame >= p->frames.count) error_found(error, "memory ends at frame %u", p->frames.count);
    else if (frame % (UINT32_C(1) << order) != 0) error_found(error, "the frame is not aligned to the block's size");
    else if (frames_block_of(&p->frames, frame) == PHYS_NO_FRAME)
        error_found(error, "some of these frames are not managed, or lie in another block");
    else {
        const uint32_t block = frames_block_of(&p->frames, frame);
        error_found(error, "the frame lies in the block at frame %u, order %u, which is %s", block, frame_order(&p->frames, block),
                    what[frame_kind(&p->frames, block)]);
    }
    return refuse(error, "free", frame, order);
}

bool phys_free(struct phys *p, uint32_t frame, unsigned order, uint32_t cpu, struct error *error) {
    if (order > PHYS_MAX_ORDER || frame >= p->frames.count || frame % (UINT32_C(1) << order) != 0)
        return explain_free(p, frame, order, error);
    if (!frame_is(&p->frames, frame, FRAME_USED, order) && !unknown_range(p, frame, order)) return explain_free(p, frame, order, error);
    struct zone *zone = phys_zone_of(p, frame);
    const int type = frame_block_type(&p->frames, frame);
    p->cpu = cpu;
    PHYS_REPORT(p, .kind = PHYS_FREE, .zone = zone->id, .frame = frame, .order = (uint8_t)order, .type = (uint8_t)type);
    bitmap_clear(p->frames.lru, frame, UINT32_C(1) << order);
    if (percpu_allows(order)) {
        percpu_give(p, zone, frame, order, type);
        return true;
    }
    frame_set(&p->frames, frame, FRAME_INSIDE, 0);
    buddy_free_block(p, frame, order, false);
    return true;
}

bool phys_split_used(struct phys *p, uint32_t frame, unsigned order, struct error *error) {
    if (frame >= p->frames.count || frame_kind(&p->frames, frame) != FRAME_USED || frame_order(&p->frames, frame) < order) {
        error_found(error, "no block in use with at least this order starts there");
        return refuse(error, "split", frame, order);
    }
    const uint32_t end = frame + (UINT32_C(1) << frame_order(&p->frames, frame));
    for (; frame < end; frame += UINT32_C(1) << order) frame_set(&p->frames, frame, FRAME_USED, order);
    return true;
}

bool phys_set_lru(struct phys *p, uint32_t frame, bool on_lru, struct error *error) {
    if (frame >= p->frames.count || frame_kind(&p->frames, frame) != FRAME_USED) {
        error_found(error, "no block in use starts there");
        return refuse(error, "change of LRU state of", frame, 0);
    }
    const uint32_t count = UINT32_C(1) << frame_order(&p->frames, frame);
    if (on_lru) bitmap_set(p->frames.lru, frame, count);
    else bitmap_clear(p->frames.lru, frame, count);
    return true;
}
