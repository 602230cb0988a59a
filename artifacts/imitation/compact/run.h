// run.h - one run of compaction over a zone (struct compact_control); shared by the files of this folder.
#pragma once

#include "compact/compact.h"

enum { COMPACT_BATCH = 32, COMPACT_NO_ORDER = 255, COMPACT_LIST_MIGRATE = 4 };      // the spare list of the LRU for pages that move

enum compact_mode { COMPACT_MODE_ASYNC, COMPACT_MODE_LIGHT, COMPACT_MODE_SYNC };

struct run {
    struct compact *compact;
    struct zone *zone;
    struct compact_zone *state;
    uint32_t cpu;
    unsigned order;              // COMPACT_NO_ORDER: the whole zone
    int type;
    enum compact_mode mode;
    enum phys_zone highest;
    unsigned rights;
    bool direct, whole, ignore_skip, any_target, proactive;
    bool finish_block;           // rescan a pageblock to its end
    uint32_t migrate_at, free_at;
    uint32_t fast_start;         // lowest start that a fast search found; UINT32_MAX: used
    uint32_t fast_failures;
    int search_order;
    uint32_t migrating;          // pages on the list of those that move
    uint32_t free_frames;        // frames of free_block
    uint32_t *free_block[PHYS_ORDERS];       // blocks for them, by order: first in, first out
    size_t free_first[PHYS_ORDERS], free_count[PHYS_ORDERS], free_room[PHYS_ORDERS];
};

static inline uint32_t block_start(uint32_t frame, unsigned order) { return frame & ~((UINT32_C(1) << order) - 1); }

static inline uint32_t block_end(uint32_t frame, unsigned order) { return block_start(frame, order) + (UINT32_C(1) << order); }

static inline uint32_t zone_end(const struct zone *zone) { return zone->start_frame + zone->spanned_frames; }

static inline uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/// True if the pageblock's first and last frame are RAM of the zone (pageblock_pfn_to_page).
static inline bool block_in_zone(const struct run *run, uint32_t start, uint32_t end) {
    const struct frames *frames = &run->compact->lru->phys->frames;
    return start >= run->zone->start_frame && end <= zone_end(run->zone) && bitmap_get(frames->present, start) &&
           bitmap_get(frames->present, end - 1);
}

static inline bool skipped(const struct run *run, uint32_t frame) { return bitmap_get(run->compact->skip, frame >> PHYS_PAGEBLOCK_ORDER); }

static inline void set_skip(struct run *run, uint32_t frame) { bitmap_set(run->compact->skip, frame >> PHYS_PAGEBLOCK_ORDER, 1); }

/// The next pages to move, on their list: isolate_migratepages. False: there are none (any more) in this step.
bool run_isolate(struct run *run);

/// Frames for them: isolate_freepages. Fills free_block.
void run_find_free(struct run *run);

/// Free frames for one page; PHYS_NO_FRAME: none (compaction_alloc).
uint32_t run_take_free(struct run *run);
void run_keep_free(struct run *run, uint32_t frame, unsigned order, bool first);

/// Moves the pages of the list. False: frames ran out, or a page could not move; those that stay are put back.
bool run_migrate(struct run *run, bool *no_frames);
void run_put_back(struct run *run);

/// The pageblock was scanned to its end (update_cached_migrate).
void run_note_migrate(struct run *run, uint32_t frame);

enum compact_result run_zone(struct run *run, uint32_t *captured);
/// A run over each zone, without skip bits.
void run_whole_zones(struct compact *compact, enum compact_mode mode, bool proactive, uint32_t cpu);
