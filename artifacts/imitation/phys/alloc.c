#include "phys/alloc.h"

#include "phys/buddy.h"
#include "phys/highatomic.h"
#include "phys/percpu.h"
#include "phys/take.h"
#include "phys/watermarks.h"

struct phys_request phys_request_default(unsigned order, enum phys_type type) {
    return (struct phys_request){
        .order = (uint8_t)order, .type = (uint8_t)type, .highest_zone = PHYS_NORMAL, .may_wake_kswapd = true, .may_reclaim = true};
}

static void report_wake(const struct phys *p, unsigned order, unsigned highest_zone) {
    PHYS_REPORT(p, .kind = PHYS_WAKE, .order = (uint8_t)order, .count = highest_zone);
    if (p->help.wake) p->help.wake(p->help.context, order, highest_zone);
}

static uint32_t take_from_lists(struct phys *p, struct zone *zone, const struct phys_request *request, unsigned rights) {
    enum take_mode mode = TAKE_OWN;
    uint32_t frame = PHYS_NO_FRAME;
    if (rights & PHYS_USE_HIGHATOMIC) frame = buddy_take(p, zone, request->order, PHYS_HIGHATOMIC);
    if (frame == PHYS_NO_FRAME) frame = take_block(p, zone, request->order, request->type, rights, &mode);
    if (frame == PHYS_NO_FRAME && rights & PHYS_NON_BLOCK) frame = buddy_take(p, zone, request->order, PHYS_HIGHATOMIC);
    return frame;
}

static uint32_t take_from_zone(struct phys *p, struct zone *zone, const struct phys_request *request, unsigned rights) {
    uint32_t frame = PHYS_NO_FRAME;
    if (percpu_allows(request->order)) frame = percpu_take(p, zone, request->order, request->type, rights);
    if (frame == PHYS_NO_FRAME) frame = take_from_lists(p, zone, request, rights);
    if (zone->boosted && rights & PHYS_WAKE_KSWAPD) {
        zone->boosted = false;
        report_wake(p, 0, zone->id);
    }
    return frame;
}

/// Whether the zone's marks let the request in. Notes when the zone is below its high mark.
static bool zone_admits(struct phys *p, struct zone *zone, const struct phys_request *request, unsigned rights) {
    if (!zone->below_high) {
        if (watermark_allows(p, zone, request->order, PHYS_MARK_HIGH, request->highest_zone, rights)) return true;
        zone->below_high = true;
        PHYS_REPORT(p, .kind = PHYS_BELOW_HIGH, .zone = zone->id, .other = 1);
    }
    const enum phys_mark mark = (enum phys_mark)(rights & PHYS_MARK_MASK);
    return watermark_allows(p, zone, request->order, mark, request->highest_zone, rights);
}

static uint32_t try_zones(struct phys *p, const struct phys_request *request, unsigned rights) {
    for (int i = request->highest_zone; i >= 0; --i) {
        struct zone *zone = &p->zones[i];
        if (!zone->populated || !zone_admits(p, zone, request, rights)) continue;
        const uint32_t frame = take_from_zone(p, zone, request, rights);
        if (frame == PHYS_NO_FRAME) continue;
        frame_set(&p->frames, frame, FRAME_USED, request->order);
        PHYS_REPORT(p, .kind = PHYS_ALLOC, .zone = zone->id, .frame = frame, .order = request->order, .type = request->type);
        if (rights & PHYS_USE_HIGHATOMIC) highatomic_reserve(p, zone, frame, request->order);
        return frame;
    }
    return rights & PHYS_NO_FRAGMENT ? try_zones(p, request, rights & ~(unsigned)PHYS_NO_FRAGMENT) : PHYS_NO_FRAME;
}

/// Rights of the first stage.
static unsigned first_rights(const struct phys *p, const struct phys_request *request) {
    const bool from_normal = request->highest_zone == PHYS_NORMAL && p->zones[PHYS_NORMAL].populated;
    return PHYS_MARK_LOW | (request->may_wake_kswapd ? PHYS_WAKE_KSWAPD : 0u) | (from_normal ? PHYS_NO_FRAGMENT : 0u);
}

/// Rights of the stages after the first.
static unsigned later_rights(const struct phys_request *request) {
    unsigned rights =
        PHYS_MARK_MIN | (request->may_wake_kswapd ? PHYS_WAKE_KSWAPD : 0u) | (request->may_use_reserve ? PHYS_MIN_RESERVE : 0u);
    if (request->may_reclaim || request->no_reserves) return rights;
    rights |= PHYS_NON_BLOCK;
    return request->order > 0 && request->may_use_reserve ? rights | PHYS_USE_HIGHATOMIC : rights;
}

static struct phys_result finish(const struct phys *p, const struct phys_request *request, enum phys_outcome outcome, uint32_t frame) {
    if (frame != PHYS_NO_FRAME) return (struct phys_result){PHYS_GOT_FRAMES, frame};
    PHYS_REPORT(p, .kind = PHYS_REFUSED, .order = request->order, .type = request->type, .other = outcome);
    return (struct phys_result){outcome, PHYS_NO_FRAME};
}

uint32_t phys_alloc_attempt(struct phys *p, const struct phys_request *request) {
    p->cpu = request->cpu;
    return try_zones(p, request, later_rights(request));
}

struct phys_result phys_alloc_again(struct phys *p, const struct phys_request *request) {
    p->cpu = request->cpu;
    if (request->may_wake_kswapd) report_wake(p, request->order, request->highest_zone);
    const uint32_t frame = try_zones(p, request, later_rights(request));
    return finish(p, request, request->may_reclaim ? PHYS_NEEDS_RECLAIM : PHYS_NO_MEMORY, frame);
}

struct phys_result phys_alloc(struct phys *p, const struct phys_request *request) {
    p->cpu = request->cpu;
    uint32_t frame = try_zones(p, request, first_rights(p, request));
    if (__builtin_expect(frame != PHYS_NO_FRAME, 1)) return (struct phys_result){PHYS_GOT_FRAMES, frame};
    if (request->may_wake_kswapd) report_wake(p, request->order, request->highest_zone);
    frame = try_zones(p, request, later_rights(request));
    if (frame != PHYS_NO_FRAME) return (struct phys_result){PHYS_GOT_FRAMES, frame};
    const bool compacts = request->order > PHYS_COSTLY_ORDER || (request->order > 0 && request->type != PHYS_MOVABLE);
    if (request->may_reclaim && compacts) return finish(p, request, PHYS_NEEDS_COMPACTION, PHYS_NO_FRAME);
    return phys_alloc_again(p, request);
}
