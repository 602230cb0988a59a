#include "vm/gather.h"

#include <stdlib.h>

#include "base/host.h"
#include "vm/anon.h"

void gather_start(struct gather *gather, struct vm_system *system, uint32_t cpu) {
    *gather = (struct gather){.system = system, .cpu = cpu};
}

enum { AHEAD = 8 };                  // items whose lines are asked for before they are needed

static void flush(struct gather *gather) {
    const struct lru *lru = &gather->system->lru;
    vm_lru_drain(gather->system);
    for (size_t i = 0; i < gather->count; ++i) {
        const struct gathered *item = &gather->item[i];
        if (i + 2 * AHEAD < gather->count) lru_prefetch(lru, item[2 * AHEAD].frame);
        if (i + AHEAD < gather->count) lru_prefetch_neighbours(lru, item[AHEAD].frame);
        if (item->pages == 0 && item->order == 0) vm_free(gather->system, item->frame, 0, gather->cpu);
        if (item->pages == 0 && item->order > 0 && item->order != GATHER_KEPT) anon_free(gather->system, item->frame, gather->cpu);
        for (uint32_t page = 0; page < item->pages; ++page) vm_put_page(gather->system, item->frame + page, gather->cpu);
    }
    gather->count = 0;
    gather->active = gather->used = 0;
}

static bool next_batch(struct gather *gather) {
    if (gather->active == gather->batches) {
        if (gather->batches == GATHER_BATCHES) return false;
        struct phys_request request = phys_request_default(0, PHYS_UNMOVABLE);
        request.cpu = (uint8_t)gather->cpu;
        request.may_reclaim = false;
        const struct phys_result result = phys_alloc(gather->system->phys, &request);
        if (result.outcome != PHYS_GOT_FRAMES) return false;
        gather->batch[gather->batches++] = result.frame;
    }
    ++gather->active;
    gather->used = 0;
    return true;
}

/// `words` of a batch: 1, or 2 for more than one page of a block.
static void add(struct gather *gather, struct gathered item, uint32_t words) {
    gather->item = host_grow(gather->item, &gather->room, gather->count + 1, sizeof *gather->item);
    gather->item[gather->count++] = item;
    gather->used += words;
    const uint32_t most = gather->active == 0 ? GATHER_LOCAL : GATHER_BATCH;
    if (gather->used >= most - 1 && !next_batch(gather)) flush(gather);
}

void gather_block(struct gather *gather, uint32_t frame, unsigned order) { add(gather, (struct gathered){frame, (uint16_t)order, 0}, 1); }

void gather_pages(struct gather *gather, uint32_t frame, uint32_t pages) {
    add(gather, (struct gathered){frame, 0, (uint16_t)pages}, pages == 1 ? 1 : 2);
}

void gather_kept(struct gather *gather, uint32_t frame, uint32_t pages) {
    add(gather, (struct gathered){frame, GATHER_KEPT, 0}, pages == 1 ? 1 : 2);
}

void gather_finish(struct gather *gather) {
    flush(gather);
    for (uint32_t i = 0; i < gather->batches; ++i) vm_free(gather->system, gather->batch[i], 0, gather->cpu);
    free(gather->item);
    gather->item = NULL;
}
