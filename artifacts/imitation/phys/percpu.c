#include "phys/percpu.h"

#include "phys/buddy.h"
#include "phys/take.h"
#include "phys/watermarks.h"

/// Returns at least `frames` frames (or all there are) to the free lists, beginning with list `index`.
static void give_back(struct phys *p, struct zone *zone, struct percpu *percpu, int32_t frames, unsigned index) {
    struct link *links = p->frames.links;
    int32_t left = frames < percpu->count ? frames : percpu->count;
    const int32_t asked = left, before = percpu->count;
    while (left > 0) {
        while (list_empty(links, percpu->first_list + index)) index = (index + 1) % PHYS_PERCPU_LISTS;
        const uint32_t list = percpu->first_list + index;
        const unsigned order = percpu_index_order(index);
        while (left > 0 && !list_empty(links, list)) {
            const uint32_t frame = list_last(links, list);
            list_remove(links, frame);
            frame_set(&p->frames, frame, FRAME_INSIDE, 0);
            left -= 1 << order;
            percpu->count -= 1 << order;
            buddy_free(p, zone, frame, order, frame_block_type(&p->frames, frame), false);
        }
        index = (index + 1) % PHYS_PERCPU_LISTS;
    }
    PHYS_REPORT(p, .kind = PHYS_DRAIN, .zone = zone->id, .count = (uint32_t)asked, .other = (uint32_t)(before - percpu->count));
}

static void refill(struct phys *p, struct zone *zone, struct percpu *percpu, unsigned order, int type, unsigned rights) {
    const uint32_t list = percpu->first_list + percpu_index(order, type);
    const int32_t blocks = percpu_refill_blocks(percpu, zone, order);
    enum take_mode mode = TAKE_OWN;
    int32_t got = 0;
    for (; got < blocks; ++got) {
        const uint32_t frame = take_block(p, zone, order, type, rights, &mode);
        if (frame == PHYS_NO_FRAME) break;
        frame_set(&p->frames, frame, FRAME_PERCPU, order);
        list_add_last(p->frames.links, list, frame);
    }
    percpu->count += got << order;
    PHYS_REPORT(p, .kind = PHYS_REFILL, .zone = zone->id, .order = (uint8_t)order, .type = (uint8_t)type, .count = (uint32_t)blocks,
                .other = (uint32_t)got);
}

uint32_t percpu_take(struct phys *p, struct zone *zone, unsigned order, int type, unsigned rights) {
    struct percpu *percpu = &zone->percpu[p->cpu];
    struct link *links = p->frames.links;
    const uint32_t list = percpu->first_list + percpu_index(order, type);
    percpu->free_count >>= 1;
    if (list_empty(links, list)) refill(p, zone, percpu, order, type, rights);
    const uint32_t frame = list_first(links, list);
    if (frame == list) return PHYS_NO_FRAME;
    list_remove(links, frame);
    percpu->count -= 1 << order;
    return frame;
}

void percpu_give(struct phys *p, struct zone *zone, uint32_t frame, unsigned order, int type) {
    struct percpu *percpu = &zone->percpu[p->cpu];
    const unsigned index = percpu_index(order, type == PHYS_HIGHATOMIC ? PHYS_MOVABLE : type);
    const bool high_order = order > 0 && order <= PHYS_COSTLY_ORDER;
    percpu->alloc_factor >>= 1;
    frame_set(&p->frames, frame, FRAME_PERCPU, order);
    list_add_first(p->frames.links, percpu->first_list + index, frame);
    percpu->count += 1 << order;
    const bool many = high_order && percpu->free_count >= percpu->batch && percpu->freed_high_order &&
                      (!percpu->keeps_batch || percpu->count >= percpu->batch);
    percpu->freed_high_order = high_order;
    if (percpu->free_count < percpu->batch << PHYS_BATCH_SCALE_MAX) percpu->free_count += 1 << order;
    const int32_t high = percpu_high(percpu, zone, many);
    if (percpu->count < high) return;
    give_back(p, zone, percpu, percpu_return_frames(percpu, high, many), index);
    if (zone->below_high && watermark_ok(p, zone, 0, zone_mark(zone, PHYS_MARK_HIGH), PHYS_NORMAL, 0)) {
        zone->below_high = false;
        PHYS_REPORT(p, .kind = PHYS_BELOW_HIGH, .zone = zone->id);
    }
}

void percpu_drain_zone(struct phys *p, struct zone *zone, uint32_t by_cpu, uint32_t cpu) {
    struct percpu *percpu = &zone->percpu[cpu];
    p->cpu = by_cpu;
    while (percpu->count > 0) give_back(p, zone, percpu, percpu->batch << PHYS_BATCH_SCALE_MAX, 0);
}

void percpu_drain(struct phys *p, uint32_t by_cpu, uint32_t cpu) {
    for (int i = 0; i < PHYS_ZONES; ++i)
        if (p->zones[i].populated) percpu_drain_zone(p, &p->zones[i], by_cpu, cpu);
}

void percpu_drain_all(struct phys *p, uint32_t by_cpu) {
    for (uint32_t cpu = 0; cpu < p->cpus; ++cpu) percpu_drain(p, by_cpu, cpu);
}

static bool decay_high(struct phys *p, struct zone *zone, struct percpu *percpu) {
    bool more = false;
    if (percpu->high > percpu->high_min) {
        int32_t high = percpu->high - percpu->high / 8;
        const int32_t least = percpu->count - (percpu->batch << PHYS_BATCH_SCALE_MAX);
        if (high < least) high = least;
        if (high < percpu->high_min) high = percpu->high_min;
        percpu->high = high;
        more = high > percpu->high_min;
    }
    for (int32_t excess = percpu->count - percpu->high; excess > 0; excess -= percpu->batch) {
        give_back(p, zone, percpu, excess < percpu->batch ? excess : percpu->batch, 0);
        more = true;
    }
    return more;
}

static void fold(struct zone *zone, uint32_t cpu) {
    zone->free_frames += zone->percpu[cpu].free_drift;
    zone->percpu[cpu].free_drift = 0;
}

void percpu_fold(struct phys *p, uint32_t cpu) {
    for (int i = 0; i < PHYS_ZONES; ++i)
        if (p->zones[i].populated) fold(&p->zones[i], cpu);
}

bool percpu_refresh(struct phys *p, uint32_t cpu) {
    bool more = false;
    p->cpu = cpu;
    for (int i = 0; i < PHYS_ZONES; ++i) {
        struct zone *zone = &p->zones[i];
        if (!zone->populated) continue;
        fold(zone, cpu);
        more |= decay_high(p, zone, &zone->percpu[cpu]);
    }
    return more;
}
