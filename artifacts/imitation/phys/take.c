#include "phys/take.h"

#include "phys/watermarks.h"

uint32_t take_block(struct phys *p, struct zone *zone, unsigned order, int type, unsigned rights, enum take_mode *mode) {
    uint32_t frame = PHYS_NO_FRAME;
    if (*mode == TAKE_OWN) frame = buddy_take(p, zone, order, type);
    if (frame != PHYS_NO_FRAME) return frame;
    if (*mode != TAKE_STEAL) frame = fallback_claim(p, zone, order, type, rights);
    if (frame != PHYS_NO_FRAME) {
        *mode = TAKE_OWN;
        return frame;
    }
    if (rights & PHYS_NO_FRAGMENT) return PHYS_NO_FRAME;
    frame = fallback_steal(p, zone, order, type);
    if (frame != PHYS_NO_FRAME) *mode = TAKE_STEAL;
    return frame;
}
