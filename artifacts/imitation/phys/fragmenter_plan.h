// fragmenter_plan.h - which patterns the chunks of fragmenter.h get, from arithmetic alone.
#pragma once

#include "phys/fragmenter.h"

struct fragmenter_plan {
    uint32_t chunks;         // complete chunks
    uint32_t upper;          // so many of them, chosen at random, get level + 1 (unusable index: are broken)
    uint32_t lower;          // so many others get `level` (unusable index: stay whole); the rest stays pinned
    unsigned level;
    int expected;            // the index that results, thousandths
};

/// Free frames and free blocks of a chunk of 2^order frames with the pattern of a level (0 to 2 order - 2).
uint32_t fragmenter_level_frames(unsigned order, unsigned level);
uint32_t fragmenter_level_blocks(unsigned order, unsigned level);

/// `base_frames`, `base_blocks`: free outside the chunks, in blocks below 2^order frames.
struct fragmenter_plan fragmenter_plan_for(const struct fragmenter_goal *goal, uint32_t chunks, uint64_t base_frames, uint64_t base_blocks);
