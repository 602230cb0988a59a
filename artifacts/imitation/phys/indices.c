#include "phys/indices.h"

struct free_blocks {
    uint64_t frames;     // in all free blocks
    uint64_t blocks;
    uint64_t suitable;   // blocks of the order that larger and equal blocks contain
};

static struct free_blocks count_blocks(const struct zone *zone, unsigned order) {
    struct free_blocks sum = {0};
    for (unsigned o = 0; o < PHYS_ORDERS; ++o) {
        sum.blocks += zone->blocks[o];
        sum.frames += (uint64_t)zone->blocks[o] << o;
        if (o >= order) sum.suitable += (uint64_t)zone->blocks[o] << (o - order);
    }
    return sum;
}

int extfrag_index(const struct zone *zone, unsigned order) {
    const struct free_blocks sum = count_blocks(zone, order);
    if (sum.blocks == 0) return 0;
    if (sum.suitable > 0) return -1000;
    return extfrag_value(sum.frames, sum.blocks, order);
}

int unusable_index(const struct zone *zone, unsigned order) {
    const struct free_blocks sum = count_blocks(zone, order);
    if (sum.frames == 0) return 1000;
    return (int)((sum.frames - (sum.suitable << order)) * 1000 / sum.frames);
}
