#include "phys/frames.h"

#include <stdlib.h>
#include <string.h>

bool frames_create(struct frames *frames, uint32_t count, uint32_t lists) {
    const uint64_t words = bitmap_words(count);
    const uint32_t pageblocks = count >> PHYS_PAGEBLOCK_ORDER;
    *frames = (struct frames){.count = count, .lists = lists};
    frames->links = calloc((size_t)count + lists, sizeof *frames->links);
    frames->state = calloc(count, 1);
    frames->present = calloc(words, sizeof *frames->present);
    frames->reserved = calloc(words, sizeof *frames->reserved);
    frames->managed = calloc(words, sizeof *frames->managed);
    frames->lru = calloc(words, sizeof *frames->lru);
    frames->block_type = malloc(pageblocks);
    if (!frames->links || !frames->state || !frames->present || !frames->reserved || !frames->managed || !frames->lru ||
        !frames->block_type) {
        frames_destroy(frames);
        return false;
    }
    memset(frames->block_type, PHYS_MOVABLE, pageblocks);
    for (uint32_t list = 0; list < lists; ++list) list_init(frames->links, count + list);
    return true;
}

void frames_destroy(struct frames *frames) {
    free(frames->links);
    free(frames->state);
    free(frames->present);
    free(frames->reserved);
    free(frames->managed);
    free(frames->lru);
    free(frames->block_type);
    *frames = (struct frames){0};
}

uint32_t frames_block_of(const struct frames *frames, uint32_t frame) {
    for (unsigned order = 0; order < PHYS_ORDERS; ++order) {
        const uint32_t first = frame & ~((UINT32_C(1) << order) - 1);
        if (frame_kind(frames, first) != FRAME_INSIDE)
            return frame - first < UINT32_C(1) << frame_order(frames, first) ? first : PHYS_NO_FRAME;
    }
    return PHYS_NO_FRAME;
}
