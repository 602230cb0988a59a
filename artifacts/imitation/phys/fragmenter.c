#include "phys/fragmenter.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "phys/buddy.h"
#include "phys/fragmenter_plan.h"
#include "phys/indices.h"
#include "phys/percpu.h"

struct work {
    struct phys *p;
    struct zone *zone;
    const struct fragmenter_goal *goal;
    uint64_t *pinned;        // bit: taken and to be kept
    uint32_t *chunks;        // first frames of complete chunks
    uint32_t count;          // of chunks
    uint64_t random;
};

/// Takes all that is free. Each frame of a block is a frame of its own afterwards.
static void take_all(struct work *work) {
    for (unsigned order = 0; order < PHYS_ORDERS; ++order)
        for (int type = 0; type < PHYS_TYPES; ++type) {
            const uint32_t list = free_list(work->zone, order, type);
            while (!list_empty(work->p->frames.links, list)) {
                const uint32_t frame = list_first(work->p->frames.links, list);
                buddy_take_block(work->p, work->zone, frame, order, order, type);
                bitmap_set(work->pinned, frame, UINT32_C(1) << order);
            }
        }
}

/// Frees the pinned frames of a range.
static void free_frames(struct work *work, uint32_t first, uint32_t count) {
    for (uint32_t frame = first; frame < first + count; ++frame)
        if (bitmap_get(work->pinned, frame)) {
            bitmap_clear(work->pinned, frame, 1);
            buddy_free_block(work->p, frame, 0, false);
        }
}

/// Lists the complete chunks and frees all frames outside them.
static bool find_chunks(struct work *work) {
    const uint32_t size = UINT32_C(1) << work->goal->order;
    const uint32_t first = work->zone->start_frame / size * size, end = work->zone->start_frame + work->zone->spanned_frames;
    work->chunks = malloc((((size_t)end - first) / size + 1) * sizeof *work->chunks);
    if (!work->chunks) return false;
    for (uint32_t frame = first; frame < end; frame += size) {
        const uint32_t length = end - frame < size ? end - frame : size;
        if (length == size && bitmap_count(work->pinned, frame, size) == size) work->chunks[work->count++] = frame;
        else free_frames(work, frame, length);
    }
    return true;
}

static void shuffle(struct work *work) {
    for (uint32_t left = work->count; left > 1; --left) {
        const uint32_t other = (uint32_t)random_below(&work->random, left), kept = work->chunks[left - 1];
        work->chunks[left - 1] = work->chunks[other];
        work->chunks[other] = kept;
    }
}

/// Frees what the pattern of `level` leaves free.
static void free_pattern(struct work *work, uint32_t chunk, unsigned level) {
    const unsigned order = work->goal->order;
    const unsigned parts = level < order ? 0 : level - order + 1;         // 2^parts parts with one pinned block each
    const unsigned pinned = level < order ? order - 1 - level : 0;        // its order
    const uint32_t part = UINT32_C(1) << (order - parts), block = UINT32_C(1) << pinned;
    for (uint32_t first = chunk; first < chunk + (UINT32_C(1) << order); first += part) {
        const uint32_t kept = first + (uint32_t)random_below(&work->random, part / block) * block;
        free_frames(work, first, kept - first);
        free_frames(work, kept + block, first + part - kept - block);
    }
}

static void carry_out(struct work *work, const struct fragmenter_plan *plan) {
    const bool extfrag = work->goal->index == FRAGMENTER_EXTFRAG;
    const uint32_t size = UINT32_C(1) << work->goal->order;
    for (uint32_t i = 0; i < plan->upper; ++i) free_pattern(work, work->chunks[i], extfrag ? plan->level + 1 : work->goal->order - 1);
    for (uint32_t i = plan->upper; i < plan->upper + plan->lower; ++i)
        if (extfrag) free_pattern(work, work->chunks[i], plan->level);
        else free_frames(work, work->chunks[i], size);
}

static int index_now(const struct work *work) {
    return work->goal->index == FRAGMENTER_EXTFRAG ? extfrag_index(work->zone, work->goal->order)
                                                   : unusable_index(work->zone, work->goal->order);
}

/// Turns what is still pinned into blocks in use.
static bool keep_pins(struct work *work, struct fragmenter_pins *pins) {
    const uint32_t total = (uint32_t)bitmap_count(work->pinned, 0, work->p->frames.count);
    pins->frames = malloc((total + 1) * sizeof *pins->frames);
    if (!pins->frames) return false;
    for (uint32_t frame = 0; frame < work->p->frames.count; ++frame) {
        if (!bitmap_get(work->pinned, frame)) continue;
        pins->frames[pins->count++] = frame;
        frame_set(&work->p->frames, frame, FRAME_USED, 0);
        if (random_below(&work->random, 1000) < (uint64_t)work->goal->movable_share) bitmap_set(work->p->frames.lru, frame, 1);
    }
    return true;
}

static const char *impossible(const struct phys *p, const struct fragmenter_goal *goal) {
    if (goal->zone >= PHYS_ZONES || !p->zones[goal->zone].populated) return "the zone has no memory";
    if (goal->order < 1 || goal->order > PHYS_MAX_ORDER) return "the order of an index is 1 to 10";
    if (goal->target < 0 || goal->target > 1000 || goal->tolerance < 0)
        return "a target is 0 to 1000 thousandths, a tolerance not negative";
    return goal->movable_share < 0 || goal->movable_share > 1000 ? "a movable share is 0 to 1000 thousandths" : NULL;
}

static bool work_on(struct work *work, struct fragmenter_pins *pins, struct error *error) {
    const struct fragmenter_goal *goal = work->goal;
    work->pinned = calloc(bitmap_words(work->p->frames.count), sizeof *work->pinned);
    if (!work->pinned) return error_found(error, "out of memory");
    take_all(work);
    bool done = find_chunks(work);
    if (!done) error_found(error, "out of memory");
    if (done) {
        uint64_t base_frames = 0, base_blocks = 0;
        for (unsigned order = 0; order < PHYS_ORDERS; ++order) {
            base_blocks += work->zone->blocks[order];
            base_frames += (uint64_t)work->zone->blocks[order] << order;
        }
        const struct fragmenter_plan plan = fragmenter_plan_for(goal, work->count, base_frames, base_blocks);
        shuffle(work);
        carry_out(work, &plan);
        pins->reached = index_now(work);
        done = abs(pins->reached - goal->target) <= goal->tolerance;
        if (!done)
            error_found(error, "the nearest value is %d, with %u complete blocks of order %u", pins->reached, work->count, goal->order);
        else if (!keep_pins(work, pins)) done = error_found(error, "out of memory");
    }
    if (!done) free_frames(work, 0, work->p->frames.count);
    return done;
}

bool fragmenter_run(struct phys *p, const struct fragmenter_goal *goal, struct fragmenter_pins *pins, struct error *error) {
    *pins = (struct fragmenter_pins){0};
    error_asked(error, "%s index %d of zone %s, order %u, tolerance %d", goal->index == FRAGMENTER_EXTFRAG ? "extfrag" : "unusable",
                goal->target, phys_zone_name(goal->zone), goal->order, goal->tolerance);
    error_remedy(error, "choose a target between what the zone has free and what its order allows, or a larger tolerance");
    const char *rule = impossible(p, goal);
    if (rule) {
        error_remedy(error, "choose a zone with memory (tessera-phys show), an order of 1 to 10, and values of 0 to 1000");
        return error_found(error, "%s", rule);
    }
    percpu_drain_all(p, 0);
    struct work work = {.p = p, .zone = &p->zones[goal->zone], .goal = goal, .random = goal->seed};
    const bool done = work_on(&work, pins, error);
    free(work.pinned);
    free(work.chunks);
    return done;
}

void fragmenter_release(struct phys *p, struct fragmenter_pins *pins) {
    p->cpu = 0;
    for (uint32_t i = 0; i < pins->count; ++i) {
        bitmap_clear(p->frames.lru, pins->frames[i], 1);
        frame_set(&p->frames, pins->frames[i], FRAME_INSIDE, 0);
        buddy_free_block(p, pins->frames[i], 0, false);
    }
    free(pins->frames);
    *pins = (struct fragmenter_pins){0};
}
